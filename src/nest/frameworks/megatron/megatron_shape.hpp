// Which model Megatron-LM's flags describe: one of the zoo with the same shape.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/frameworks/common/flags.hpp"

namespace nest::frameworks {

// Shape flags with Megatron-LM's defaults filled in, so that equal shapes are equal maps. Flags without a
// value are "on".
[[nodiscard]] std::map<std::string, std::string> megatron_shape(const std::vector<Flag>& flags);

// Names of the zoo whose shape this is, those with the same number of positions first.
[[nodiscard]] std::vector<std::string> zoo_models_of(const std::vector<Flag>& flags);

// The first value of a flag; empty where it is not there.
[[nodiscard]] std::string value_of(const std::vector<Flag>& flags, std::string_view name);

}  // namespace nest::frameworks
