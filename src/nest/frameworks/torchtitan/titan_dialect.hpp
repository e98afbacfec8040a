// torchtitan's settings (0.2.2) for `nest lint`.
#pragma once

#include "nest/frameworks/common/dialect.hpp"

namespace nest::frameworks {

[[nodiscard]] const Dialect& torchtitan_dialect();

}  // namespace nest::frameworks
