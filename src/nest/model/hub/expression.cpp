#include "nest/model/hub/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/model/hub/expression_values.hpp"

namespace nest::model {

struct Expression::Node {
  enum class Kind {
    constant,
    name,
    key,
    index,
    negate,
    invert,
    choose,
    otherwise,
    either,
    both,
    binary,
    list,
    call
  };
  Kind kind = Kind::constant;
  std::string text;  // a name, a key, or the sign of a binary operation
  Value value;
  std::vector<Node> parts;
};

namespace {

using Node = Expression::Node;
using Kind = Node::Kind;

[[noreturn]] void fail(const std::string& what) {
  throw InputError("", "", what);
}

// Signs of one strength, longest first.
constexpr std::array<std::string_view, 7> kComparisons{"==", "!=", "<=", ">=", "<", ">", "in"};
constexpr std::array<std::string_view, 2> kSums{"+", "-"};
constexpr std::array<std::string_view, 10> kFunctions{"len",    "min",     "max",  "count", "sum",
                                                      "refuse", "numbers", "root", "place", "power"};
constexpr std::array<std::string_view, 4> kProducts{"//", "/", "*", "%"};

// What evaluates an expression calls itself as deep as it is built: brackets and signs in each other, and chains of
// them, which a length bounds.
constexpr std::size_t kLongest = 2000;
constexpr int kDeepest = 100;

bool word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Node whole() {
    if (text_.size() > kLongest)
      fail("an expression of " + std::to_string(text_.size()) + " letters is longer than " +
           std::to_string(kLongest));
    Node made = choice();
    skip();
    if (at_ != text_.size()) wrong();
    return made;
  }

