// Where interleaved schedules may cut the layers: the splits of the plan space, which are few because chunks
// of one stage lie apart (docs/decisions/0004-plan-space.md).
//
//   interleaved_splits(graph, 2, 2)   of 8 blocks, an embedding and a head: {0, 3, 5, 7, 10} and others, as
//                                     the first layers of the 4 chunks and the end
#pragma once

#include <cstdint>
#include <vector>

#include "nest/plan/rules/layer_graph.hpp"

namespace nest::plan {

// The k + 1 boundaries of k = pipeline * interleave chunks: chunk c has the layers first[c] to first[c + 1] -
// 1. Ascending, without repeats; none where no split leaves every chunk a layer, or an edge runs to a lower
// id.
[[nodiscard]] std::vector<std::vector<std::int32_t>> interleaved_splits(const LayerGraph& graph,
                                                                        std::int64_t pipeline,
                                                                        std::int64_t interleave);

}  // namespace nest::plan
