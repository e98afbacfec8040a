// What the signs and functions of expressions make of values.
#pragma once

#include <string>
#include <vector>

#include "nest/base/document/value.hpp"

namespace nest::model {

using base::Value;

// + - * / // %
[[nodiscard]] Value arithmetic(const std::string& sign, const Value& a, const Value& b);
// == != < <= > >= in
[[nodiscard]] Value compare(const std::string& sign, const Value& a, const Value& b);
// len(list), min(a, b, ...) and the others.
[[nodiscard]] Value call_function(const std::string& name, const std::vector<Value>& given);
// A place of a list, a letter of a text, or the member of a group whose name is that number; else null.
[[nodiscard]] Value element_of(const Value& list, const Value& index);

}  // namespace nest::model
