// The only file that sees nlohmann/json: JSON text to Value, iteratively, so that deep nesting cannot exhaust
// the stack.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/document/parse_causes.hpp"
#include "nest/base/document/seen_keys.hpp"
#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

constexpr std::size_t kDeepest = 128;
constexpr std::size_t kMostValues = 4'000'000;  // which take less than 1 GB

// The parser says what it met, not where: this walk over the text finds the line again, for an error only.
class Place {
 public:
  explicit Place(std::string_view text) : text_(text) {}

  // The line of the n-th key of the text, from 1.
  std::string line_of_key(std::size_t n) {
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const std::size_t begin = at;
      step(at);
      if (text_[begin] != '"') continue;
      const std::size_t next = text_.find_first_not_of(" \t\r\n", at + 1);
      const bool key = next != std::string_view::npos && text_[next] == ':';
      if (key && --n == 0) break;
    }
    return name();
  }

  // The line where the nesting first goes deeper than `depth`.
  std::string line_of_depth(std::size_t depth) {
    std::size_t open = 0;
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '{' || c == '[') ++open;
      if (c == '}' || c == ']') --open;
      if (open > depth) break;
      step(at);
    }
    return name();
  }

 private:
  // Counts lines and jumps to the end of a string.
  void step(std::size_t& at) {
    if (text_[at] == '\n') ++line_;
    if (text_[at] != '"') return;
    for (++at; at < text_.size() && text_[at] != '"'; ++at) {
      if (text_[at] == '\\') ++at;
    }
  }

  [[nodiscard]] std::string name() const { return "line " + std::to_string(line_); }

  std::string_view text_;
  int line_ = 1;
};

class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  Value take() { return std::move(root_); }

  bool null() override { return add(Value()); }
  bool boolean(bool v) override { return add(Value(v)); }
  bool number_integer(number_integer_t v) override { return add(Value(static_cast<std::int64_t>(v))); }
  bool number_unsigned(number_unsigned_t v) override {
    const bool fits = v <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    return add(fits ? Value(static_cast<std::int64_t>(v)) : Value(static_cast<double>(v)));
  }
  bool number_float(number_float_t v, const string_t& /*text*/) override { return add(Value(v)); }
  bool string(string_t& v) override { return add(Value(std::move(v))); }
  bool binary(binary_t& /*v*/) override { return false; }
  bool start_object(std::size_t /*n*/) override { return open(Value::object()); }
  bool start_array(std::size_t /*n*/) override { return open(Value::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& v) override {
    ++keys_read_;
    Open& object = open_.back();
    if (!object.seen.add(object.value, v)) {
      throw InputError(file_, Place(text_).line_of_key(keys_read_), "the key '" + v + "' is given twice");
    }
    object.key = std::move(v);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    // The last character read is the one that is wrong, or the last of what is wrong.
    const std::size_t end = std::max<std::size_t>(1, std::min(position, text_.size())) - 1;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    throw InputError(file_, "line " + std::to_string(line),
                     "not valid JSON: " + json_cause(error.what(), text_, end));
  }

 private:
  struct Open {
    Value value;
    std::string key;  // of the member that is being read
    SeenKeys seen;
  };

  bool open(Value container) {
    if (open_.size() >= kDeepest)
      throw InputError(file_, Place(text_).line_of_depth(kDeepest), "nested more than 128 deep");
    open_.push_back({std::move(container), {}, {}});
    return true;
  }

  bool close() {
    Value done = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(done));
  }

  bool add(Value v) {
    if (++values_ > kMostValues) {
      throw InputError(file_, "",
                       "holds more than 4 million values, and no input of this program needs more");
    }
    if (open_.empty()) {
      root_ = std::move(v);
    } else if (open_.back().value.as_array() != nullptr) {
      open_.back().value.push(std::move(v));
    } else {
      open_.back().value.set(std::move(open_.back().key), std::move(v));
    }
    return true;
  }

  const std::string& file_;
  const std::string& text_;
  Value root_;
  std::vector<Open> open_;
  std::size_t keys_read_ = 0;
  std::size_t values_ = 0;
};

// Python writes a limit that is none as a bare Infinity, and config.json files have it: here it becomes the text of
// that name, which no number is read from. Lines stay what they are.
std::string quote_infinity(const std::string& text) {
  constexpr std::string_view kWord = "Infinity";
  if (text.find(kWord) == std::string::npos) return text;
  std::string out;
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = std::string_view(text).substr(at);
    const bool negative = rest.starts_with('-');
    if (!inside && rest.substr(negative ? 1 : 0).starts_with(kWord)) {
      const std::size_t length = kWord.size() + (negative ? 1 : 0);
      out.append("\"").append(rest.substr(0, length)).append("\"");
      at += length - 1;
      continue;
    }
    if (text[at] == '"') inside = !inside;
    out += text[at];
    if (inside && text[at] == '\\' && at + 1 < text.size()) out += text[++at];
  }
  return out;
}

}  // namespace

Document parse_json(std::string file, std::string text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // a byte order mark says nothing in UTF-8
  Document document{std::move(file), std::move(text), Value(), true};
  if (document.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError(document.file, "", "the file is empty");
  }
  refuse_unreadable(document.file, document.text, "JSON or YAML");
  // The parser takes a NUL for the end and would pass over all that follows.
  if (const std::size_t nul = document.text.find('\0'); nul != std::string::npos) {
    const auto line =
        1 + std::count(document.text.begin(), document.text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    throw InputError(document.file, "line " + std::to_string(line), "not valid JSON: a NUL byte");
  }
  const std::string quoted = quote_infinity(document.text);
  Builder builder(document.file, quoted);
  nlohmann::json::sax_parse(quoted, &builder);
  document.root = builder.take();
  return document;
}

}  // namespace nest::base
