#include "nest/estimate/kernels/precision_math.hpp"

#include <array>

namespace nest::estimate {
namespace {

struct Row {
  MathType type;
  const char* lacking;  // the rest of the sentence; none: another arithmetic stands in
};

// By Precision.
constexpr std::array<Row, 6> kRows{{{MathType::bf16, nullptr},
                                    {MathType::fp16, nullptr},
                                    {MathType::fp8, "has no 8-bit matrix products"},
                                    {MathType::fp8_block, "has no 8-bit matrix products"},
                                    {MathType::fp8_block, "has no 8-bit matrix products"},
                                    {MathType::fp4, "has no 4-bit matrix products"}}};

const Row& row_of(Precision precision) {
  return kRows[static_cast<std::size_t>(precision)];
}

}  // namespace

MathType math_of(Precision precision) {
  return row_of(precision).type;
}

FlopsPerSecond peak_of(const Accelerator& accelerator, Precision precision) {
  if (const auto peak = accelerator.peak(math_of(precision))) return *peak;
  if (row_of(precision).lacking != nullptr) return {};
  for (const MathType type : {MathType::bf16, MathType::fp16, MathType::fp32}) {
    if (const auto peak = accelerator.peak(type)) return *peak;
  }
  return {};
}

std::string lacking_math(const Cluster& cluster, Precision precision) {
  const Row& row = row_of(precision);
  if (row.lacking == nullptr || cluster.computes(row.type)) return {};
  return row.lacking;
}

}  // namespace nest::estimate
