// For the exhaustive search: every way to run context parallelism that a space has, listed without the search's own code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nest/cluster/tree.hpp"
#include "nest/question/search_space.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::solve {

// Devices of the largest domain of the innermost level.
[[nodiscard]] inline std::int64_t twin_node(const DeviceTree& tree) {
  std::int64_t most = 1;
  for (std::int32_t d = 0; d < tree.domains(LevelId(0)); ++d)
    most = std::max<std::int64_t>(most, tree.devices_in(LevelId(0), d));
  return most;
}

// Methods, hybrid with the ranks of one all-to-all: all that divide the degree, are neither one nor all, and where the
// space says nothing stay within a node beside the tensor ranks.
[[nodiscard]] inline std::vector<std::pair<ContextMethod, std::int64_t>> twin_contexts(
    const SearchSpace& space, const Strategy& of, std::int64_t node) {
  std::vector<std::pair<ContextMethod, std::int64_t>> ways;
  if (of.context == 1 || space.context_methods.empty()) return {{ContextMethod::ring, 1}};
  for (const ContextMethod method : space.context_methods) {
    if (method != ContextMethod::hybrid) ways.emplace_back(method, 1);
    for (std::int64_t i = 2; method == ContextMethod::hybrid && i < of.context; ++i) {
      const bool usual = i * of.tensor <= node;
      if (of.context % i == 0 && (space.context_inner.open() ? usual : space.context_inner.has(i)))
        ways.emplace_back(method, i);
    }
  }
  return ways;
}

}  // namespace nest::solve
