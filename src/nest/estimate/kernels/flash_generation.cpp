#include "nest/estimate/kernels/flash_generation.hpp"

#include <array>
#include <string_view>

namespace nest::estimate {
namespace {

// By their authors' account generation 2 is twice as fast as generation 1, and reaches 35 % of an H100's
// peak, where the profile's kernels reach 57 %; on an A100 it is the newest. Published runs agree: 100
// TFLOP/s of causal attention with generation 1 on an A100, 175 on an H100 (docs/step.md). Blackwell: as
// Hopper, for want of a measurement.
struct Family {
  std::string_view start;
  double first;
  double second;
};
constexpr std::array<Family, 8> kFamilies{{{"a100", 2, 1},
                                           {"a800", 2, 1},
                                           {"h100", 3.3, 1.65},
                                           {"h200", 3.3, 1.65},
                                           {"h800", 3.3, 1.65},
                                           {"gh200", 3.3, 1.65},
                                           {"b", 3.3, 1.65},
                                           {"gb", 3.3, 1.65}}};

}  // namespace

double flash_time(int generation, const Accelerator& accelerator) {
  if (generation >= kNewestFlash) return 1;
  const std::string& name = accelerator.base.empty() ? accelerator.name : accelerator.base;
  for (const Family& f : kFamilies) {
    if (name.starts_with(f.start)) return generation == 1 ? f.first : f.second;
  }
  return 1;
}

}  // namespace nest::estimate
