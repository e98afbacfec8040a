// Where a plan's stages talk: the shapes of all groups of its devices, made once for each placement. Groups
// of the same kind talk all at once; where the groups of a stage differ, the slowest counts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/cell_network.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "nest/network/cells/placement.hpp"
#include "nest/network/groups/group.hpp"

namespace nest::price {

[[nodiscard]] Seconds slowest(CollectiveKind kind, Bytes bytes, const Shapes& shapes,
                              const CollectiveModel& model);

// The ranks that hold the same parameters, split into the part that ZeRO shards over and the rest.
struct ParameterGroup {
  std::int64_t members = 1;
  std::int64_t shards = 1;  // of members: those that ZeRO shards over
  Shapes whole;
  Shapes inner;  // as whole where shards == members
  Shapes outer;
  // With resharding to a group: of `shards`, the ranks that the backward pass gathers from. Where nobody asked, 0 and
  // nowhere: then they hold nothing and take no time.
  std::int64_t near = 0;
  Shapes nearby;
  // The same with only this stage's groups talking; empty where that makes no difference.
  Shapes whole_alone;
  Shapes inner_alone;
  Shapes outer_alone;

  bool operator==(const ParameterGroup&) const = default;
};

struct StageNetwork {
  std::shared_ptr<const CellNetwork> cell;
  std::size_t cell_class = 0;  // stages with equal cell networks have the same
  Shapes from_previous;        // pairs of the previous stage's device and this one's
  Shapes from_next;
  ParameterGroup dense;
  ParameterGroup expert;
};

struct PlanNetwork {
  std::vector<StageNetwork> stages;
  Shapes wrap;  // last stage and first, for interleaved schedules
  Shapes tied;  // the first and the last stage that share a weight
  // Stages with equal numbers have equal networks in all that matters to their cost.
  std::vector<std::size_t> stage_class;
};

// Stages with equal strategies and networks are of one class, named by the first of them. Without strategies:
// all have the same.
void find_classes(PlanNetwork& network, std::span<const Strategy> strategies = {});

// Whether stages can be in each other's way: links that carry less than all their devices, or pass others'
// traffic on.
[[nodiscard]] bool links_are_shared(const Cluster& cluster);

// Of so many ranks, those that ZeRO shards over; 0: all.
[[nodiscard]] std::int64_t shards_of(std::int64_t members, std::int64_t zero_shards);

// Whether two cell networks price every collective alike.
[[nodiscard]] bool same_groups(const CellNetwork& a, const CellNetwork& b);

struct NetworkOptions {
  std::int64_t zero_shards = 0;  // 0: whole groups
  bool wrap = false;             // whether the last and the first stage talk
  // The first and the last stage that share a weight; equal where none do.
  std::size_t tied_first = 0;
  std::size_t tied_last = 0;
  std::int64_t near = 0;  // ranks of Resharding::group(); 0: none

  bool operator==(const NetworkOptions&) const = default;
};

// cells[stage][copy]
[[nodiscard]] PlanNetwork plan_network(const Cluster& cluster, const FabricConstants& constants,
                                       std::span<const Strategy> strategies,
                                       std::span<const std::vector<Cell>> cells,
                                       const NetworkOptions& options);

}  // namespace nest::price
