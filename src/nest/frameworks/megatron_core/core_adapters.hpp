// A plan's adapters as Megatron Bridge puts them in, which verl uses too: its LoRA has one beside each module of
// Megatron-core, joined ones such as linear_qkv among them, its CanonicalLoRA one beside each of what those join.
//
//   core_adapters(tuning, spec).modules == {"linear_qkv", "linear_proj"}, .canonical == false
#pragma once

#include <string>
#include <vector>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/tuning.hpp"

namespace nest::frameworks {

struct CoreAdapters {
  std::string problem;  // a sentence, where neither of the two is the plan's; empty: all is well
  bool canonical = false;
  std::vector<std::string> modules;
  bool experts = false;  // some stand beside products of routed experts
};

// A null spec is of a model that nobody knows: attention with one product, a feed-forward network with a gate.
[[nodiscard]] CoreAdapters core_adapters(const Tuning& tuning, const ModelSpec* spec);

}  // namespace nest::frameworks
