// The time of a collective over a group of devices. Bytes are those of CollectiveCall: the whole input of an
// all-reduce or a reduce-scatter, the gathered output of an all-gather, what one member sends in an
// all-to-all, the message of a broadcast or a send.
//
//   const CollectiveModel ideal(cluster, ideal_constants(cluster));
//   collective_time(CollectiveKind::all_reduce, Bytes{400'000'000}, shape, ideal)   -> 40.010 ms
//   collective_cost(..).phases   -> {rack, ring: 10 us of latency, 40 ms of transfer}
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/collective_algorithm.hpp"
#include "nest/estimate/collectives/fabric.hpp"
#include "nest/model/graph/operator.hpp"
#include "nest/network/groups/group.hpp"

namespace nest::estimate {

// A cluster's levels with the constants of their fabrics, ready for pricing.
struct LevelTerms {
  LevelKind kind = LevelKind::switched;
  bool in_network = false;
  bool trees = false;
  double seconds_per_byte[2] = {0, 0};  // by Protocol
  double exchange_seconds_per_byte[2] = {0, 0};
  double ring_own = 0;  // of Fabric
  double exchange_own = 0;
  double step_s[2] = {0, 0};        // by Protocol: the level's latency and the fabric's step
  double raw_seconds_per_byte = 0;  // at the level's stated bandwidth
  double reduction_seconds_per_byte = 0;
  bool reduction_by_peers = false;
  double reduction_step_s = 0;

  // Seconds for each byte of an all-reduce that the level's switches add up for this group.
  [[nodiscard]] double reduction_pace(const GroupLevel& group) const;
};

enum class Protocol { wide, quick };

class CollectiveModel {
 public:
  CollectiveModel(const Cluster& cluster, const FabricConstants& constants);

  // The same for copies of one model, another one for every other.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool library() const { return library_; }
  [[nodiscard]] bool at_once() const { return at_once_; }
  [[nodiscard]] double launch_s() const { return launch_s_; }
  [[nodiscard]] double message_s() const { return message_s_; }
  [[nodiscard]] const LevelTerms& level(LevelId id) const { return levels_[id.index()]; }

 private:
  std::uint64_t number_ = 0;
  bool library_ = false;
  bool at_once_ = false;
  double launch_s_ = 0;
  double message_s_ = 0;
  std::vector<LevelTerms> levels_;
};

// How the levels work together.
enum class Composition {
  none,          // nothing to send
  flat,          // one ring over all members, as fast as its slowest link
  hierarchical,  // one level after the other: reduce-scatter outwards, all-gather back
  direct,        // every member to every other at once; a send
  rings,         // a library's rings, one through each member of a child, all levels at once
  trees,  // a library's trees over networks and in-network reduction where there is any, all levels at once
};
[[nodiscard]] std::string_view to_string(Composition composition);

struct CollectivePhase {
  LevelId level;
  Algorithm algorithm = Algorithm::ring;
  Seconds latency;
  Seconds transfer;  // phases of rings and trees overlap: the longest counts
  Seconds own;       // of the transfer: what members move inside themselves, and no link carries
};

struct CollectiveCost {
  Seconds total;
  Seconds launch;  // and, for an all-to-all, its messages
  Seconds latency;
  Seconds transfer;
  Composition composition = Composition::none;
  Protocol protocol = Protocol::wide;
  std::vector<CollectivePhase> phases;  // innermost level first
};

// How often a member's memory is read or written for each byte of a collective.
[[nodiscard]] double memory_passes(CollectiveKind kind);

// The least over all compositions, algorithms and protocols; 0 for one member, no bytes or
// CollectiveKind::none.
[[nodiscard]] Seconds collective_time(CollectiveKind kind, Bytes bytes, const GroupShape& group,
                                      const CollectiveModel& model);
// The same, with what it is made of.
[[nodiscard]] CollectiveCost collective_cost(CollectiveKind kind, Bytes bytes, const GroupShape& group,
                                             const CollectiveModel& model);

}  // namespace nest::estimate
