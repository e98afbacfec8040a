#include "nest/plan/rules/interleaved_splits.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace nest::plan {
namespace {

constexpr std::int64_t kMostFewer = 3;  // blocks that the first and the last chunk may go without

// How many blocks each chunk has: `all` shared out evenly, then fewer at the ends.
struct Shares {
  std::int64_t chunks = 1;
  std::int64_t all = 0;
  bool longer_first = true;
  std::int64_t fewer_first = 0;
  std::int64_t fewer_last = 0;

  [[nodiscard]] std::int64_t of(std::int64_t chunk) const {
    const std::int64_t longer = all % chunks;
    const bool one_more = longer_first ? chunk < longer : chunk >= chunks - longer;
    return all / chunks + (one_more ? 1 : 0) - (chunk == 0 ? fewer_first : 0) -
           (chunk == chunks - 1 ? fewer_last : 0);
  }
};

std::optional<std::vector<std::int32_t>> boundaries(const std::vector<std::int32_t>& blocks,
                                                    std::int32_t layers, const Shares& shares) {
  std::vector<std::int32_t> first{0};
  std::int64_t before = 0;  // blocks of the chunks so far
  for (std::int64_t c = 0; c < shares.chunks; ++c) {
    const std::int64_t own = shares.of(c);
    if (own < 0) return std::nullopt;
    before += own;
    // A chunk begins with its first block; a last one without any begins after the last block.
    std::int32_t end = layers;
    if (c + 1 < shares.chunks) {
      if (before < static_cast<std::int64_t>(blocks.size()))
        end = blocks[static_cast<std::size_t>(before)];
      else
        end = blocks.empty() ? layers : blocks.back() + 1;
    }
    if (end <= first.back()) return std::nullopt;
    first.push_back(end);
  }
  return first;
}

}  // namespace

std::vector<std::vector<std::int32_t>> interleaved_splits(const LayerGraph& graph, std::int64_t pipeline,
                                                          std::int64_t interleave) {
  const auto layers = static_cast<std::int64_t>(graph.layers());
  if (!graph.ascending() || pipeline < 1 || interleave < 1 || pipeline > layers || interleave > layers ||
      pipeline * interleave > layers)
    return {};
  std::vector<std::int32_t> blocks;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(layers); ++i) {
    if (graph.is_block(LayerId(i))) blocks.push_back(i);
  }
  std::vector<std::vector<std::int32_t>> splits;
  for (std::int64_t i = 0; i <= kMostFewer; ++i) {
    for (std::int64_t j = 0; j <= kMostFewer; ++j) {
      for (const bool longer_first : {true, false}) {
        const Shares shares{pipeline * interleave, static_cast<std::int64_t>(blocks.size()) + i + j,
                            longer_first, i, j};
        if (auto made = boundaries(blocks, static_cast<std::int32_t>(layers), shares))
          splits.push_back(std::move(*made));
      }
    }
  }
  std::sort(splits.begin(), splits.end());
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  return splits;
}

}  // namespace nest::plan
