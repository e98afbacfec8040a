#include "nest/frameworks/common/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace nest::frameworks {

std::vector<HostGroups> host_groups(const RankMap& map) {
  std::vector<HostGroups> out;
  for (std::size_t l = 0; l < map.levels.size(); ++l) {
    std::map<std::int32_t, std::int64_t> counts;
    for (const HostRow& host : map.hosts) ++counts[host.domains[l]];
    HostGroups groups{&map.levels[l], static_cast<std::int64_t>(counts.size()), 0, true};
    for (const auto& [domain, count] : counts) {
      groups.together = std::gcd(groups.together, count);
      groups.equal = groups.equal && count == counts.begin()->second;
    }
    out.push_back(groups);
  }
  return out;
}

std::vector<std::size_t> hosts_by_domain(const RankMap& map) {
  // Of every domain by level: how many hosts it has, and which is the first.
  std::vector<std::map<std::int32_t, std::pair<std::int64_t, std::size_t>>> domains(map.levels.size());
  for (std::size_t h = 0; h < map.hosts.size(); ++h) {
    for (std::size_t l = 0; l < map.levels.size(); ++l)
      --domains[l].try_emplace(map.hosts[h].domains[l], 0, h).first->second.first;
  }
  std::vector<std::vector<std::pair<std::int64_t, std::size_t>>> keys(map.hosts.size());
  for (std::size_t h = 0; h < map.hosts.size(); ++h) {
    for (std::size_t l = map.levels.size(); l-- > 0;)
      keys[h].push_back(domains[l].at(map.hosts[h].domains[l]));
  }
  std::vector<std::size_t> order(map.hosts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return keys[a] == keys[b] ? a < b : keys[a] < keys[b]; });
  return order;
}

std::string slurm_distribution(const RankMap& map) {
  const std::size_t hosts = map.hosts.size();
  const std::size_t each = map.hosts.front().ranks.size();
  const bool equal = std::all_of(map.hosts.begin(), map.hosts.end(),
                                 [&](const HostRow& host) { return host.ranks.size() == each; });
  if (!equal) return "arbitrary";
  // So many ranks follow each other on the first host; srun deals them out in portions of that size.
  std::size_t portion = 1;
  while (portion < each && map.ranks[portion].host == 0) ++portion;
  for (std::size_t r = 0; r < map.ranks.size(); ++r) {
    if (map.ranks[r].host != r / portion % hosts) return "arbitrary";
  }
  if (portion == each) return "block";
  return portion == 1 ? "cyclic" : fmt::format("plane={}", portion);
}

bool has_gpus(const RankMap& map) {
  return map.resource.ends_with("/gpu");
}

std::vector<LaunchVariable> launch_variables(const RankMap& map) {
  if (!has_gpus(map)) return {};
  std::vector<LaunchVariable> out{
      {"NCCL_DEBUG", "WARN", "a link that fails is named, not waited for in silence"}};
  for (const HostGroups& groups : host_groups(map)) {
    const HostLevel& level = *groups.level;
    const bool crosses = groups.domains < static_cast<std::int64_t>(map.hosts.size());
    if (!crosses) continue;
    if (level.scale_up && map.resource == "nvidia.com/gpu") {
      out.push_back({"NCCL_MNNVL_ENABLE", "1",
                     fmt::format("the plan counts on NVLink between the hosts of a {}", level.name)});
    } else if (level.reduces) {
      out.push_back({"NCCL_COLLNET_ENABLE", "1",
                     fmt::format("the plan counts on switches of the level {} that add up", level.name)});
      break;
    }
  }
  return out;
}

std::optional<std::string> large_host(std::int64_t devices) {
  constexpr std::int64_t kUsualHost = 16;
  if (devices <= kUsualHost) return std::nullopt;
  return fmt::format(
      "hosts are taken to be the innermost domains, with {} devices; --devices-per-host splits them",
      devices);
}

std::vector<std::string> allocation_losses(const RankMap& map) {
  std::vector<std::string> lost;
  std::set<std::int64_t> sizes;
  for (const HostRow& host : map.hosts) sizes.insert(host.devices);
  if (sizes.size() > 1) {
    lost.push_back(
        fmt::format("the plan's hosts have from {} to {} devices", *sizes.begin(), *sizes.rbegin()));
  }
  if (auto sentence = large_host(*sizes.rbegin())) lost.push_back(*std::move(sentence));
  if (!has_gpus(map))
    lost.emplace_back("CUDA_VISIBLE_DEVICES does not order these devices on their host: their software does");
  return lost;
}

}  // namespace nest::frameworks
