#include "nest/frameworks/common/rank_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/frameworks/common/hosts.hpp"

namespace nest::frameworks {
namespace {

// The names of the hosts in use, which may be listed alone or among all.
std::map<std::int64_t, std::string> names_of(const ExportQuestion& question,
                                             const std::set<std::int64_t>& used, const Hosts& hosts) {
  const std::int64_t all = hosts.count();
  std::map<std::int64_t, std::string> names;
  const std::vector<std::string>& given = question.hosts;
  const auto count = static_cast<std::int64_t>(given.size());
  const auto needed = static_cast<std::int64_t>(used.size());
  if (!given.empty()) {
    if (std::set<std::string>(given.begin(), given.end()).size() != given.size())
      throw InputError("", "hosts", "a host is named twice");
    if (count != all && count != needed) {
      throw InputError("", "hosts",
                       fmt::format("{} names, but the plan runs on {} hosts{}", count, needed,
                                   all == needed ? "" : fmt::format(" of {}", all)));
    }
  }
  std::size_t next = 0;
  for (const std::int64_t host : used) {
    const std::size_t at = count == all ? static_cast<std::size_t>(host) : next++;
    const bool known = !hosts.names().empty();
    names[host] = !given.empty() ? given[at]
                  : known        ? hosts.names()[static_cast<std::size_t>(host)]
                                 : fmt::format("node{:03}", host);
  }
  return names;
}

// The names of the vendors' device plugins; a device without another vendor's software and links is NVIDIA's.
std::string resource_of(const Accelerator& accelerator) {
  if (accelerator.software == "xla") return "google.com/tpu";
  if (accelerator.software == "neuron") return "aws.amazon.com/neuron";
  if (accelerator.software == "synapse") return "habana.ai/gaudi";
  return accelerator.scale_up.fabric == "infinity-fabric" ? "amd.com/gpu" : "nvidia.com/gpu";
}

// Names of levels stand in scripts.
std::string plain(std::string name) {
  for (char& c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!fine) c = '_';
  }
  return name;
}

std::vector<HostLevel> levels_above(const Cluster& cluster, std::int32_t first) {
  std::vector<HostLevel> out;
  const std::vector<Level>& levels = cluster.levels();
  for (auto i = static_cast<std::size_t>(first); i < levels.size(); ++i)
    out.push_back({plain(levels[i].name), levels[i].in_network_reduction, i == 0});
  return out;
}

}  // namespace

std::string_view name_of(RankOrder order) {
  return order == RankOrder::data_before_stage ? "tp-cp-ep-dp-pp" : "tp-cp-ep-pp-dp";
}

bool allows_stage_before_data(const Parallelism& p) {
  const Strategy& s = p.strategy;
  return s.side() == 1 && s.expert_tensor_degree() * s.expert == s.tensor * s.context;
}

RankMap make_rank_map(const ExportQuestion& question, RankOrder order) {
  const Parallelism& p = question.plan.parallelism;
  const Strategy& s = p.strategy;
  const std::int64_t cell = s.cell();
  const std::int64_t copies = p.copies();
  RankMap map;
  map.order = order;
  map.resource = resource_of(question.inputs.cluster.accelerator());
  map.ranks.resize(static_cast<std::size_t>(p.devices()));
  const Hosts hosts(question);
  const std::int32_t first_level = hosts.first_level();
  map.named = !question.hosts.empty() || !hosts.names().empty();
  const DeviceTree& tree = question.inputs.cluster.tree();
  const std::vector<std::string>& device_names = question.inputs.cluster.parts().device_names;
  map.levels = levels_above(question.inputs.cluster, first_level);
  std::set<std::int64_t> used;
  for (std::size_t stage = 0; stage < question.plan.stages.size(); ++stage) {
    const auto at = static_cast<std::int64_t>(stage);
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      const Cell& devices = question.plan.stages[stage].devices[static_cast<std::size_t>(copy)];
      const std::int64_t block =
          order == RankOrder::data_before_stage ? copy + copies * at : at + p.pipeline * copy;
      for (std::int64_t j = 0; j < cell; ++j) {
        RankRow& row = map.ranks[static_cast<std::size_t>(block * cell + j)];
        row.device = devices[static_cast<std::size_t>(j)];
        if (!device_names.empty()) row.name = device_names[row.device.index()];
        row.stage = at;
        row.copy = copy;
        row.tensor = j % s.tensor;
        row.context = j / s.tensor % s.context;
        row.side = j / (s.tensor * s.context);
        used.insert(hosts.place(row.device).host);
      }
    }
  }
  const std::map<std::int64_t, std::string> names = names_of(question, used, hosts);
  std::map<std::int64_t, std::size_t> index;
  for (std::size_t r = 0; r < map.ranks.size(); ++r) {
    RankRow& row = map.ranks[r];
    const HostPlace place = hosts.place(row.device);
    const auto [entry, fresh] = index.try_emplace(place.host, map.hosts.size());
    if (fresh) {
      map.hosts.push_back({names.at(place.host), {}, {}, place.devices, {}});
      for (std::int32_t l = first_level; l < tree.levels(); ++l)
        map.hosts.back().domains.push_back(tree.domain_of(row.device, LevelId{l}));
    }
    HostRow& host = map.hosts[entry->second];
    row.host = entry->second;
    row.local_device = place.local;
    row.local_rank = static_cast<std::int64_t>(host.ranks.size());
    const auto rank = static_cast<std::int64_t>(r);
    map.consecutive = map.consecutive && (host.ranks.empty() || host.ranks.back() + 1 == rank);
    host.ranks.push_back(rank);
    host.local_devices.push_back(row.local_device);
  }
  for (const HostRow& host : map.hosts)
    map.host_devices = std::max(map.host_devices, static_cast<std::int64_t>(host.ranks.size()));
  return map;
}

}  // namespace nest::frameworks
