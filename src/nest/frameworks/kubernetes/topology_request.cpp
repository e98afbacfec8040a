#include "nest/frameworks/kubernetes/topology_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nest/frameworks/common/allocation.hpp"

namespace nest::frameworks {

std::vector<std::string> level_labels(const RankMap& map) {
  std::vector<std::string> labels;
  labels.reserve(map.levels.size());
  int tier = 0;
  for (const HostLevel& level : map.levels) {
    labels.push_back(level.scale_up ? "accelerator.topograph.run/domain"
                                    : fmt::format("fabric.topograph.run/tier-{}", tier++));
  }
  return labels;
}

TopologyRequest topology_request(const RankMap& map, const std::vector<PodJob>& jobs) {
  TopologyRequest out;
  const auto hosts = static_cast<std::int64_t>(map.hosts.size());
  const std::vector<HostGroups> groups = host_groups(map);
  const std::vector<std::string> labels = level_labels(map);
  const auto whole =
      std::find_if(groups.begin(), groups.end(), [](const HostGroups& g) { return g.domains == 1; });
  if (hosts == 1 || whole == groups.end()) {
    out.annotations.emplace_back("kueue.x-k8s.io/podset-unconstrained-topology", "true");
    return out;
  }
  const std::string& label = labels[static_cast<std::size_t>(whole - groups.begin())];
  if (jobs.size() > 1) {
    // Kueue places the pods of each Job on their own.
    out.annotations.emplace_back("kueue.x-k8s.io/podset-preferred-topology", label);
    out.lost.emplace_back("pods of different sizes are placed apart from each other, close together each");
    return out;
  }
  out.annotations.emplace_back("kueue.x-k8s.io/podset-required-topology", label);
  bool sliced = false;
  for (std::size_t l = 0; l < groups.size(); ++l) {
    const HostGroups& g = groups[l];
    if (g.domains == 1 || g.domains == hosts) continue;
    if (!sliced && g.together > 1) {
      sliced = true;
      out.annotations.emplace_back("kueue.x-k8s.io/podset-slice-required-topology", labels[l]);
      out.annotations.emplace_back("kueue.x-k8s.io/podset-slice-size", fmt::format("{}", g.together));
      if (g.equal) continue;
      out.lost.push_back(fmt::format(
          "the plan has different numbers of hosts in domains of the level {}: slices of {} are asked for",
          g.level->name, g.together));
    } else {
      out.lost.push_back(fmt::format("{} hosts in {} domains of the level {} are not asked for", hosts,
                                     g.domains, g.level->name));
    }
  }
  return out;
}

}  // namespace nest::frameworks
