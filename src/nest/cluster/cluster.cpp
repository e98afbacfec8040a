#include "nest/cluster/cluster.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "nest/base/error.hpp"
#include "nest/cluster/name_list.hpp"
#include "nest/cluster/sibling_order.hpp"

namespace nest::cluster {
namespace {

std::vector<FanOut> fan_outs(const std::vector<Level>& levels) {
  std::vector<FanOut> out;
  out.reserve(levels.size());
  for (const Level& level : levels) out.push_back(level.fan_out);
  return out;
}

// Equal sizes are the uniform case, which needs no memory per domain.
ClusterParts checked(ClusterParts parts) {
  if (const auto found = check_levels(parts.levels)) {
    throw InputError(parts.name, "levels[" + std::to_string(found->level.value) + "]." + found->problem.key,
                     found->problem.what, found->problem.hint);
  }
  for (Level& level : parts.levels) {
    FanOut& fan_out = level.fan_out;
    const bool equal = std::adjacent_find(fan_out.sizes.begin(), fan_out.sizes.end(),
                                          std::not_equal_to<>()) == fan_out.sizes.end();
    if (fan_out.uniform() || !equal) continue;
    fan_out.size = fan_out.sizes.front();
    fan_out.sizes.clear();
  }
  // Of another tree than the file's.
  if (!parts.absences.entries.empty() && parts.absences.left != shapes_of(parts.levels)) parts.absences = {};
  return parts;
}

// The device at the same place of the innermost domain that a device's own one has become.
DeviceId moved(DeviceId device, const DeviceTree& from, const std::vector<std::int32_t>& domains,
               const DeviceTree& to) {
  const std::int32_t domain = from.domain_of(device, LevelId{0});
  const std::int32_t inside = device.value - from.first_device(LevelId{0}, domain).value;
  return DeviceId{to.first_device(LevelId{0}, domains[static_cast<std::size_t>(domain)]).value + inside};
}

// Links, each as wide as a child's share, that the cheapest straight cut across the middle severs.
double grid_cut(const Level& level, std::int32_t children) {
  if (level.kind == LevelKind::ring) return 2;
  double least = 0;
  for (std::size_t d = 0; d < level.dims.size(); ++d) {
    if (level.dims[d] < 2) continue;
    const std::int32_t rows = children / level.dims[d];
    const double cut = rows * (level.wrap[d] ? 2.0 : 1.0);
    least = least == 0 ? cut : std::min(least, cut);
  }
  return least;
}

}  // namespace

std::optional<ClusterProblem> check_levels(const std::vector<Level>& levels) {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelId id{static_cast<std::int32_t>(l)};
    if (auto problem = check_level(levels[l])) return ClusterProblem{id, std::move(*problem)};
    for (std::size_t inner = 0; inner < l; ++inner) {
      if (levels[inner].name != levels[l].name) continue;
      return ClusterProblem{id, {"name", "two levels are called '" + levels[l].name + "'", ""}};
    }
  }
  if (auto problem = check_fan_outs(fan_outs(levels))) {
    const bool listed =
        problem->level.index() < levels.size() && !levels[problem->level.index()].fan_out.uniform();
    const bool grid = problem->level.index() < levels.size() && levels[problem->level.index()].is_grid();
    return ClusterProblem{problem->level,
                          {listed ? "sizes"
                           : grid ? "dims"
                                  : "size",
                           problem->what, problem->hint}};
  }
  return std::nullopt;
}

std::string check_device_names(const std::vector<std::string>& names, std::int64_t devices) {
  if (names.empty()) return "";
  if (static_cast<std::int64_t>(names.size()) != devices)
    return format_digits(static_cast<std::int64_t>(names.size())) + " names, but there are " +
           format_digits(devices) + " devices";
  std::set<std::string_view> known;
  for (const std::string& name : names) {
    if (has_ranges(name)) return "'" + name + "' reads as a range of names";
    if (!known.insert(name).second) return "two devices are called '" + name + "'";
  }
  return "";
}

struct Cluster::Sorted {
  Cluster cluster;
  SiblingOrder order;
};

