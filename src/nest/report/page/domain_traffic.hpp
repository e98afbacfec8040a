// Bytes that leave each device, node, rack and so on in one step, and how busy that keeps its links: what a
// drawing of the network puts beside every domain.
//
//   DomainTraffic domains(inputs.cluster);
//   count_step(domains, placed, priced, inputs);         sends between stages and the end of the step
//   pass_traffic(placed, inputs, &domains);              what passes send
//   domains.value(step)   -> [{"level": 1, "of": "node", "bytes": [..], "busy": [0.41, ..]}]
#pragma once

#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"
#include "nest/simulate/traffic/traffic.hpp"

namespace nest::report {

class DomainTraffic {
 public:
  explicit DomainTraffic(const Cluster& cluster);  // outlives this

  void add(const LinkTable& links, const Job& job, double runs);
  void add(const LinkTable& links, LinkId link, double bytes);

  // What leaves a child of a level: a device at level 0, a domain of the level below elsewhere.
  [[nodiscard]] double bytes(LevelId level, std::int32_t child) const {
    return levels_[level.index()][static_cast<std::size_t>(child)].bytes;
  }
  // For each level whose children send anything; `busy` is a share of the step. Children that are too many to
  // be drawn are left out.
  [[nodiscard]] Value value(Seconds step) const;

 private:
  struct Child {
    double bytes = 0;
    double busy_s = 0;  // all its links at once
  };

  const Cluster* cluster_;
  std::vector<std::vector<Child>> levels_;
};

// Sends between stages and what ends the step, of every copy. The plan is placed, and its price valid.
void count_step(DomainTraffic& domains, const Plan& placed, const PricedPlan& priced,
                const PlanInputs& inputs);

}  // namespace nest::report
