// Megatron-LM's flags for `nest lint`.
#pragma once

#include "nest/frameworks/common/dialect.hpp"

namespace nest::frameworks {

[[nodiscard]] const Dialect& megatron_dialect();

}  // namespace nest::frameworks
