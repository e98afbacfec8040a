// Random small instances for the study of placements: a model, a cluster, what is open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_space.hpp"
#include "nest/solve/twin/test_inputs.hpp"

namespace nest::tools::study {

struct Setting {
  PlanInputs inputs;
  Training training;
  SearchSpace space;
};

// Up to 8 devices. `kind` of all levels (empty: any); communication takes about 10^-power of the time of
// compute.
[[nodiscard]] Setting random_setting(test::Dice& dice, const std::string& kind, std::int64_t power);

// 2 to 6 nodes of 4 or 8 devices behind one or two levels of switches, bandwidths as of real ones, all so
// many times slower that communication counts. Uneven: nodes that lack one or two devices.
[[nodiscard]] Setting node_setting(test::Dice& dice, bool uneven);

// Plans of the space by their degrees, each cut once, whether the rule finds a place for them or not.
[[nodiscard]] std::vector<std::vector<Plan>> plans_by_degrees(const Setting& setting);

// Even domains with bandwidth (after oversubscription) that does not grow outwards; uneven ones; faster
// outside.
enum class ClusterForm { even, uneven, faster_outside };
[[nodiscard]] ClusterForm form_of(const Cluster& cluster);

}  // namespace nest::tools::study
