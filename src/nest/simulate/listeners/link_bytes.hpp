// A listener that counts bytes: by level for everybody, and on each link. Where copies that are alike are
// simulated once, links that only the others use are missing: they look like those shown.
//
//   spine   12.4 GB   busiest: rack 3 uplink, 41 % of the step
#pragma once

#include <string>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/simulate/engine/listener.hpp"

namespace nest::simulate {

struct BusyLink {
  std::string name;
  LevelId level;
  Bytes bytes;
  double utilisation = 0;  // of what it carries in a step
  Seconds waited;          // lost by transfers because it was full
};

class LinkBytes final : public Listener {
 public:
  void begin(const Scenario& scenario) override;
  void on(const Event& event) override;
  void end(Seconds step, Seconds pipeline) override;

  [[nodiscard]] const std::vector<double>& by_level() const { return by_level_; }
  // Those that carried anything, the fullest first; of equal ones the first.
  [[nodiscard]] std::vector<BusyLink> busiest(std::size_t most, const std::vector<double>& waited_s) const;

 private:
  const Scenario* scenario_ = nullptr;
  std::vector<double> runs_;   // of each job
  std::vector<double> bytes_;  // on each link
  std::vector<double> by_level_;
  Seconds step_;
};

}  // namespace nest::simulate
