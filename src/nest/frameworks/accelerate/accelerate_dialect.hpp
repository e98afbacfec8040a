// The settings of Accelerate's YAML for `nest lint`: FSDP's, and DeepSpeed's where Accelerate runs it.
#pragma once

#include "nest/frameworks/common/dialect.hpp"

namespace nest::frameworks {

[[nodiscard]] const Dialect& accelerate_dialect();
// Of a file with distributed_type: DEEPSPEED.
[[nodiscard]] const Dialect& accelerate_deepspeed_dialect();

}  // namespace nest::frameworks
