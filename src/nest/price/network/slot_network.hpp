// Where the stages of a placement by the rule talk, for one strategy in all stages: what plan_network() says
// of the same cells, without listing them. Both directions of the stages and all sizes of ZeRO's shards share
// what they can.
//
//   const auto slots =
//       SlotNetwork::make(cluster, constants, strategy, {.cell = 8, .stages = 4, .inner = 16});
//   const PlanNetwork n = slots->network({.zero_shards = 4}, false);
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nest/network/cells/cell_layout.hpp"
#include "nest/network/cells/placement.hpp"
#include "nest/network/domains/slot_siblings.hpp"
#include "nest/price/network/plan_network.hpp"

namespace nest::price {

// For one thread at a time.
class SlotNetwork {
 public:
  // None where the shape does not fit; its direction does not count. The cluster and the constants outlive
  // this, and the cluster all networks that it made.
  [[nodiscard]] static std::unique_ptr<SlotNetwork> make(const Cluster& cluster,
                                                         const FabricConstants& constants,
                                                         const Strategy& strategy,
                                                         const PlacementShape& shape);

  // With its block size filled in; last stage first.
  [[nodiscard]] const PlacementShape& shape() const { return shape_; }
  // In the sorted cluster.
  [[nodiscard]] SlotTable slots(bool first_stage_first) const;
  // zero_shard_sizes() of the placement.
  [[nodiscard]] std::vector<std::int64_t> zero_shards() const;

  [[nodiscard]] PlanNetwork network(const NetworkOptions& options, bool first_stage_first);

 private:
  SlotNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
              const PlacementShape& shape);

  using Slots = std::pair<std::int64_t, std::int64_t>;
  using Sizes = std::pair<std::int64_t, std::int64_t>;
  // One of dense and expert parameters: groups of ranks so many devices apart.
  struct Parameters {
    std::int64_t width = 1;
    SlotShapes whole;
    // By the number of shards, and of those that gather again.
    std::vector<std::pair<Sizes, std::vector<ParameterGroup>>> groups;
  };

  [[nodiscard]] const std::vector<ParameterGroup>& groups(Parameters& parameters,
                                                          const NetworkOptions& options);
  [[nodiscard]] std::vector<ParameterGroup> made_groups(Parameters& parameters, const Sizes& sizes);
  [[nodiscard]] Shapes pair(std::int64_t a, std::int64_t b);
  void find_cells();
  // The cell network of a slot; of all slots where they are alike.
  [[nodiscard]] std::shared_ptr<const CellNetwork> cell(std::size_t slot);
  void fill_cells(std::vector<StageNetwork>& stages, bool first_stage_first);

  const Cluster* cluster_;
  const FabricConstants* constants_;
  Strategy strategy_;
  PlacementShape shape_;
  CellLayout layout_;
  SlotSiblings siblings_;
  bool shares_links_;
  std::array<std::vector<Shapes>, model::kGroupAxes> cell_groups_;  // by axis and slot
  bool cells_alike_ = true;
  std::vector<std::shared_ptr<const CellNetwork>> cells_;  // by slot; one where they are alike
  std::vector<Shapes> neighbours_;                         // slot i and the next
  std::vector<std::pair<Slots, Shapes>> pairs_;
  Parameters dense_;
  Parameters expert_;
};

}  // namespace nest::price
