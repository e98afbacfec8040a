#include "nest/frameworks/common/rank_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "nest/base/error.hpp"

namespace nest::frameworks {
namespace {

// A host by its number in device order, and the device's place in it.
struct HostPlace {
  std::int64_t host = 0;
  std::int64_t local = 0;
  std::int64_t devices = 0;  // of the host
};

// Numbers in texts count as numbers: "d2" is before "d10".
bool natural_before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    std::string_view own = text.substr(0, end);
    text.remove_prefix(end);
    own.remove_prefix(std::min(own.find_first_not_of('0'), own.size()));
    return own;
  };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const std::string_view left = number(a);
      const std::string_view right = number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

// Hosts in device order. Where devices have names, these say the order in which their owner counts them: hosts
// by their first device, and the devices of each.
class Hosts {
 public:
  explicit Hosts(const ExportQuestion& question)
      : tree_(&question.inputs.cluster.tree()), per_host_(question.devices_per_host) {
    if (per_host_ <= 0) {
      count_ = tree_->domains(LevelId{0});
    } else {
      first_host_.push_back(0);
      for (std::int32_t d = 0; d < tree_->domains(LevelId{0}); ++d) {
        const std::int64_t devices = tree_->devices_in(LevelId{0}, d);
        first_host_.push_back(first_host_.back() + (devices + per_host_ - 1) / per_host_);
      }
      count_ = first_host_.back();
    }
    const std::vector<std::string>& names = question.inputs.cluster.parts().device_names;
    if (!names.empty()) follow(names);
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  // Whether some domain of the innermost level has several hosts.
  [[nodiscard]] bool split() const { return count_ > tree_->domains(LevelId{0}); }
  [[nodiscard]] HostPlace place(DeviceId device) const {
    HostPlace out = counted(device);
    if (!number_.empty()) out.host = number_[static_cast<std::size_t>(out.host)];
    return out;
  }

 private:
  // The host by its number in the order of the cluster's ids.
  [[nodiscard]] HostPlace counted(DeviceId device) const {
    const std::int32_t domain = tree_->domain_of(device, LevelId{0});
    const std::int64_t inside = inside_.empty() ? device.value - tree_->first_device(LevelId{0}, domain).value
                                                : inside_[device.index()];
    const std::int64_t all = tree_->devices_in(LevelId{0}, domain);
    if (per_host_ <= 0) return {domain, inside, all};
    const std::int64_t before = inside / per_host_;
    return {first_host_[static_cast<std::size_t>(domain)] + before, inside % per_host_,
            std::min(per_host_, all - before * per_host_)};
  }

  void follow(const std::vector<std::string>& names) {
    std::vector<DeviceId> order;
    order.reserve(static_cast<std::size_t>(tree_->devices()));
    for (std::int32_t d = 0; d < tree_->devices(); ++d) order.emplace_back(d);
    std::sort(order.begin(), order.end(),
              [&](DeviceId a, DeviceId b) { return natural_before(names[a.index()], names[b.index()]); });
    std::vector<std::int64_t> next(static_cast<std::size_t>(tree_->domains(LevelId{0})), 0);
    inside_.resize(order.size());
    for (const DeviceId device : order)
      inside_[device.index()] = next[static_cast<std::size_t>(tree_->domain_of(device, LevelId{0}))]++;
    std::vector<std::int64_t> number(static_cast<std::size_t>(count_), -1);
    std::int64_t counted_hosts = 0;
    for (const DeviceId device : order) {
      std::int64_t& own = number[static_cast<std::size_t>(counted(device).host)];
      if (own < 0) own = counted_hosts++;
    }
    number_ = std::move(number);
  }

  const DeviceTree* tree_;
  std::int64_t per_host_;
  std::int64_t count_ = 0;
  std::vector<std::int64_t> first_host_;
  std::vector<std::int64_t> inside_;  // by device, where devices have names: its place in its domain
  std::vector<std::int64_t> number_;  // by host, likewise
};

// The names of the hosts in use, which may be listed alone or among all.
std::map<std::int64_t, std::string> names_of(const ExportQuestion& question,
                                             const std::set<std::int64_t>& used, std::int64_t all) {
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
    names[host] = given.empty() ? fmt::format("node{:03}", host) : given[at];
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

std::vector<HostLevel> levels_above(const Cluster& cluster, bool split) {
  std::vector<HostLevel> out;
  const std::vector<Level>& levels = cluster.levels();
  for (std::size_t i = split ? 0 : 1; i < levels.size(); ++i)
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
  map.named = !question.hosts.empty();
  map.resource = resource_of(question.inputs.cluster.accelerator());
  map.ranks.resize(static_cast<std::size_t>(p.devices()));
  const Hosts hosts(question);
  const DeviceTree& tree = question.inputs.cluster.tree();
  const std::vector<std::string>& device_names = question.inputs.cluster.parts().device_names;
  map.levels = levels_above(question.inputs.cluster, hosts.split());
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
  const std::map<std::int64_t, std::string> names = names_of(question, used, hosts.count());
  std::map<std::int64_t, std::size_t> index;
  for (std::size_t r = 0; r < map.ranks.size(); ++r) {
    RankRow& row = map.ranks[r];
    const HostPlace place = hosts.place(row.device);
    const auto [entry, fresh] = index.try_emplace(place.host, map.hosts.size());
    if (fresh) {
      map.hosts.push_back({names.at(place.host), {}, {}, place.devices, {}});
      for (std::int32_t l = hosts.split() ? 0 : 1; l < tree.levels(); ++l)
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
