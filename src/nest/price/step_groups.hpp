// Which devices take part in the collectives at the end of a step. Members come copy by copy, and inside a
// cell by id.
//
//   step_groups(plan, 0, StepCollective::Group::dense)   -> one group for each tensor rank of the first stage
#pragma once

#include <cstddef>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price {

// All groups of that kind that the stage's devices form; those of one member are left out.
[[nodiscard]] std::vector<std::vector<DeviceId>> step_groups(const Plan& plan, std::size_t stage,
                                                             StepCollective::Group group);

}  // namespace nest::price
