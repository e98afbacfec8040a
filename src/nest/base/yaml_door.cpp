// The only file that sees yaml-cpp: YAML text to Value, every value with its line. Aliases are followed,
// within a bound on the number of values, so that a small file cannot unfold into a huge tree.
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/base/document.hpp"
#include "nest/base/error.hpp"
#include "nest/base/parse_causes.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/base/seen_keys.hpp"

namespace nest {
namespace {

constexpr int kDeepest = 128;
// A text cannot hold more values than characters; what is beyond that comes from aliases.
constexpr std::size_t kMostFromAliases = 1'000'000;

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

class Converter {
 public:
  Converter(const std::string& file, const std::string& text)
      : file_(file), most_(text.size() + kMostFromAliases) {}

  Value convert(const YAML::Node& node, int depth) {
    if (depth > kDeepest) fail(node, "nested more than 128 deep");
    if (++count_ > most_) fail(node, "its aliases unfold to more than a million values");
    Value value = convert_inside(node, depth);
    value.set_line(node.Mark().line + 1);
    return value;
  }

 private:
  Value convert_inside(const YAML::Node& node, int depth) {
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return {};
      case YAML::NodeType::Scalar:
        // "!" is the mark of a quoted scalar.
        return node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str" ? Value(node.Scalar())
                                                                          : plain_scalar(node.Scalar());
      case YAML::NodeType::Sequence: {
        Value list = Value::array();
        for (const YAML::Node& item : node) list.push(convert(item, depth + 1));
        return list;
      }
      case YAML::NodeType::Map:
        return convert_map(node, depth);
    }
    return {};
  }

  Value convert_map(const YAML::Node& node, int depth) {
    Value group = Value::object();
    SeenKeys seen;
    std::vector<YAML::Node> merged;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) fail(member.first, "a key must be a plain text");
      const std::string& key = member.first.Scalar();
      if (key == "<<" && member.first.Tag() != "!") {
        merged.push_back(member.second);
        continue;
      }
      if (!seen.add(group, key)) {
        const bool digits = key.find_first_not_of("0123456789") == std::string::npos;
        fail(member.first, "the key '" + key + "' is given twice", digits ? "a comma inside a number?" : "");
      }
      Value inside = convert(member.second, depth + 1);
      inside.set_line(member.first.Mark().line + 1);
      group.set(key, std::move(inside));
    }
    for (const YAML::Node& source : merged) merge(source, depth, group, seen);
    return group;
  }

  // "<<: *base" and "<<: [*one, *two]": keys of the group itself win, then those of the first in the list.
  void merge(const YAML::Node& source, int depth, Value& group, SeenKeys& seen) {
    if (source.IsSequence()) {
      if (depth > kDeepest) fail(source, "nested more than 128 deep");
      for (const YAML::Node& item : source) merge(item, depth + 1, group, seen);
      return;
    }
    if (!source.IsMap()) fail(source, "'<<' takes the keys of a group over, and this is none");
    Value base = convert(source, depth + 1);
    for (auto& [key, value] : *base.as_object()) {
      if (seen.add(group, key)) group.set(key, std::move(value));
    }
  }

  [[noreturn]] void fail(const YAML::Node& node, const std::string& what,
                         const std::string& hint = {}) const {
    throw InputError(file_, "line " + std::to_string(node.Mark().line + 1), what, hint);
  }

  const std::string& file_;
  std::size_t most_;
  std::size_t count_ = 0;
};

// Whether a text says nothing at all, not even null: white space, comments, marks of a document.
bool says_nothing(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, std::min(end, rest.find('#')));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with("---") || line.starts_with("...")) line.remove_prefix(3);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && !line.starts_with('%')) return false;
  }
  return true;
}

std::string_view line_of(std::string_view text, int number) {
  for (int line = 0; line < number && !text.empty(); ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

}  // namespace

Document parse_yaml(std::string file, std::string text) {
  Document document{std::move(file), std::move(text), Value(), false};
  refuse_unreadable(document.file, document.text, "JSON or YAML");
  try {
    // Load (one document) rather than LoadAll: a second one would be dropped silently, so look for it first.
    std::vector<YAML::Node> all = YAML::LoadAll(document.text);
    if (all.empty() || (all.size() == 1 && all[0].IsNull() && says_nothing(document.text)))
      throw InputError(document.file, "", "the file is empty");
    if (all.size() > 1) throw InputError(document.file, "", "holds several YAML documents; one is expected");
    document.root = Converter(document.file, document.text).convert(all[0], 0);
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

}  // namespace nest
