// Where the stages of a placement by the rule talk, for one strategy in all stages: what plan_network() says
// of the same cells. Both directions of the stages and all sizes of ZeRO's shards share what they can.
//
//   const auto slots = SlotNetwork::make(cluster, constants, strategy, {.cell = 8, .stages = 4, .inner =
//   16}); const PlanNetwork n = slots->network({.zero_shards = 4}, false);
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nest/plan/placement.hpp"
#include "nest/plan/plan_network.hpp"

namespace nest {

// For one thread at a time.
class SlotNetwork {
 public:
  // None where the shape does not fit; its direction does not count. The cluster and the constants outlive
  // this.
  [[nodiscard]] static std::unique_ptr<SlotNetwork> make(const Cluster& cluster,
                                                         const FabricConstants& constants,
                                                         const Strategy& strategy,
                                                         const PlacementShape& shape);

  // With its block size filled in; last stage first.
  [[nodiscard]] const PlacementShape& shape() const { return shape_; }
  [[nodiscard]] SlotTable slots(bool first_stage_first) const;
  [[nodiscard]] std::vector<std::int64_t> zero_shards() const;

  [[nodiscard]] PlanNetwork network(const NetworkOptions& options, bool first_stage_first) const;

 private:
  SlotNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
              const PlacementShape& shape);

  const Cluster* cluster_;
  const FabricConstants* constants_;
  Strategy strategy_;
  PlacementShape shape_;
};

}  // namespace nest
