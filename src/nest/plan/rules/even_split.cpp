#include "nest/plan/rules/even_split.hpp"

#include <string>

#include "nest/base/error.hpp"

namespace nest::plan {
namespace {

// Blocks of each part.
std::vector<std::int64_t> sizes_of(std::int64_t blocks, std::int64_t parts, const SplitOptions& options) {
  const std::int64_t ends = (options.embedding_slot ? 1 : 0) + (options.loss_slot ? 1 : 0);
  const std::int64_t most = (blocks + ends + parts - 1) / parts;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), most);
  std::int64_t missing = most * parts - blocks - ends;
  if (options.embedding_slot) --sizes.front();
  if (options.loss_slot) --sizes.back();
  // One fewer in the largest parts; of equal ones first the last and the first, which have the head and the
  // embedding besides, then inwards.
  for (; missing > 0; --missing) {
    std::size_t chosen = 0;
    std::int64_t largest = -1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t at = i % 2 == 0 ? sizes.size() - 1 - i / 2 : i / 2;
      if (sizes[at] > largest) {
        largest = sizes[at];
        chosen = at;
      }
    }
    --sizes[chosen];
  }
  return sizes;
}

}  // namespace

std::vector<std::vector<LayerId>> even_split(const LayerGraph& graph, std::int64_t parts,
                                             const SplitOptions& options) {
  std::int64_t blocks = 0;
  for (std::size_t i = 0; i < graph.layers(); ++i)
    blocks += graph.is_block(LayerId(static_cast<std::int32_t>(i))) ? 1 : 0;
  const std::int64_t slots = blocks + (options.embedding_slot ? 1 : 0) + (options.loss_slot ? 1 : 0);
  std::vector<std::int64_t> sizes =
      parts <= slots ? sizes_of(blocks, parts, options) : std::vector<std::int64_t>{};
  // A slot alone makes a part: the embedding, or the head and the loss.
  const auto empty = [&](std::size_t i) {
    const bool slot = (i == 0 && options.embedding_slot) || (i + 1 == sizes.size() && options.loss_slot);
    return sizes[i] < (slot ? 0 : 1);
  };
  bool refused = sizes.empty();
  for (std::size_t i = 0; i < sizes.size(); ++i) refused = refused || empty(i);
  if (refused) {
    throw InputError("", "pipeline",
                     std::to_string(blocks) + " blocks cannot be split over " + std::to_string(parts) +
                         " stages and chunks");
  }
  std::vector<std::vector<LayerId>> split(sizes.size());
  std::size_t part = 0;
  std::int64_t left = sizes.front();
  for (std::size_t i = 0; i < graph.layers(); ++i) {
    const LayerId id(static_cast<std::int32_t>(i));
    if (graph.is_block(id)) {
      if (left == 0) left = sizes[++part];
      --left;
    } else if (left == 0 && part + 1 < split.size()) {
      left = sizes[++part];  // what lies between blocks goes with the next one
    }
    split[part].push_back(id);
  }
  return split;
}

}  // namespace nest::plan
