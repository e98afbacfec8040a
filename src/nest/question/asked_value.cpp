#include "nest/question/asked_value.hpp"

#include <fmt/format.h>

#include <cmath>

namespace nest::question {
namespace {

std::optional<std::string> single_text(const Value& value) {
  if (value.as_string() != nullptr) return *value.as_string();
  if (value.as_int() != nullptr) return std::to_string(*value.as_int());
  if (value.as_bool() != nullptr) return *value.as_bool() ? "on" : "off";
  const double* real = value.as_real();
  if (real == nullptr) return std::nullopt;
  const bool whole = *real == std::floor(*real) && std::abs(*real) < 1e15;
  return whole ? fmt::format("{:.0f}", *real) : fmt::format("{}", *real);
}

}  // namespace

std::optional<std::string> asked_text(const Value& value) {
  const Value::Array* list = value.as_array();
  if (list == nullptr) return single_text(value);
  if (list->empty()) return std::nullopt;
  std::string text;
  for (const Value& item : *list) {
    const auto one = single_text(item);
    if (!one) return std::nullopt;
    text += (text.empty() ? "" : ",") + *one;
  }
  return text;
}

void set_asked_value(Asked& asked, std::string_view name, const Value& value) {
  const auto text = asked_text(value);
  if (!text && find_asked_field(name) != nullptr) throw AskedError(name, {std::string(kNoAskedValue)});
  set_asked(asked, name, text.value_or(""));
}

}  // namespace nest::question
