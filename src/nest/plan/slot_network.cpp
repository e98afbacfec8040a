#include "nest/plan/slot_network.hpp"

#include <utility>

namespace nest {

std::unique_ptr<SlotNetwork> SlotNetwork::make(const Cluster& cluster, const FabricConstants& constants,
                                               const Strategy& strategy, const PlacementShape& shape) {
  const auto slots = place_cells(cluster.tree(), shape);
  if (!slots) return nullptr;
  PlacementShape own = shape;
  own.block_devices = slots->block_devices;
  own.first_stage_first = false;
  return std::unique_ptr<SlotNetwork>(new SlotNetwork(cluster, constants, strategy, own));
}

SlotNetwork::SlotNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
                         const PlacementShape& shape)
    : cluster_(&cluster), constants_(&constants), strategy_(strategy), shape_(shape) {}

SlotTable SlotNetwork::slots(bool first_stage_first) const {
  PlacementShape shape = shape_;
  shape.first_stage_first = first_stage_first;
  return *place_cells(cluster_->tree(), shape);
}

std::vector<std::int64_t> SlotNetwork::zero_shards() const {
  return zero_shard_sizes(cluster_->tree(), slots(false), strategy_);
}

PlanNetwork SlotNetwork::network(const NetworkOptions& options, bool first_stage_first) const {
  const SlotTable table = slots(first_stage_first);
  std::vector<std::vector<Cell>> cells;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape_.stages); ++i)
    cells.push_back(table.cells_of(i));
  const std::vector<Strategy> strategies(cells.size(), strategy_);
  return plan_network(*cluster_, *constants_, strategies, cells, options);
}

}  // namespace nest
