// Sends and collectives as what they do to the network: latencies, times alone, and bytes on each link.
// Alone, a job takes what collective_time says of it; that of several pairs or groups, which run side by
// side, takes what the slowest does.
//
//   Traffic traffic(cluster, constants);
//   const Job job = traffic.send(Bytes{50'000'000}, traffic.routes(cell_of_stage_0, cell_of_stage_1));
#pragma once

#include <span>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/base/units.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "nest/plan/plan.hpp"
#include "nest/simulate/traffic/fair_share.hpp"
#include "nest/simulate/traffic/links.hpp"

namespace nest::simulate {

// Part of a job: nothing moves during its latency, then all its links work at once.
struct JobPhase {
  double latency_s = 0;
  double transfer_s = 0;  // alone
  std::vector<LinkUse> uses;
  std::vector<LinkLoad> loads;  // of links that may be too short for all that use them; see prune.hpp
};

struct LevelBytes {
  LevelId level;
  double bytes = 0;
};

struct Job {
  std::int32_t id = 0;
  std::vector<JobPhase> phases;      // one after the other
  std::vector<LevelBytes> by_level;  // of everybody that the job stands for

  [[nodiscard]] double alone_s() const;
  [[nodiscard]] bool shares() const;  // whether any phase has loads
};

// Pairs of devices that send at the same time, the same bytes each.
struct Routes {
  std::vector<GroupShape> shapes;    // the different ones
  std::vector<LinkUse> uses;         // for each byte of one pair
  std::vector<LevelBytes> by_level;  // the same by the level where the pairs meet
};

class Traffic {
 public:
  Traffic(const Cluster& cluster, const FabricConstants& constants);  // the cluster outlives this

  [[nodiscard]] LinkTable& links() { return links_; }
  [[nodiscard]] const LinkTable& links() const { return links_; }

  // Device j of the sender to device j of the receiver; where cells differ in size, to its part of them.
  [[nodiscard]] Routes routes(const Cell& from, const Cell& to);
  [[nodiscard]] Job send(Bytes bytes, const Routes& routes) const;
  [[nodiscard]] Job collective(CollectiveKind kind, Bytes bytes,
                               std::span<const std::vector<DeviceId>> groups);

 private:
  [[nodiscard]] Job one_collective(CollectiveKind kind, Bytes bytes, const std::vector<DeviceId>& group,
                                   double& total);

  const Cluster* cluster_;
  CollectiveModel model_;
  LinkTable links_;
};

// Adds up uses of the same link, in the order of links.
void merge_uses(std::vector<LinkUse>& uses);

}  // namespace nest::simulate
