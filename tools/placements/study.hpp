// Instances of the study of placements: the best plan of the rule against the best plan with other
// placements.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "families.hpp"
#include "instances.hpp"

#include "nest/base/rooms.hpp"

namespace nest::tools::study {

inline constexpr std::array<std::int64_t, 7> kRatios{-3, -2, -1, 0, 1, 2, 3};  // powers of ten: compute
inline const std::vector<std::string> kKinds{"switch", "ring", "mesh", "torus", "fully_connected", ""};
inline constexpr double kNoise = 1e-9;

struct Outcome {
  std::size_t ratio = 0;
  std::size_t kind = 0;
  double gain = 0;           // share of the rule's step that the best placement saves
  double communication = 0;  // share of the rule's step
  ClusterForm form = ClusterForm::even;
  bool full = false;             // the rule's plan uses three quarters of the devices or more
  std::vector<double> left;      // of the gain, by family; where talk is usual
  std::vector<double> searched;  // placements, by family, per placement of the rule
  std::string story;

  [[nodiscard]] bool usual_talk() const { return communication >= 0.01 && communication < 0.3; }
};

// Families that are tried, the rule first; on nodes only those with few placements.
[[nodiscard]] const std::vector<Family>& tiny_families();
[[nodiscard]] const std::vector<Family>& node_families();

// At most 8 devices, any level, against all assignments of devices to cells. None where nothing is feasible.
[[nodiscard]] std::optional<Outcome> compare_tiny(unsigned seed, std::size_t ratio, std::size_t kind);
// Nodes of 4 or 8 devices behind switches, 8 to 32 devices, against what a local search over cells finds from
// the best plans of the rule. None where communication is not usual.
[[nodiscard]] std::optional<Outcome> compare_nodes(unsigned seed, bool uneven);

}  // namespace nest::tools::study
