// What a step sends over each level of the network, by what it is for: activations between stages, gradients
// and parameters at the end of the step, and the collectives inside cells.
//
//   {"levels": [{"name": "node", "tensor_bytes": 3.2e12, .., "gradient_bytes": 2.1e11,
//   "parameter_bytes": 1.1e11},
//   ..],
//    "links": [{"name": "rack 3 uplink", "bytes", "utilisation", "waited_s"}]}
#pragma once

#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/report/page/pass_traffic.hpp"
#include "nest/simulate/engine/listener.hpp"
#include "nest/simulate/simulate.hpp"

namespace nest::report {

// A listener that counts bytes by level and purpose, of all copies.
class TrafficByPurpose final : public Listener {
 public:
  struct LevelTraffic {
    double pipeline = 0;
    double gradients = 0;
    double parameters = 0;

    [[nodiscard]] double total() const { return pipeline + gradients + parameters; }
  };

  void begin(const Scenario& scenario) override;
  void on(const Event& event) override;
  void end(Seconds step, Seconds pipeline) override;

  // Innermost first; levels after the last that is used are left out.
  [[nodiscard]] const std::vector<LevelTraffic>& levels() const { return levels_; }

 private:
  const Scenario* scenario_ = nullptr;
  std::vector<double> runs_;  // of each job
  std::vector<LevelTraffic> levels_;
};

// Both parts together: `passes` by level, as pass_traffic gives them.
[[nodiscard]] Value traffic_value(const TrafficByPurpose& traffic, const std::vector<PassTraffic>& passes,
                                  const SimulationResult& result, const Cluster& cluster);

}  // namespace nest::report
