// What must move when a run goes on with another plan: bytes of weights and optimizer states that a rank of
// the new plan needs and its device did not hold under the old one. Gradients and activations are not kept.
//
// A parameter of a layer is a point of a unit cube: by its expert, by its place along the axis that tensor
// parallelism cuts, and by its place in the order in which ZeRO cuts what is left. What a device holds of a
// layer is a box in it, and what it must fetch is its new box without the old one. Rank r of t along an axis
// has [r/t, (r+1)/t). Tensors that every tensor rank holds (norms) count as if they were cut, and copies of
// tied weights are left out: both are small.
//
//   const Reshard moved = reshard(inputs, plan_of_128_nodes, plan_of_127_nodes);
//   moved.total, moved.most, moved.lost
#pragma once

#include "nest/base/units.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::price {

struct Reshard {
  Bytes state;  // weights and optimizer states of all devices of the new plan
  Bytes total;  // of that, fetched
  Bytes most;   // fetched by one device
  Bytes lost;   // of the old plan: held by no device that is left, so that only a checkpoint has it
};

// Both plans are placed; a device has the same id in both, and those of `inputs` (the new plan's) are left.
[[nodiscard]] Reshard reshard(const PlanInputs& inputs, const Plan& before, const Plan& after);

}  // namespace nest::price
