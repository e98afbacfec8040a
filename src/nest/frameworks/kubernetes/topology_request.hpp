// What Kueue's topology-aware scheduling is asked for a plan: the level below which all pods lie, and slices of
// pods that lie closer together.
//
//   kueue.x-k8s.io/podset-required-topology: fabric.topograph.run/tier-1
//   kueue.x-k8s.io/podset-slice-required-topology: fabric.topograph.run/tier-0
//   kueue.x-k8s.io/podset-slice-size: "4"
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nest/frameworks/common/rank_map.hpp"
#include "nest/frameworks/kubernetes/pods.hpp"

namespace nest::frameworks {

// The node labels of the map's levels, innermost first, as topograph writes them.
[[nodiscard]] std::vector<std::string> level_labels(const RankMap& map);

struct TopologyRequest {
  std::vector<std::pair<std::string, std::string>> annotations;  // of the pods
  std::vector<std::string> lost;                                 // what is not asked for, a sentence each
};
[[nodiscard]] TopologyRequest topology_request(const RankMap& map, const std::vector<PodJob>& jobs);

}  // namespace nest::frameworks
