// The networks of all placements of a strategy with given stages and copies. They are made once and
// shared by all configurations and threads. Of placements that are equal in every respect only one is
// kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "nest/base/deadline.hpp"
#include "nest/network/cells/rented.hpp"
#include "nest/price/network/slot_network.hpp"
#include "nest/question/search_space.hpp"
#include "nest/solve/placements/relaxed.hpp"

namespace nest::solve {

struct Placement {
  std::int64_t inner = 1;
  std::int64_t block_devices = 0;
  bool first_stage_first = false;
  std::int64_t zero_shards = 0;  // 0: ZeRO 0
  std::shared_ptr<const PlanNetwork> network;
  std::int64_t rented = 0;  // devices (network/cells/rented.hpp); 0 where nobody wants to know
};

struct PlacementQuestion {
  std::size_t strategy = 0;
  std::int64_t pipeline = 1;
  std::int64_t copies = 1;
  ShardKind shards = ShardKind::any;  // any: ZeRO 0
  bool wrap = false;
  std::size_t tied_first = 0;
  std::size_t tied_last = 0;
  std::int64_t near = 0;  // as in NetworkOptions

  auto operator<=>(const PlacementQuestion&) const = default;
};

class Placements {
 public:
  // All that it is given outlives this. `merge`: those that look alike are one. `bills`: whether it says what
  // is rented, and tells placements apart by it.
  Placements(const Cluster& cluster, const FabricConstants& constants,
             const std::vector<Strategy>& strategies, const SearchSpace& space, bool merge,
             Deadline deadline = Deadline(), bool bills = false)
      : cluster_(&cluster),
        even_(even_cluster(cluster)),
        constants_(&constants),
        strategies_(&strategies),
        space_(&space),
        merge_(merge),
        bills_(bills),
        deadline_(std::move(deadline)) {}

  // Throws Stopped at the deadline.
  [[nodiscard]] std::shared_ptr<const std::vector<Placement>> of(const PlacementQuestion& question);
  // The one that people would try first, if the space has it: copies side by side, the stages in their order.
  [[nodiscard]] std::optional<Placement> usual(const PlacementQuestion& question) const;
  // The network that no placement of a strategy is faster than.
  [[nodiscard]] RelaxedNetwork relaxed(const CollectiveModel& collectives, std::size_t strategy,
                                       std::int64_t copies, ShardKind kind, Zero zero = {}) const;
  [[nodiscard]] std::int64_t networks() const { return networks_; }

 private:
  using SlotKey = std::tuple<std::size_t, std::int64_t, std::int64_t>;
  struct SlotGroup {
    std::mutex mutex;
    bool made = false;
    std::vector<std::unique_ptr<SlotNetwork>> slots;
  };
  struct Answer {
    std::mutex mutex;
    std::shared_ptr<const std::vector<Placement>> placements;
  };

  SlotGroup& slots(const PlacementQuestion& question);
  [[nodiscard]] std::vector<Placement> make(const PlacementQuestion& question);
  [[nodiscard]] std::vector<std::int64_t> shard_sizes(const PlacementQuestion& question,
                                                      const SlotNetwork& slot) const;

  const Cluster* cluster_;
  std::optional<Cluster> even_;
  const FabricConstants* constants_;
  const std::vector<Strategy>* strategies_;
  const SearchSpace* space_;
  bool merge_;
  bool bills_;
  Deadline deadline_;
  std::mutex mutex_;
  std::int64_t networks_ = 0;
  std::map<SlotKey, SlotGroup> slots_;
  std::map<PlacementQuestion, Answer> answers_;
};

}  // namespace nest::solve
