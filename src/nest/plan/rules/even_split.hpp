// Megatron's even split: equal numbers of blocks in every stage and chunk. Optional slots count the embedding
// and the loss as a block each. Where blocks do not divide, the last and the first part get fewer.
//
//   even_split(graph, 4)   of 80 blocks, an embedding and a head: {0..20} {21..40} {41..60} {61..81}
#pragma once

#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/plan/rules/layer_graph.hpp"

namespace nest::plan {

// Layers of each part, in pipeline order. Throws an InputError where there are fewer blocks than parts.
[[nodiscard]] std::vector<std::vector<LayerId>> even_split(const LayerGraph& graph, std::int64_t parts,
                                                           const SplitOptions& options = {});

}  // namespace nest::plan