Cluster::Cluster(ClusterParts parts) : parts_(checked(std::move(parts))), tree_(fan_outs(parts_.levels)) {
  if (std::string problem = check_device_names(parts_.device_names, devices()); !problem.empty())
    throw InputError(parts_.name, "devices", std::move(problem));
  std::optional<SiblingOrder> order = find_sibling_order(parts_.levels, tree_);
  if (!order) return;
  ClusterParts other = parts_;
  other.device_names.clear();
  other.absences = {};
  for (std::size_t l = 0; l < other.levels.size(); ++l) other.levels[l].fan_out = order->fan_outs[l];
  sorted_ = std::make_shared<const Sorted>(Cluster(std::move(other)), std::move(*order));
}

const Cluster& Cluster::sorted() const {
  return sorted_ == nullptr ? *this : sorted_->cluster;
}

DeviceId Cluster::id_in_sorted(DeviceId own) const {
  if (sorted_ == nullptr || own.value < 0 || own.value >= devices()) return own;
  return moved(own, tree_, sorted_->order.sorted, sorted_->cluster.tree());
}

DeviceId Cluster::id_from_sorted(DeviceId sorted) const {
  if (sorted_ == nullptr || sorted.value < 0 || sorted.value >= devices()) return sorted;
  return moved(sorted, sorted_->cluster.tree(), sorted_->order.own, tree_);
}

std::optional<PairRoute> pair_route(const Cluster& cluster, DeviceId a, DeviceId b) {
  const DeviceTree& tree = cluster.tree();
  const std::optional<LevelId> meet = tree.meet(a, b);
  if (!meet) return std::nullopt;
  const Level& level = cluster.level(*meet);
  if (level.kind == LevelKind::switched) return PairRoute{*meet, 1, 1};
  const std::int32_t domain = tree.domain_of(a, *meet);
  const std::int32_t children = tree.children(*meet, domain);
  const std::int32_t first = tree.first_child(*meet, domain);
  const auto child = [&](DeviceId device) {
    return (meet->value == 0 ? device.value : tree.domain_of(device, LevelId{meet->value - 1})) - first;
  };
  return PairRoute{*meet, level.hops(child(a), child(b), children), level.links(children)};
}

BytesPerSecond pair_bandwidth(const Cluster& cluster, DeviceId a, DeviceId b) {
  const PairRoute route = pair_route(cluster, a, b).value();
  return BytesPerSecond{cluster.level(route.level).rate().value / route.links};
}

Seconds pair_latency(const Cluster& cluster, DeviceId a, DeviceId b) {
  const PairRoute route = pair_route(cluster, a, b).value();
  return cluster.level(route.level).latency * static_cast<double>(route.hops);
}

BytesPerSecond bisection(const Cluster& cluster, LevelId id) {
  const DeviceTree& tree = cluster.tree();
  const Level& level = cluster.level(id);
  std::int32_t largest = 0;
  if (!tree.regular(id)) {
    for (std::int32_t d = 1; d < tree.domains(id); ++d) {
      if (tree.devices_in(id, d) > tree.devices_in(id, largest)) largest = d;
    }
  }
  const std::int32_t children = tree.children(id, largest);
  if (children < 2) return BytesPerSecond{0};
  const double mean_child = static_cast<double>(tree.devices_in(id, largest)) / children;
  const double link = mean_child * level.rate().value / level.links(children);
  if (level.hops_through_children()) return BytesPerSecond{grid_cut(level, children) * link};
  const std::int32_t half = children / 2;
  if (level.kind == LevelKind::fully_connected) {
    return BytesPerSecond{static_cast<double>(half) * (children - half) * link / level.oversubscription};
  }
  std::vector<std::int32_t> devices;
  const std::int32_t first = tree.first_child(id, largest);
  for (std::int32_t c = first; c < first + children; ++c) devices.push_back(tree.devices_in_child(id, c));
  std::sort(devices.begin(), devices.end());
  const double smaller_half = std::accumulate(devices.begin(), devices.begin() + half, 0.0);
  return BytesPerSecond{smaller_half * level.rate().value / level.oversubscription};
}

BytesPerSecond bisection(const Cluster& cluster) {
  for (std::int32_t l = cluster.tree().levels(); l-- > 0;) {
    const BytesPerSecond rate = bisection(cluster, LevelId{l});
    if (rate.value > 0) return rate;
  }
  return BytesPerSecond{0};
}

}  // namespace nest::cluster
