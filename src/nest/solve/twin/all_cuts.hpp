// Lists every way to cut a layer graph into stages, for the exhaustive search of brute_force.hpp. It
// shares no code with the real search.
//
//   all_cuts(graph, 2, 100)   of a chain of three layers: {{0} {1, 2}}, {{0, 1} {2}}
#pragma once

#include <cstddef>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/plan/rules/layer_graph.hpp"

namespace nest::solve {

using CutParts = std::vector<std::vector<LayerId>>;  // of a pipeline, in order, ids ascending

// Every chain of downsets: so many parts, none empty, no edge from a part to an earlier one. The first `most`
// of them.
[[nodiscard]] std::vector<CutParts> all_cuts(const LayerGraph& graph, std::size_t parts, std::size_t most);

// The cuts into chunks that interleaved schedules may have (docs/decisions/0004-plan-space.md): equal numbers
// of blocks, up to three fewer at the ends.
[[nodiscard]] std::vector<CutParts> all_chunk_cuts(const LayerGraph& graph, std::size_t parts);

// Whether the parts hold the layers in the order of their ids.
[[nodiscard]] bool contiguous(const CutParts& parts);

}  // namespace nest::solve
