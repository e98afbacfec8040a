// A cluster as text, and answers to questions about its devices, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/cluster/cluster.hpp"
#include "terminal.hpp"

namespace nest::cli {

struct ClusterQuestions {
  std::vector<DeviceId> devices;  // where are they
  std::vector<DeviceId> pair;     // none or two
  std::vector<DeviceId> group;    // how is it spread
};

// "8", "4x4x8", "3..4 (uneven)"
[[nodiscard]] std::string spell_size(const Level& level);
[[nodiscard]] std::string cluster_text(const Cluster& cluster, const Terminal& terminal);
[[nodiscard]] std::string answers_text(const Cluster& cluster, const ClusterQuestions& questions);
void add_answers(Value& out, const Cluster& cluster, const ClusterQuestions& questions);

}  // namespace nest::cli
