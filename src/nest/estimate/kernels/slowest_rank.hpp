// How much longer a step takes because all ranks wait for the slowest: devices of one kind differ a little, and
// each of them differs from step to step.
//
//   slowest_rank(1024)   -> 1.8: by so many standard deviations the slowest of 1,024 is slower than that of 8
#pragma once

#include <cstdint>

namespace nest::estimate {

// The mean of the largest of so many normal deviates: 0.56 of two, 2.5 of 100. (Blom's formula, within 5 %.)
[[nodiscard]] double largest_of(std::int64_t deviates);

// In standard deviations of the ranks' times: the mean of the largest of so many normal deviates, less that of the
// eight of one node. The constants of kernels come from whole nodes and hold what a node waits for; 0 for up to 8.
[[nodiscard]] double slowest_rank(std::int64_t ranks);

}  // namespace nest::estimate
