// What the collectives of a cell cost: the groups of its devices along each axis, where the cell lies in the
// cluster, with all cells of the cluster, or those that are named, talking at once.
//
//   const CellNetwork network(cluster, constants, {.tensor = 8, .expert = 4, .expert_tensor = 1});
//   network.time(op.collective, Direction::forward)
//   const CellNetwork placed(cluster, constants, strategy, stage.devices);   // the cells of a plan's stage
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "nest/estimate/collectives/fabric.hpp"
#include "nest/model/graph/operator.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::estimate {

enum class Direction { forward, backward };

class CellNetwork {
 public:
  // Cells lie side by side from device 0 on, none across the edge of a domain that it could fit in. A cell
  // has the ids tensor + t * (context + c * side), and for experts expert_tensor + x * (expert + e * rest).
  // Throws an InputError where the cluster is smaller than a cell.
  CellNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy);
  // The same of cells that lie anywhere: each lists its devices by id. `others` talk at the same time, and
  // what they cost themselves does not count. Throws an InputError where a cell has not as many devices as
  // the strategy asks for, or one that the cluster lacks.
  CellNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
              std::span<const std::vector<DeviceId>> cells,
              std::span<const std::vector<DeviceId>> others = {});
  // The same of cells whose groups are known: their shapes by axis, and the function that gives those of
  // `members` devices `inner` ids apart in their cell.
  using AxisGroups = std::array<std::vector<GroupShape>, model::kGroupAxes>;
  using Groups = std::function<std::vector<GroupShape>(std::int64_t inner, std::int64_t members)>;
  CellNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
              AxisGroups groups, Groups parts);

  // Of all repeats together.
  [[nodiscard]] Seconds time(const CollectiveCall& collective, Direction direction) const;
  // The different shapes that groups of an axis have, none of those of hybrid context parallelism where it is not
  // used; more than one where some straddle domains. The slowest
  // counts.
  [[nodiscard]] const std::vector<GroupShape>& groups(GroupAxis axis) const {
    return groups_[static_cast<std::size_t>(axis)];
  }
  // The same of groups of `members` devices, `inner` ids apart in their cell.
  [[nodiscard]] std::vector<GroupShape> groups(std::int64_t inner, std::int64_t members) const;

 private:
  const Cluster* cluster_;  // outlives this
  CollectiveModel model_;
  std::int64_t cell_ = 1;
  std::vector<DeviceId> devices_;  // of named cells one after the other
  std::size_t priced_ = 0;         // the first cells of them, without the others; 0: cells fill the cluster
  std::array<std::int64_t, model::kGroupAxes> inner_{};  // ids between neighbours of an axis
  AxisGroups groups_;
  Groups parts_;  // none: from the devices
};

// Ids between neighbours of each axis in a cell.
[[nodiscard]] std::array<std::int64_t, model::kGroupAxes> inner_ids(const Strategy& strategy);

// A cluster for estimates that name an accelerator only: its usual node of 8 with its own links, and its
// usual network interface between 128 such nodes.
[[nodiscard]] Cluster usual_cluster(const Accelerator& accelerator);

}  // namespace nest::estimate
