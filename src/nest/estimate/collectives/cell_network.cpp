#include "nest/estimate/collectives/cell_network.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/estimate/collectives/token_exchange.hpp"
#include "nest/network/groups/group_pattern.hpp"
#include "nest/network/groups/sibling_groups.hpp"

namespace nest::estimate {
namespace {

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

// Whether blocks of so many ids, laid from 0 on, never straddle a domain that they could fit in.
bool aligned(const Cluster& cluster, std::int64_t block) {
  const DeviceTree& tree = cluster.tree();
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    if (!tree.regular(LevelId(l))) return false;
    const std::int64_t devices = tree.devices_in(LevelId(l), 0);
    if (devices % block != 0 && block % devices != 0) return false;
  }
  return true;
}

// First devices of the cells: a cell moves to the next edge where it would straddle a domain that it could
// fit in.
std::vector<std::int64_t> cell_starts(const Cluster& cluster, std::int64_t cell) {
  constexpr std::size_t kMostCells = 1024;  // enough for every way to lie across domains to occur
  const DeviceTree& tree = cluster.tree();
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at + cell <= cluster.devices() && starts.size() < kMostCells;) {
    std::int64_t moved = at;
    for (std::int32_t l = 0; l < tree.levels() && moved == at; ++l) {
      const std::int32_t domain = tree.domain_of(DeviceId(narrow(at)), LevelId(l));
      const std::int64_t size = tree.devices_in(LevelId(l), domain);
      const std::int64_t end = tree.first_device(LevelId(l), domain).value + size;
      if (cell <= size && at + cell > end) moved = end;
    }
    if (moved == at) {
      starts.push_back(at);
      at += cell;
    } else {
      at = moved;
    }
  }
  if (starts.empty()) starts.push_back(0);
  return starts;
}

// Groups of `count` members `inner` ids apart within their cell.
struct Spacing {
  std::int64_t inner = 1;
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t span() const { return inner * count; }
  bool operator==(const Spacing&) const = default;
};

// Of cells one after the other in the list that the ranks were made of; the shapes of the first `priced`
// cells.
std::vector<GroupShape> listed_shapes(const Cluster& cluster, const DeviceRanks& ranks, std::int64_t cell,
                                      std::size_t priced, const Spacing& s) {
  if (s.count <= 1) return {GroupShape{}};
  const auto devices = static_cast<std::int64_t>(ranks.positions());
  GroupList groups;
  groups.reserve(static_cast<std::size_t>(devices / s.count), ranks.positions());
  std::size_t wanted = 0;
  for (std::int64_t start = 0; start < devices; start += cell) {
    for (std::int64_t block = 0; block + s.span() <= cell; block += s.span()) {
      for (std::int64_t i = 0; i < s.inner; ++i)
        groups.add_strided(ranks, start + block + i, s.inner, s.count);
    }
    if (start == (static_cast<std::int64_t>(priced) - 1) * cell) wanted = groups.size();
  }
  // Different facts may lead to the same shape.
  std::vector<GroupShape> shapes = sibling_shapes(cluster, ranks, groups, wanted).shapes;
  make_canonical(shapes);
  return shapes;
}

// Of cells that fill the cluster.
std::vector<GroupShape> filling_shapes(const Cluster& cluster, std::int64_t cell, const Spacing& s) {
  if (s.count <= 1) return {GroupShape{}};
  if (aligned(cluster, cell) && aligned(cluster, s.span()) && aligned(cluster, s.inner)) {
    const std::int64_t repeats = std::max<std::int64_t>(1, cluster.devices() / s.span());
    const GroupPattern pattern{DeviceId{0},
                               {{narrow(s.inner), narrow(s.count)}},
                               {{1, narrow(s.inner)}, {narrow(s.span()), narrow(repeats)}}};
    return {pattern_shape(cluster, pattern)};
  }
  const std::vector<std::int64_t> starts = cell_starts(cluster, cell);
  std::vector<DeviceId> devices;
  for (const std::int64_t start : starts) {
    for (std::int64_t j = 0; j < cell; ++j) devices.emplace_back(narrow(start + j));
  }
  return listed_shapes(cluster, DeviceRanks(cluster.tree(), devices), cell, starts.size(), s);
}

}  // namespace

std::array<std::int64_t, model::kGroupAxes> inner_ids(const Strategy& strategy) {
  const std::int64_t t = strategy.tensor;
  return {1, t, strategy.expert_tensor_degree(), 1, t, t * degree_of(strategy, GroupAxis::context_inner)};
}

