// The placement rule: where the cells of a plan without device ids lie. The last stage starts at device 0 and
// stages follow in device order (or the mirror image); `inner` copies lie side by side in each stage, and
// each such block of copies gets a range of `block_devices`. A cell never straddles a domain that it could
// fit in: it moves to the next edge. "Device order" is that of Cluster::sorted(), whose tree a caller gives: a
// placement does not depend on the order in which a file lists equal siblings.
//
//   first devices of cells, for 2 stages of cells of 8, 2 copies, 1 inside:  stage 1: {0, 16}, stage 0: {8, 24}
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/cluster/tree.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::network {

// The devices that hold one stage of one copy.
using Cell = std::vector<DeviceId>;  // id j: tensor + t * (context + c * side)

struct PlacementShape {
  std::int64_t cell = 1;
  std::int64_t stages = 1;
  std::int64_t inner = 1;          // copies of one block
  std::int64_t outer = 1;          // blocks
  std::int64_t block_devices = 0;  // 0: the tightest
  bool first_stage_first = false;

  bool operator==(const PlacementShape&) const = default;
};

// First devices of the cells, copy after copy within a stage, first stage first: starts[stage * copies +
// copy].
struct SlotTable {
  std::int64_t cell = 1;
  std::int64_t copies = 1;
  std::int64_t block_devices = 0;
  std::vector<std::int32_t> starts;

  // As the tree that they were placed in numbers its devices.
  [[nodiscard]] std::vector<Cell> cells_of(std::size_t stage) const;
};

// Of cells placed in cluster.sorted(): under the cluster's own ids.
[[nodiscard]] std::vector<Cell> own_cells(const Cluster& cluster, const SlotTable& slots, std::size_t stage);

// The devices of each block's range: those that the shape says, or else the tightest. None where the cells do
// not fit.
[[nodiscard]] std::optional<std::int64_t> fitting_block(const DeviceTree& tree, const PlacementShape& shape);

// None where it does not fit the cluster, or a block does not fit its range.
[[nodiscard]] std::optional<SlotTable> place_cells(const DeviceTree& tree, const PlacementShape& shape);

// Block sizes worth trying, ascending and without repeats: the tightest, that rounded up to each level's
// domains, and the largest that fits.
[[nodiscard]] std::vector<std::int64_t> block_sizes(const DeviceTree& tree, const PlacementShape& shape);

// Numbers of ranks that ZeRO may shard over besides the whole group, ascending: of the first dense group of
// the slot at the lowest devices, those that share a domain with its first rank, level by level, where they
// divide the group.
[[nodiscard]] std::vector<std::int64_t> zero_shard_sizes(const DeviceTree& tree, const SlotTable& slots,
                                                         const Strategy& strategy);
// Appends a number of ranks where it is one of those sizes.
void add_shard_size(std::int64_t ranks, std::int64_t group, std::vector<std::int64_t>& sizes);

}  // namespace nest::network
