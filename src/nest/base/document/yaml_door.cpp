// The only file that sees yaml-cpp: YAML text to Value, every value with its line. Values are built from the
// parser's events, so that depth, number of values and what aliases unfold to are bounded while the text is
// read, and exactly one document is read. (YAML::LoadAll never ends on a stray token such as the comma of
// "{i},": the parser reports an empty document for it, again and again, and does not consume it.)
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
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
// The parser takes some 1.5 microseconds for a value: what is larger belongs in JSON.
constexpr std::size_t kMostYamlBytes = 16U << 20U;
constexpr std::size_t kMostYamlValues = 1'000'000;
constexpr std::size_t kMostFromAliases = 1'000'000;
constexpr std::size_t kMostBytesFromAliases = 64U << 20U;

// YAML 1.2 core schema: what an unquoted scalar means.
Value plain_scalar(const std::string& s) {
  if (s.empty() || s == "~" || s == "null" || s == "Null" || s == "NULL") return {};
  if (s == "true" || s == "True" || s == "TRUE") return true;
  if (s == "false" || s == "False" || s == "FALSE") return false;
  const bool plus = s.size() > 1 && s[0] == '+' && s[1] != '-';
  const char* begin = s.data() + (plus ? 1 : 0);
  const char* end = s.data() + s.size();
  std::int64_t whole = 0;
  if (const auto r = std::from_chars(begin, end, whole); r.ec == std::errc{} && r.ptr == end) return whole;
  double real = 0;
  if (const auto r = std::from_chars(begin, end, real);
      r.ec == std::errc{} && r.ptr == end && std::isfinite(real)) {
    return real;
  }
  return s;
}

std::string_view line_of(std::string_view text, int number) {
  for (int line = 0; line < number && !text.empty(); ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

// What a value takes when it is copied.
struct Extent {
  std::size_t values = 1;
  std::size_t bytes = 0;   // of its texts and keys
  std::size_t levels = 0;  // that are nested in it

  void hold(const Extent& inside) {
    values += inside.values;
    bytes += inside.bytes;
    levels = std::max(levels, inside.levels + 1);
  }
};

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& file) : file_(file) {}

  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, anchor, {Value(), std::nullopt, {}});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool quoted = tag == "!";  // the mark of a quoted scalar
    const bool verbatim = quoted || tag == "tag:yaml.org,2002:str";
    Node node{verbatim ? Value(text) : plain_scalar(text), text, {.bytes = text.size()}};
    node.quoted = quoted;
    add(mark, anchor, std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end()) fail(line_of(mark), "an alias stands inside the value that it names");
    spend(mark, named->second.extent);
    add_node(mark, Node(named->second));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Value::array());
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Value::object());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override {
    for (Value& source : open_.back().merged) merge(source, open_.back());
    close();
  }

 private:
  struct Node {
    Value value;
    std::optional<std::string> text;  // of a scalar, as it is written: what it means as a key
    Extent extent;
    bool quoted = false;
  };
  struct Open {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    SeenKeys seen;
    std::optional<std::string> key;  // of the member whose value comes next
    int key_line = 0;
    bool merges = false;
    std::vector<Value> merged;
  };

  static int line_of(const YAML::Mark& mark) { return mark.line + 1; }

  [[noreturn]] void fail(int line, const std::string& what, const std::string& hint = {}) const {
    throw InputError(file_, "line " + std::to_string(line), what, hint);
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.value.as_object() != nullptr && !open_.back().key;
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Value container) {
    if (open_.size() > kDeepest) fail(line_of(mark), "nested more than 128 deep");
    container.set_line(line_of(mark));
    open_.push_back({{std::move(container), std::nullopt, {}}, mark, anchor, {}, {}, 0, false, {}});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(done.mark, done.anchor, std::move(done.node));
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    node.value.set_line(line_of(mark));
    if (anchor != YAML::NullAnchor) {
      spend(mark, node.extent);
      anchors_.insert_or_assign(anchor, node);
    }
    add_node(mark, std::move(node));
  }

  void add_node(const YAML::Mark& mark, Node node) {
    if (open_.size() + node.extent.levels > kDeepest) fail(line_of(mark), "nested more than 128 deep");
    if (expects_key()) return begin_member(mark, std::move(node));
    if (++values_ > kMostYamlValues)
      fail(line_of(mark), "holds more than a million values", "JSON may hold 4 million");
    if (open_.empty()) {
      root_ = std::move(node.value);
      return;
    }
    Open& parent = open_.back();
    parent.node.extent.hold(node.extent);
    if (!parent.key) {
      parent.node.value.push(std::move(node.value));
    } else if (parent.merges) {
      parent.merged.push_back(std::move(node.value));
    } else {
      node.value.set_line(parent.key_line);
      parent.node.extent.bytes += parent.key->size();
      parent.node.value.set(std::move(*parent.key), std::move(node.value));
    }
    parent.key.reset();
  }

  void begin_member(const YAML::Mark& mark, Node node) {
    if (!node.text) fail(line_of(mark), "a key must be a plain text");
    Open& parent = open_.back();
    parent.merges = *node.text == "<<" && !node.quoted;
    if (!parent.merges && !parent.seen.add(parent.node.value, *node.text)) {
      const bool digits = node.text->find_first_not_of("0123456789") == std::string::npos;
      fail(line_of(mark), "the key '" + *node.text + "' is given twice",
           digits ? "a comma inside a number?" : "");
    }
    parent.key = std::move(node.text);
    parent.key_line = line_of(mark);
  }

  // "<<: *base" and "<<: [*one, *two]": keys of the group itself win, then those of the first in the list.
  void merge(Value& source, Open& group) {
    if (Value::Array* list = source.as_array()) {
      for (Value& item : *list) merge(item, group);
      return;
    }
    if (source.as_object() == nullptr)
      fail(source.line(), "'<<' takes the keys of a group over, and this is none");
    for (auto& [key, value] : *source.as_object()) {
      if (group.seen.add(group.node.value, key)) group.node.value.set(key, std::move(value));
    }
  }

  // Copies, which are what makes a small text large: one is kept of every value that has an anchor, and one
  // is made for every alias.
  void spend(const YAML::Mark& mark, const Extent& extent) {
    copied_.values += extent.values;
    copied_.bytes += extent.bytes;
    if (copied_.values > kMostFromAliases)
      fail(line_of(mark), "its aliases unfold to more than a million values");
    if (copied_.bytes > kMostBytesFromAliases)
      fail(line_of(mark), "its aliases unfold to more than 64 MiB of text");
  }

  const std::string& file_;
  Value root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t values_ = 0;
  Extent copied_;
};

