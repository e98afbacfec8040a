// A schedule as PyTorch's pipeline runtime reads it ("compute_only"): one line for each pipeline rank, one
// cell for each step, `<stage><F|B|I|W><micro-batch>`; an empty cell is a step without work.
//
//   0F0,0F1,0F2,0F3,,0I0,0W0,..
#pragma once

#include <string>

#include "nest/plan/plan.hpp"

namespace nest::frameworks {

// B is a whole backward pass; where the schedule splits it, I and W are its parts.
[[nodiscard]] std::string schedule_csv(Schedule schedule, std::int64_t stages, std::int64_t chunks,
                                       std::int64_t micro_batches);

}  // namespace nest::frameworks
