// DeepSpeed's settings for `nest lint`.
#pragma once

#include "nest/frameworks/common/dialect.hpp"

namespace nest::frameworks {

[[nodiscard]] const Dialect& deepspeed_dialect();

}  // namespace nest::frameworks