CellNetwork::CellNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy)
    : cluster_(&cluster.sorted()),
      model_(cluster, constants),
      cell_(strategy.cell()),
      inner_(inner_ids(strategy)) {
  if (cell_ > cluster.devices()) {
    throw InputError("", cluster.name(),
                     "a cell of " + std::to_string(cell_) + " devices (" + spell(strategy) +
                         ") does not fit its " + std::to_string(cluster.devices()) + " devices");
  }
  for (const GroupAxis axis : group_axes(strategy)) {
    const auto i = static_cast<std::size_t>(axis);
    groups_[i] = filling_shapes(*cluster_, cell_, {inner_[i], degree_of(strategy, axis)});
  }
}

CellNetwork::CellNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
                         std::span<const std::vector<DeviceId>> cells,
                         std::span<const std::vector<DeviceId>> others)
    : cluster_(&cluster),
      model_(cluster, constants),
      cell_(strategy.cell()),
      priced_(cells.size()),
      inner_(inner_ids(strategy)) {
  devices_.reserve((cells.size() + others.size()) * static_cast<std::size_t>(cell_));
  for (const auto& list : {cells, others}) {
    for (const std::vector<DeviceId>& cell : list) {
      if (static_cast<std::int64_t>(cell.size()) != cell_) {
        throw InputError("", cluster.name(),
                         "a cell of " + std::to_string(cell_) + " devices (" + spell(strategy) + ") lists " +
                             std::to_string(cell.size()));
      }
      devices_.insert(devices_.end(), cell.begin(), cell.end());
    }
  }
  std::optional<DeviceRanks> ranks;
  std::array<Spacing, model::kGroupAxes> spacings;
  for (const GroupAxis axis : group_axes(strategy)) {
    const auto i = static_cast<std::size_t>(axis);
    spacings[i] = {inner_[i], degree_of(strategy, axis)};
    // Experts split as the rest of the layer have its tensor groups.
    const auto same =
        static_cast<std::size_t>(std::find(spacings.begin(), spacings.end(), spacings[i]) - spacings.begin());
    if (spacings[i].count > 1 && !ranks) ranks.emplace(cluster.tree(), devices_);
    if (same < i)
      groups_[i] = groups_[same];
    else if (spacings[i].count > 1)
      groups_[i] = listed_shapes(cluster, *ranks, cell_, priced_, spacings[i]);
    else
      groups_[i] = {GroupShape{}};
  }
}

CellNetwork::CellNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
                         AxisGroups groups, Groups parts)
    : cluster_(&cluster),
      model_(cluster, constants),
      cell_(strategy.cell()),
      inner_(inner_ids(strategy)),
      groups_(std::move(groups)),
      parts_(std::move(parts)) {}

std::vector<GroupShape> CellNetwork::groups(std::int64_t inner, std::int64_t members) const {
  const Spacing spacing{inner, members};
  if (parts_) return parts_(inner, members);
  if (priced_ == 0) return filling_shapes(*cluster_, cell_, spacing);
  return listed_shapes(*cluster_, DeviceRanks(cluster_->tree(), devices_), cell_, priced_, spacing);
}

Seconds CellNetwork::time(const CollectiveCall& collective, Direction direction) const {
  const CollectiveKind kind = direction == Direction::forward ? collective.forward : collective.backward;
  const Bytes bytes = direction == Direction::forward ? collective.forward_bytes : collective.backward_bytes;
  if (kind == CollectiveKind::none) return {};
  const std::int64_t inner = inner_[static_cast<std::size_t>(collective.group)] * collective.stride;
  const std::vector<GroupShape> parts =
      collective.members > 0 ? groups(inner, collective.members) : std::vector<GroupShape>{};
  Seconds slowest;
  for (const GroupShape& shape : collective.members > 0 ? parts : groups(collective.group))
    slowest =
        std::max(slowest, collective.route.experts > 0 && collective.route.dispatcher != Dispatcher::alltoall
                              ? exchange_cost(collective.route, bytes, shape, model_).total
                              : collective_time(kind, bytes, shape, model_));
  return static_cast<double>(collective.repeats) * slowest;
}

Cluster usual_cluster(const Accelerator& accelerator) {
  constexpr std::int32_t kNode = 8;
  constexpr std::int32_t kNodes = 128;
  constexpr BytesPerSecond kUnknownLink{50e9};
  Level node;
  node.name = "node";
  node.fan_out.size = kNode;
  node.bandwidth = accelerator.scale_up_bandwidth.value_or(kUnknownLink);
  node.latency = Seconds{1e-6};
  Level network;
  network.name = "network";
  network.fan_out.size = kNodes;
  network.bandwidth = accelerator.nic_bandwidth.value_or(kUnknownLink);
  network.latency = Seconds{5e-6};
  return Cluster({accelerator.name, accelerator, {node, network}, "the accelerator's usual node", "", ""});
}

}  // namespace nest::estimate
