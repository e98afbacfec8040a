// How much slower older attention kernels are than those of the profile: a run's software decides which
// generation it had, whatever its accelerator could do.
//
//   flash_time(1, find_accelerator("a100-80"))   -> 2
#pragma once

#include "nest/cluster/accelerator.hpp"

namespace nest::estimate {

inline constexpr int kNewestFlash = 3;

// Times of a flash attention kernel of this generation over the newest's. 1: FlashAttention 1 and its Triton
// port, 2: FlashAttention 2, 3: the newest that suit the accelerator.
[[nodiscard]] double flash_time(int generation, const Accelerator& accelerator);

}  // namespace nest::estimate
