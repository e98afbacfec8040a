// What is asked, as values of JSON or of a programming language: 4, [1, 2], true, 0.02 and "2..16" in the words
// that the fields of asked_fields() read.
//
//   asked_text(Value(0.02))   -> "0.02"
//   asked_text([1, 2])        -> "1,2"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/question/asked.hpp"

namespace nest::question {

// None where it is no number, word or list of these.
[[nodiscard]] std::optional<std::string> asked_text(const Value& value);
inline constexpr std::string_view kNoAskedValue = "a number, a word or a list is expected";

// The same as set_asked for a value. Throws an AskedError where there is no such field or the value is none of its
// values.
void set_asked_value(Asked& asked, std::string_view name, const Value& value);

}  // namespace nest::question
