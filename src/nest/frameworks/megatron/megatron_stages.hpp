// Megatron-LM's ways to split blocks over stages and chunks, as stages of a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/frameworks/megatron/megatron_layout.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {

struct MegatronSplit {
  std::vector<LayoutPart> layout;  // empty: none
  std::optional<std::int64_t>
      first;  // blocks of the first and the last rank, where they differ from the rest
  std::optional<std::int64_t> last;
  bool embedding_slot = false;
  bool loss_slot = false;
  std::optional<std::int64_t> layers_per_chunk;
  std::int64_t interleave = 1;
  std::int64_t predictions = 0;  // modules for multi-token prediction, in the stage of the loss
};

// Fills in the plan's stages, chunks and recomputation; recompute.layers is of every chunk. May change
// interleave. Throws an InputError where blocks do not divide, or a plan cannot say what is recomputed.
void make_stages(const MegatronSplit& split, const Recompute& recompute, const PlanInputs& inputs,
                 Plan& plan);

}  // namespace nest::frameworks
