// Shares as percentages, for texts.
//
//   format_percent(0.1234)         "12.3 %"
//   format_signed_percent(-0.02)   "-2.0 %"
#pragma once

#include <string>

#include "nest/base/rooms.hpp"

namespace nest::base {

[[nodiscard]] std::string format_percent(double share, int digits = 1);
[[nodiscard]] std::string format_signed_percent(double share);

}  // namespace nest::base
