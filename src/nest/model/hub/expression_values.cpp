#include "nest/model/hub/expression_values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "nest/base/error.hpp"
#include "nest/model/hub/expression.hpp"

namespace nest::model {
namespace {

[[noreturn]] void wrong_value(const std::string& what) {
  throw InputError("", "", what);
}

bool contains(const Value& list, const Value& wanted) {
  const std::string* text = list.as_string();
  if (text != nullptr && wanted.as_string() != nullptr)
    return text->find(*wanted.as_string()) != std::string::npos;
  const auto* values = list.as_array();
  return values != nullptr && std::find(values->begin(), values->end(), wanted) != values->end();
}

std::optional<double> real_of(const Value& v) {
  if (const double* d = v.as_real()) return *d;
  if (const std::int64_t* i = v.as_int()) return static_cast<double>(*i);
  return std::nullopt;
}

// Far beyond any size in a model: what is larger is a mistake, and products of two of these do not overflow.
constexpr std::int64_t kLargest = 1'000'000'000;

Value whole_result(const std::string& sign, std::int64_t a, std::int64_t b) {
  const auto beyond = [](std::int64_t n) { return n > kLargest || n < -kLargest; };
  if (beyond(a) || beyond(b)) wrong_value("a number is beyond the sizes of any model");
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (b == 0) wrong_value("a size that something is divided by is 0");
  if (sign == "//") return a / b;
  if (sign == "%") return a % b;
  if (a % b != 0) wrong_value(std::to_string(a) + " is not a multiple of " + std::to_string(b));
  return a / b;
}

// The values of a list or of a group of keys.
std::vector<Value> parts_of(const Value& given) {
  if (const auto* list = given.as_array()) return {list->begin(), list->end()};
  const auto* members = given.as_object();
  if (members == nullptr) return {given};
  std::vector<Value> out;
  for (const auto& [key, value] : *members) out.push_back(value);
  return out;
}

// "3,4,5" as a list, which is also what a list stays.
Value numbers_of(const Value& given) {
  const std::string* text = given.as_string();
  if (text == nullptr) return given;
  Value list = Value::array();
  std::int64_t number = -1;
  for (const char c : *text + ",") {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && c != ',' && c != ' ') wrong_value("'" + *text + "' is no list of numbers");
    if (digit) number = std::min(std::max<std::int64_t>(number, 0) * 10 + (c - '0'), kLargest);
    if (c != ',' || number < 0) continue;
    list.push(number);
    number = -1;
  }
  return list;
}

}  // namespace

Value arithmetic(const std::string& sign, const Value& a, const Value& b) {
  const std::int64_t* x = a.as_int();
  const std::int64_t* y = b.as_int();
  if (x != nullptr && y != nullptr) return whole_result(sign, *x, *y);
  const auto left = real_of(a);
  const auto right = real_of(b);
  if (!left || !right) wrong_value(std::string(left ? b.kind_name() : a.kind_name()) + " is no number");
  double made = 0;
  if (sign == "+") made = *left + *right;
  if (sign == "-") made = *left - *right;
  if (sign == "*") made = *left * *right;
  if (sign == "/" || sign == "//") made = *right == 0 ? 0 : *left / *right;
  if (sign == "//") made = std::floor(made);
  // A share of a size is a size where it comes out even: 0.5 * 128.
  if (made == std::floor(made) && std::abs(made) < static_cast<double>(kLargest))
    return static_cast<std::int64_t>(made);
  return made;
}

Value compare(const std::string& sign, const Value& a, const Value& b) {
  if (sign == "in") return contains(b, a);
  const auto left = real_of(a);
  const auto right = real_of(b);
  if (sign == "==") return left && right ? *left == *right : a == b;
  if (sign == "!=") return left && right ? *left != *right : !(a == b);
  if (!left || !right) wrong_value(std::string(left ? b.kind_name() : a.kind_name()) + " is no number");
  if (sign == "<") return *left < *right;
  if (sign == "<=") return *left <= *right;
  if (sign == ">") return *left > *right;
  return *left >= *right;
}