 private:
  [[noreturn]] void wrong() const {
    constexpr std::size_t kShown = 40;
    fail("'" + std::string(text_.substr(0, kShown)) + "' is no expression: something is wrong at '" +
         std::string(text_.substr(at_, kShown)) + "'");
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view sign) {
    skip();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const std::size_t end = at_ + sign.size();
    // A word must end where the sign does, and "?" is not the beginning of "??".
    if (word_character(sign.back()) && end < text_.size() && word_character(text_[end])) return false;
    if (sign == "?" && end < text_.size() && text_[end] == '?') return false;
    at_ = end;
    return true;
  }
  void need(std::string_view sign) {
    if (!take(sign)) wrong();
  }
  // One more of what contains itself.
  void deeper() {
    if (++depth_ > kDeepest)
      fail("an expression has more than " + std::to_string(kDeepest) + " brackets and signs in each other");
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the text's own brackets, which are counted
  Node choice() {
    deeper();
    Node made = choice_inside();
    --depth_;
    return made;
  }
  Node choice_inside() {
    Node condition = fallback();
    if (!take("?")) return condition;
    Node yes = choice();
    need(":");
    Node no = choice();
    return {Kind::choose, "", {}, {std::move(condition), std::move(yes), std::move(no)}};
  }
  Node fallback() {
    Node left = either();
    if (!take("??")) return left;
    Node right = fallback();
    return {Kind::otherwise, "", {}, {std::move(left), std::move(right)}};
  }
  Node either() {
    Node left = both();
    while (take("||")) left = {Kind::either, "", {}, {std::move(left), both()}};
    return left;
  }
  Node both() {
    Node left = comparison();
    while (take("&&")) left = {Kind::both, "", {}, {std::move(left), comparison()}};
    return left;
  }
  template <std::size_t N>
  std::optional<std::string> sign_of(const std::array<std::string_view, N>& signs) {
    for (const std::string_view sign : signs) {
      if (take(sign)) return std::string(sign);
    }
    return std::nullopt;
  }
  Node comparison() {
    Node left = sum();
    if (auto sign = sign_of(kComparisons)) return {Kind::binary, *sign, {}, {std::move(left), sum()}};
    return left;
  }
  Node sum() {
    Node left = product();
    while (auto sign = sign_of(kSums)) left = {Kind::binary, *sign, {}, {std::move(left), product()}};
    return left;
  }
  Node product() {
    Node left = unary();
    while (auto sign = sign_of(kProducts)) left = {Kind::binary, *sign, {}, {std::move(left), unary()}};
    return left;
  }
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the text's own signs, which are counted
  Node unary() {
    skip();
    const bool inverts = !text_.substr(at_).starts_with("!=") && take("!");
    if (!inverts && !take("-")) return postfix();
    deeper();
    Node made{inverts ? Kind::invert : Kind::negate, "", {}, {unary()}};
    --depth_;
    return made;
  }
  Node postfix() {
    Node made = primary();
    while (true) {
      if (take("[")) {
        Node index = choice();
        need("]");
        made = {Kind::index, "", {}, {std::move(made), std::move(index)}};
      } else if (take(".")) {
        made = {Kind::key, word(), {}, {std::move(made)}};
      } else {
        return made;
      }
    }
  }
  Node primary() {
    if (take("(")) {
      Node made = choice();
      need(")");
      return made;
    }
    if (take("[")) return {Kind::list, "", {}, several("]")};
    if (take("'")) {
      const std::size_t end = text_.find('\'', at_);
      if (end == std::string_view::npos) wrong();
      Node made{Kind::constant, "", Value(std::string(text_.substr(at_, end - at_))), {}};
      at_ = end + 1;
      return made;
    }
    skip();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
    std::string name = word();
    if (name == "null") return {};
    if (name == "true" || name == "false") return {Kind::constant, "", Value(name == "true"), {}};
    if (take("(")) {
      if (std::find(kFunctions.begin(), kFunctions.end(), name) == kFunctions.end()) wrong();
      return {Kind::call, std::move(name), {}, several(")")};
    }
    return {Kind::name, std::move(name), {}, {}};
  }
  std::vector<Node> several(std::string_view end) {
    std::vector<Node> made;
    if (take(end)) return made;
    do made.push_back(choice());
    while (take(","));
    need(end);
    return made;
  }
  Node number() {
    std::size_t end = at_;
    while (end < text_.size() && (word_character(text_[end]) || text_[end] == '.')) ++end;
    const std::string digits(text_.substr(at_, end - at_));
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const std::size_t point = digits.find('.');
    const bool real = point != std::string::npos;
    const auto others = std::count_if(digits.begin(), digits.end(), [&](char c) { return !digit(c); });
    if (digits.size() > 15 || others != (real ? 1 : 0) || (real && point + 1 == digits.size())) wrong();
    at_ = end;
    if (real) return {Kind::constant, "", Value(std::stod(digits)), {}};
    return {Kind::constant, "", Value(static_cast<std::int64_t>(std::stoll(digits))), {}};
  }
  std::string word() {
    skip();
    std::size_t end = at_;
    while (end < text_.size() && word_character(text_[end])) ++end;
    if (end == at_) wrong();
    std::string made(text_.substr(at_, end - at_));
    at_ = end;
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// NOLINTNEXTLINE(misc-no-recursion): as deep as the text's own brackets
Value value_of(const Node& n, const Expression::Names& names) {
  const auto part = [&](std::size_t i) { return value_of(n.parts[i], names); };
  switch (n.kind) {
    case Kind::constant:
      return n.value;
    case Kind::name:
      return names(n.text);
    case Kind::key: {
      const Value group = part(0);
      const Value* found = group.find(n.text);
      return found == nullptr ? Value() : *found;
    }
    case Kind::index:
      return element_of(part(0), part(1));
    case Kind::negate:
      return arithmetic("-", Value(0), part(0));
    case Kind::invert:
      return !is_true(part(0));
    case Kind::choose:
      return part(is_true(part(0)) ? 1 : 2);
    case Kind::otherwise: {
      Value left = part(0);
      return left.is_null() ? part(1) : left;
    }
    case Kind::either:
      return is_true(part(0)) || is_true(part(1));
    case Kind::both:
      return is_true(part(0)) && is_true(part(1));
    case Kind::list:
    case Kind::call: {
      Value given = Value::array();
      for (std::size_t i = 0; i < n.parts.size(); ++i) given.push(part(i));
      return n.kind == Kind::list ? given : call_function(n.text, *given.as_array());
    }
    case Kind::binary: {
      const bool compares = std::find(kComparisons.begin(), kComparisons.end(), n.text) != kComparisons.end();
      return compares ? compare(n.text, part(0), part(1)) : arithmetic(n.text, part(0), part(1));
    }
  }
  return {};
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the text's own brackets
void collect(const Node& n, std::vector<std::string>& out) {
  if (n.kind == Kind::name) out.push_back(n.text);
  for (const Node& part : n.parts) collect(part, out);
}

// "text_config.hidden_size" of a chain of keys after a name; empty where it is no such chain.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the text's own chain of keys
std::string path_of(const Node& n) {
  if (n.kind == Kind::name) return n.text;
  if (n.kind != Kind::key) return "";
  const std::string before = path_of(n.parts.front());
  return before.empty() ? "" : before + "." + n.text;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the text's own brackets
void collect_paths(const Node& n, std::vector<std::string>& out) {
  const std::string path = path_of(n);
  if (!path.empty()) return out.push_back(path);
  for (const Node& part : n.parts) collect_paths(part, out);
}

}  // namespace

Expression Expression::parse(std::string_view text) {
  return Expression(std::make_shared<const Node>(Parser(text).whole()));
}

Value Expression::evaluate(const Names& names) const {
  return value_of(*root_, names);
}

std::vector<std::string> Expression::paths() const {
  std::vector<std::string> out;
  collect_paths(*root_, out);
  return out;
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> out;
  collect(*root_, out);
  return out;
}

}  // namespace nest::model
