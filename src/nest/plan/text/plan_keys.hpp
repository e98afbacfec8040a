// Keys of a plan's numbers and the members they stand for: one table for each group, so that reading and
// writing cannot drift apart.
#pragma once

#include <array>

#include "nest/plan/plan.hpp"

namespace nest::plan {

template <class Group, class Number>
struct NumberKey {
  const char* key;
  Number Group::* member;
  bool rare = false;  // written only where it is not 0
};

// The number of a group that a file has of this key.
template <class Group, class Number>
[[nodiscard]] bool is_written(const NumberKey<Group, Number>& key, const Group& group) {
  return !key.rare || !(group.*key.member == Number{});
}

inline constexpr std::array<NumberKey<StageTime, Seconds>, 9> kTimeKeys{{
    {"forward_s", &StageTime::forward},
    {"backward_s", &StageTime::backward},
    {"recompute_s", &StageTime::recompute},
    {"tensor_s", &StageTime::tensor},
    {"expert_s", &StageTime::expert},
    {"context_s", &StageTime::context},
    {"pipeline_s", &StageTime::pipeline},
    {"zero_s", &StageTime::zero},
    {"offload_s", &StageTime::offload, true},
}};

inline constexpr std::array<NumberKey<StageMemory, Bytes>, 7> kMemoryKeys{{
    {"weights_bytes", &StageMemory::weights},
    {"gradients_bytes", &StageMemory::gradients},
    {"optimizer_bytes", &StageMemory::optimizer},
    {"activations_bytes", &StageMemory::activations},
    {"workspace_bytes", &StageMemory::workspace},
    {"fragmentation_bytes", &StageMemory::fragmentation},
    {"reserve_bytes", &StageMemory::reserve},
}};

inline constexpr std::array<NumberKey<Breakdown, Seconds>, 11> kBreakdownKeys{{
    {"compute_s", &Breakdown::compute},
    {"recompute_s", &Breakdown::recompute},
    {"tensor_s", &Breakdown::tensor},
    {"expert_s", &Breakdown::expert},
    {"context_s", &Breakdown::context},
    {"pipeline_s", &Breakdown::pipeline},
    {"bubble_s", &Breakdown::bubble},
    {"data_s", &Breakdown::data},
    {"zero_s", &Breakdown::zero},
    {"optimizer_s", &Breakdown::optimizer},
    {"offload_s", &Breakdown::offload, true},
}};

}  // namespace nest::plan
