#include "nest/base/percent.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace nest::base {

std::string format_percent(double share, int digits) {
  std::array<char, 400> buffer{};  // of any double
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), 100 * share,
                                 std::chars_format::fixed, digits);
  return std::string(buffer.data(), end.ptr) + " %";
}

std::string format_signed_percent(double share) {
  return (std::signbit(share) ? "" : "+") + format_percent(share);
}

}  // namespace nest::base
