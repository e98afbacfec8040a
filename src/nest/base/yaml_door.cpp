// The only file that sees yaml-cpp: YAML text to Value, every value with its line. Aliases are followed,
// within a bound on the number of values, so that a small file cannot unfold into a huge tree.
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/document.hpp"
#include "nest/base/error.hpp"
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
      case YAML::NodeType::Map: {
        Value group = Value::object();
        SeenKeys seen;
        for (const auto& member : node) {
          if (!member.first.IsScalar()) fail(member.first, "a key must be a plain text");
          const std::string& key = member.first.Scalar();
          if (!seen.add(group, key)) fail(member.first, "the key '" + key + "' is given twice");
          Value inside = convert(member.second, depth + 1);
          inside.set_line(member.first.Mark().line + 1);
          group.set(key, std::move(inside));
        }
        return group;
      }
    }
    return {};
  }

  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    throw InputError(file_, "line " + std::to_string(node.Mark().line + 1), what);
  }

  const std::string& file_;
  std::size_t most_;
  std::size_t count_ = 0;
};

}  // namespace

Document parse_yaml(std::string file, std::string text) {
  Document document{std::move(file), std::move(text), Value(), false};
  try {
    // Load (one document) rather than LoadAll: a second one would be dropped silently, so look for it first.
    std::vector<YAML::Node> all = YAML::LoadAll(document.text);
    if (all.empty() || (all.size() == 1 && all[0].IsNull()))
      throw InputError(document.file, "", "the file is empty");
    if (all.size() > 1) throw InputError(document.file, "", "holds several YAML documents; one is expected");
    document.root = Converter(document.file, document.text).convert(all[0], 0);
  } catch (const YAML::DeepRecursion& e) {  // the parser's own bound, which is larger than ours
    throw InputError(document.file, "line " + std::to_string(e.mark.line + 1), "nested more than 128 deep");
  } catch (const YAML::Exception& e) {
    const std::string place = e.mark.is_null() ? "" : "line " + std::to_string(e.mark.line + 1);
    throw InputError(document.file, place, "not valid YAML: " + e.msg);
  }
  return document;
}

}  // namespace nest
