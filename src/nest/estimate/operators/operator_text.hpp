// Operators as people write them on the command line, and their times:
//
//   matmul:8192,4096,4096          attention:1,4096,32,8,128        rms_norm:8192,4096
//   operator_time(times, "matmul:8192,4096,4096")   -> forward 0.43 ms, backward 0.86 ms, measured
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/estimate/operators/operator_time.hpp"

namespace nest::estimate {

struct OperatorForm {
  std::string_view name;
  std::string_view arguments;  // "m,n,k"
  std::string_view help;
};

// All forms, in the order of the manual.
[[nodiscard]] std::vector<OperatorForm> operator_forms();

// Throws an InputError for an unknown kind (with a guess), a wrong number of sizes, and sizes below 1 or too
// large.
[[nodiscard]] OperatorTime operator_time(const OperatorTimes& times, const std::string& text);
[[nodiscard]] std::vector<KernelUse> parse_operator(const std::string& text);

}  // namespace nest::estimate