static std::size_t whole_at(const std::vector<Value>& given, std::size_t i) {
  const std::int64_t* whole = i < given.size() ? given[i].as_int() : nullptr;
  if (whole == nullptr || *whole < 0) wrong_value("a place in a list is no whole number from 0");
  return static_cast<std::size_t>(*whole);
}

// Where the value is found for the n-th time, from 0; null where it is not.
static Value place_of(const Value& list, const std::vector<Value>& given) {
  const auto* values = list.as_array();
  if (values == nullptr || given.size() < 2) return {};
  std::size_t left = given.size() > 2 ? whole_at(given, 2) : 0;
  for (std::size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] == given[1] && left-- == 0) return static_cast<std::int64_t>(i);
  }
  return {};
}

// len(list), sum(list), count(list, value, before), place(list, value, n), min(a, b, ...), max(a, b, ...),
// refuse('why'), numbers('3,4'), root(n), power(base, exponent).
Value call_function(const std::string& name, const std::vector<Value>& given) {
  const Value first = given.empty() ? Value() : given.front();
  if (name == "refuse")
    wrong_value(first.as_string() != nullptr ? *first.as_string() : "it is not described");
  if (name == "min" || name == "max") {
    const std::vector<Value> values = given.size() == 1 ? parts_of(first) : given;
    Value best = values.empty() ? Value() : values.front();
    for (const Value& v : values) {
      if (is_true(compare(name == "min" ? "<" : ">", v, best))) best = v;
    }
    return best;
  }
  if (const std::string* text = first.as_string(); text != nullptr && name == "len")
    return static_cast<std::int64_t>(text->size());
  if (name == "numbers") return numbers_of(first);
  if (name == "root") {
    constexpr double kMost = 1e15;
    const double square = real_of(first).value_or(0);
    return square > 0 ? static_cast<std::int64_t>(std::sqrt(std::min(square, kMost))) : 0;
  }
  if (name == "power" && given.size() == 2)
    return std::pow(real_of(first).value_or(0), real_of(given[1]).value_or(1));
  const auto* list = first.as_array();
  if (name == "place") return place_of(first, given);
  if (list == nullptr) return 0;
  if (name == "len") return static_cast<std::int64_t>(list->size());
  if (name == "count") {
    const std::size_t before = given.size() > 2 ? whole_at(given, 2) : list->size();
    const auto end = list->begin() + static_cast<std::ptrdiff_t>(std::min(before, list->size()));
    return static_cast<std::int64_t>(std::count(list->begin(), end, given.size() > 1 ? given[1] : Value()));
  }
  Value sum = 0;
  for (const Value& v : *list) sum = arithmetic("+", sum, v);
  return sum;
}

Value element_of(const Value& list, const Value& index) {
  const std::int64_t* at = index.as_int();
  if (at == nullptr || *at < 0) return {};
  const auto place = static_cast<std::size_t>(*at);
  // A letter of a text: "M-M*" says what every layer is.
  if (const std::string* text = list.as_string())
    return place < text->size() ? Value(std::string(1, (*text)[place])) : Value();
  if (const auto* members = list.as_object()) {
    // {"05": ...} is of the layer 5.
    const std::string wanted = std::to_string(*at);
    for (const auto& [name, value] : *members) {
      if (name.substr(std::min(name.find_first_not_of('0'), name.size() - 1)) == wanted) return value;
    }
    return {};
  }
  const auto* values = list.as_array();
  return values == nullptr || place >= values->size() ? Value() : (*values)[place];
}

bool is_true(const Value& value) {
  if (const bool* b = value.as_bool()) return *b;
  if (const auto real = real_of(value)) return *real != 0;
  if (const std::string* s = value.as_string()) return !s->empty();
  if (const auto* list = value.as_array()) return !list->empty();
  return value.as_object() != nullptr;
}

}  // namespace nest::model
