#include "nest/base/document/toml.hpp"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/base/document/toml_cursor.hpp"
#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

constexpr std::size_t kDeepest = 128;
constexpr std::size_t kMostBytes = 4U << 20U;
constexpr std::size_t kMostKeys = 10'000;  // a table's keys are looked through one by one

using Keys = std::vector<std::string>;

// How a table came to be, which decides who may add to it.
enum class Made {
  implied,  // by the header of a table below it
  header,   // by its own header
  dotted,   // by a dotted key
  list,     // a list of tables: [[x]]
};

class Toml {
 public:
  explicit Toml(Document& document) : document_(document), at_(document.file, document.text) {}

  void read() {
    document_.root = Value::object();
    for (at_.skip_lines(); !at_.at_end(); at_.skip_lines()) {
      if (at_.peek() == '[') {
        header();
      } else {
        Keys keys = dotted_key();
        at_.expect('=', "'=' after the key");
        put(*table_, table_path_, std::move(keys), value(0));
      }
      at_.end_of_line();
    }
  }

 private:
  Keys dotted_key() {
    Keys keys;
    do {
      if (!keys.empty()) at_.advance();
      at_.skip_blanks();
      keys.push_back(at_.key());
      at_.skip_blanks();
      if (keys.size() > kDeepest) at_.fail("nested more than 128 deep");
    } while (at_.peek() == '.');
    return keys;
  }

  // [a.b] or [[a.b]]
  void header() {
    const bool list = at_.next_is("[[");
    at_.advance(list ? 2 : 1);
    const Keys keys = dotted_key();
    if (!at_.next_is(list ? "]]" : "]")) at_.fail(list ? "']]' is expected" : "']' is expected");
    at_.advance(list ? 2 : 1);
    table_ = &document_.root;
    table_path_.clear();
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) enter(keys[i]);
    open(keys.back(), list);
  }

  // The length before a key tells keys with odd characters apart.
  static std::string step(const std::string& key) { return std::to_string(key.size()) + ':' + key; }

  void step_into(const std::string& key) { table_path_ += step(key); }

  // The last table of a list stands for the list.
  void last_of(Value& list) {
    Value::Array& items = *list.as_array();
    step_into(std::to_string(items.size() - 1));
    table_ = &items.back();
  }

  void enter(const std::string& key) {
    step_into(key);
    Value* found = member(*table_, key);
    if (found == nullptr) {
      table_ = add(*table_, key, Value::object());
      made_[table_path_] = Made::implied;
      return;
    }
    const auto how = made_.find(table_path_);
    if (how == made_.end()) at_.fail("'" + printable(key) + "' is no table that can be added to");
    if (how->second == Made::list)
      last_of(*found);
    else
      table_ = found;
  }

  void open(const std::string& key, bool list) {
    step_into(key);
    Value* found = member(*table_, key);
    const auto how = made_.find(table_path_);
    if (list) {
      if (found == nullptr) {
        found = add(*table_, key, Value::array());
        made_[table_path_] = Made::list;
      } else if (how == made_.end() || how->second != Made::list) {
        at_.fail("'" + printable(key) + "' is defined already, and not as a list of tables");
      }
      Value table = Value::object();
      table.set_line(at_.line());
      found->push(std::move(table));
      if (++keys_ > kMostKeys) at_.fail("more than 10,000 keys");
      last_of(*found);
      return;
    }
    if (found == nullptr) {
      table_ = add(*table_, key, Value::object());
    } else {
      if (how == made_.end() || how->second != Made::implied)
        at_.fail("the table '" + printable(key) + "' is defined twice");
      table_ = found;
    }
    made_[table_path_] = Made::header;
  }

  static Value* member(Value& table, const std::string& key) {
    for (Value::Member& each : *table.as_object())
      if (each.first == key) return &each.second;
    return nullptr;
  }

  Value* add(Value& table, const std::string& key, Value value) {
    if (++keys_ > kMostKeys) at_.fail("more than 10,000 keys");
    if (value.line() == 0) value.set_line(at_.line());
    table.set(key, std::move(value));
    return &table.as_object()->back().second;
  }

  // Only tables that dotted keys made may be added to by dotted keys.
  void put(Value& into, std::string path, Keys keys, Value value) {
    Value* table = &into;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
      path += step(keys[i]);
      Value* found = member(*table, keys[i]);
      if (found == nullptr) {
        found = add(*table, keys[i], Value::object());
        made_[path] = Made::dotted;
      } else if (const auto how = made_.find(path); how == made_.end() || how->second != Made::dotted) {
        at_.fail("'" + printable(keys[i]) + "' is no table that can be added to");
      }
      table = found;
    }
    if (member(*table, keys.back()) != nullptr)
      at_.fail("the key '" + printable(keys.back()) + "' is given twice");
    add(*table, keys.back(), std::move(value));
  }

  Value value(std::size_t depth) {
    if (depth > kDeepest) at_.fail("nested more than 128 deep");
    const int line = at_.line();
    Value out;
    switch (at_.peek()) {
      case '"':
      case '\'':
        out = at_.quoted();
        break;
      case '[':
        out = list(depth);
        break;
      case '{':
        out = inline_table(depth);
        break;
      default:
        out = at_.word();
        break;
    }
    out.set_line(line);
    return out;
  }

  Value list(std::size_t depth) {
    Value out = Value::array();
    at_.advance();
    for (at_.skip_lines(); at_.peek() != ']'; at_.skip_lines()) {
      if (at_.at_end()) at_.fail("']' is expected before the end");
      out.push(value(depth + 1));
      at_.skip_lines();
      if (at_.peek() == ',')
        at_.advance();
      else if (at_.peek() != ']')
        at_.fail("a comma or ']' is expected");
    }
    at_.advance();
    return out;
  }

  Value inline_table(std::size_t depth) {
    Value out = Value::object();
    const std::string path = "\t" + std::to_string(inline_tables_++);  // no other table is called so
    at_.advance();
    at_.skip_blanks();
    while (at_.peek() != '}') {
      Keys keys = dotted_key();
      at_.expect('=', "'=' after the key");
      if (depth + keys.size() > kDeepest) at_.fail("nested more than 128 deep");
      Value found = value(depth + keys.size() + 1);
      put(out, path, std::move(keys), std::move(found));
      at_.skip_blanks();
      if (at_.peek() == '}') break;
      if (at_.peek() != ',') at_.fail("a comma or '}' is expected");
      at_.advance();
      at_.skip_blanks();
      if (at_.peek() == '}') at_.fail("a comma with nothing after it");
    }
    at_.advance();
    return out;
  }

  Document& document_;
  TomlCursor at_;
  Value* table_ = &document_.root;  // of the last header
  std::string table_path_;          // its keys and places in lists
  std::map<std::string, Made> made_;
  std::size_t keys_ = 0;
  std::size_t inline_tables_ = 0;
};

}  // namespace

Document parse_toml(std::string file, std::string text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // a byte order mark says nothing in UTF-8
  Document document{std::move(file), std::move(text), Value(), false};
  refuse_unreadable(document.file, document.text, "TOML");
  if (document.text.size() > kMostBytes)
    throw InputError(document.file, "", "is larger than 4 MiB, the most that TOML may have");
  Toml(document).read();
  return document;
}

}  // namespace nest::base
