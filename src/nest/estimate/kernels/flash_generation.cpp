#include "nest/estimate/kernels/flash_generation.hpp"

namespace nest::estimate {

// By their authors' account generation 2 is twice as fast as generation 1, and reaches 35 % of an H100's
// peak, where the profile's kernels reach 57 %; on an A100 it is the newest. Published runs agree: 100
// TFLOP/s of causal attention with generation 1 on an A100, 175 on an H100 (docs/step.md). Blackwell: as
// Hopper, for want of a measurement. The ratios are `flash_time` of data/accelerators.yaml.
double flash_time(int generation, const Accelerator& accelerator) {
  return generation >= kNewestFlash ? 1 : accelerator.flash_time[generation == 1 ? 0 : 1];
}

}  // namespace nest::estimate