// Refuses whatever follows the first document, before the parser goes into it.
class NothingMore final : public YAML::EventHandler {
 public:
  explicit NothingMore(const Document& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    const std::string_view line = line_of(document_.text, mark.line);
    const std::size_t column = std::min(static_cast<std::size_t>(std::max(mark.column, 0)), line.size());
    const bool begins = line.substr(column).starts_with("---");
    throw InputError(document_.file, "line " + std::to_string(mark.line + 1),
                     begins ? "a second YAML document begins here; one is expected"
                            : "not valid YAML: more text after the end of the first value");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*text*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}

 private:
  const Document& document_;
};

// Whether a text says nothing at all, not even null: white space, comments, marks of a document.
bool says_nothing(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::size_t at = 0; at < text.size(); ++at) {  // a line in each round
    const std::string_view mark = text.substr(at, 3);
    if (mark == "---" || mark == "...") at += 3;
    bool passed_over = at < text.size() && text[at] == '%';
    for (; at < text.size() && text[at] != '\n'; ++at) {
      passed_over = passed_over || text[at] == '#';
      if (!passed_over && text[at] != ' ' && text[at] != '\t' && text[at] != '\r') return false;
    }
  }
  return true;
}

}  // namespace

Document parse_yaml(std::string file, std::string text) {
  Document document{std::move(file), std::move(text), Value(), false};
  refuse_unreadable(document.file, document.text, "JSON or YAML");
  if (document.text.size() > kMostYamlBytes)
    throw InputError(document.file, "", "is larger than 16 MiB, the most that YAML may have",
                     "JSON may have 64 MiB");
  if (says_nothing(document.text)) throw InputError(document.file, "", "the file is empty");
  try {
    std::istringstream stream(document.text);
    YAML::Parser parser(stream);
    Builder builder(document.file);
    parser.HandleNextDocument(builder);
    document.root = builder.take();
    NothingMore nothing_more(document);
    parser.HandleNextDocument(nothing_more);
  } catch (const YAML::DeepRecursion& e) {  // the parser's own bound, which is larger than ours
    throw InputError(document.file, "line " + std::to_string(e.mark.line + 1), "nested more than 128 deep");
  } catch (const YAML::Exception& e) {
    const std::string place = e.mark.is_null() ? "" : "line " + std::to_string(e.mark.line + 1);
    throw InputError(
        document.file, place,
        "not valid YAML: " +
            yaml_cause(e.msg, e.mark.is_null() ? std::string_view() : line_of(document.text, e.mark.line)));
  }
  return document;
}

}  // namespace nest::base
