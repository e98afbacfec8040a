// Every combination of dtypes that a space allows and its framework takes, by plain loops: the counterpart of
// state_values() for the exhaustive search.
#pragma once

#include <optional>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_space.hpp"

namespace nest::solve {

[[nodiscard]] inline std::vector<States> twin_states(const PlanInputs& inputs, const Training& training,
                                                     const SearchSpace& space) {
  const auto dtypes = [](const std::vector<StateDType>& listed, std::optional<StateDType> one) {
    std::vector<std::optional<StateDType>> all(listed.begin(), listed.end());
    if (all.empty()) all.push_back(one);
    return all;
  };
  const States& own = training.states;
  std::vector<std::optional<bool>> masters(space.master_weights.begin(), space.master_weights.end());
  if (masters.empty()) masters.push_back(own.master_weights);
  std::vector<Offload> offloads = space.offload;
  if (offloads.empty()) offloads.push_back(own.offload);
  std::vector<States> all;
  for (const auto gradients : dtypes(space.gradient_dtypes, own.gradients)) {
    for (const auto reduction : dtypes(space.reduce_dtypes, own.reduction)) {
      for (const auto moments : dtypes(space.optimizer_dtypes, own.moments)) {
        for (const auto master : masters) {
          for (const Offload& offload : offloads) {
            Training one = training;
            one.states = {gradients, reduction, moments, master, offload};
            const bool listed = !space.gradient_dtypes.empty() || !space.reduce_dtypes.empty() ||
                                !space.optimizer_dtypes.empty() || !space.master_weights.empty() ||
                                !space.offload.empty();
            const bool runs = space.rules == nullptr || space.rules->refusal(inputs, one) == nullptr;
            if (runs || !listed) all.push_back(one.states);
          }
        }
      }
    }
  }
  return all;
}

}  // namespace nest::solve
