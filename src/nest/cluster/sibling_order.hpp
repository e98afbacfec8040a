// A fixed order of equal siblings. Subtrees under one switch (or one fully connected level) that differ only in
// their sizes can change places without changing the network, so a file may list them in any order. Here they
// are put in one order, larger subtrees first, from which the placement rule starts: its plans then do not
// depend on the order in the file. Children of rings, meshes and tori keep their places.
//
//   nodes of [4, 8, 7, 6] under one switch  ->  fan-out [8, 7, 6, 4], own domains {1, 2, 3, 0}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nest/cluster/level.hpp"
#include "nest/cluster/tree.hpp"

namespace nest::cluster {

struct SiblingOrder {
  std::vector<FanOut> fan_outs;   // of the sorted tree, innermost first
  std::vector<std::int32_t> own;  // by the number of an innermost domain in the sorted tree: its own number
  std::vector<std::int32_t> sorted;  // the other way round
};

// None where they are in this order already.
[[nodiscard]] std::optional<SiblingOrder> find_sibling_order(std::span<const Level> levels,
                                                             const DeviceTree& tree);

}  // namespace nest::cluster
