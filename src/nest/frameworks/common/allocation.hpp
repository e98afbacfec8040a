// What a plan asks of the hosts that a scheduler gives it, whatever they are called: how many lie together
// below one switch, in which order they correspond to the plan's, and what the ranks on them must be told.
//
//   host_groups(map)[0]         -> 2 racks, at least 4 hosts together in each
//   slurm_distribution(map)     -> "plane=4"
//   launch_variables(map)[0]    -> NCCL_DEBUG=WARN, because ..
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

// The plan's hosts in the domains of one level.
struct HostGroups {
  const HostLevel* level = nullptr;
  std::int64_t domains = 0;   // in use
  std::int64_t together = 0;  // the hosts of every domain are a multiple of so many
  bool equal = true;          // every domain has just so many
};
// One for each level of the map, innermost first.
[[nodiscard]] std::vector<HostGroups> host_groups(const RankMap& map);

// Hosts such that those of a domain follow each other at every level, domains with more hosts first: into
// RankMap::hosts.
[[nodiscard]] std::vector<std::size_t> hosts_by_domain(const RankMap& map);

// How srun would number these ranks over hosts in the order of RankMap::hosts: "block", "cyclic", "plane=N",
// or "arbitrary" where only a list of hosts says it.
[[nodiscard]] std::string slurm_distribution(const RankMap& map);

struct LaunchVariable {
  std::string name;
  std::string value;
  std::string why;
};
[[nodiscard]] std::vector<LaunchVariable> launch_variables(const RankMap& map);

// Whether the devices are GPUs, which CUDA_VISIBLE_DEVICES orders.
[[nodiscard]] bool has_gpus(const RankMap& map);
// Said of hosts with more devices than servers have.
[[nodiscard]] std::optional<std::string> large_host(std::int64_t devices);
// What no scheduler is told, a sentence each.
[[nodiscard]] std::vector<std::string> allocation_losses(const RankMap& map);

}  // namespace nest::frameworks
