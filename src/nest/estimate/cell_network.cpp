#include "nest/estimate/cell_network.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/estimate/group_pattern.hpp"

namespace nest {
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

// Groups of `count` members `inner` ids apart, in all cells, all talking at once.
std::vector<GroupShape> axis_shapes(const Cluster& cluster, std::int64_t cell, std::int64_t inner,
                                    std::int64_t count) {
  if (count <= 1) return {GroupShape{}};
  const std::int64_t span = inner * count;
  if (aligned(cluster, cell) && aligned(cluster, span) && aligned(cluster, inner)) {
    const std::int64_t repeats = std::max<std::int64_t>(1, cluster.devices() / span);
    const GroupPattern pattern{
        DeviceId{0}, {{narrow(inner), narrow(count)}}, {{1, narrow(inner)}, {narrow(span), narrow(repeats)}}};
    return {pattern_shape(cluster, pattern)};
  }
  std::vector<std::vector<DeviceId>> groups;
  for (const std::int64_t start : cell_starts(cluster, cell)) {
    for (std::int64_t block = 0; block + span <= cell; block += span) {
      for (std::int64_t i = 0; i < inner; ++i) {
        std::vector<DeviceId>& group = groups.emplace_back();
        for (std::int64_t m = 0; m < count; ++m) group.emplace_back(narrow(start + block + i + m * inner));
      }
    }
  }
  std::vector<GroupShape> shapes;
  for (const GroupShape& shape : group_shapes(cluster, groups)) {
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace

CellNetwork::CellNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy)
    : cluster_(&cluster), model_(cluster, constants) {
  if (strategy.cell() > cluster.devices()) {
    throw InputError("", cluster.name(),
                     "a cell of " + std::to_string(strategy.cell()) + " devices (" + spell(strategy) +
                         ") does not fit its " + std::to_string(cluster.devices()) + " devices");
  }
  const std::int64_t x = strategy.expert_tensor_degree();
  cell_ = strategy.cell();
  inner_ = {1, strategy.tensor, x, 1};
  for (const GroupAxis axis :
       {GroupAxis::tensor, GroupAxis::context, GroupAxis::expert, GroupAxis::expert_tensor}) {
    const auto i = static_cast<std::size_t>(axis);
    groups_[i] = axis_shapes(cluster, cell_, inner_[i], degree_of(strategy, axis));
  }
}

Seconds CellNetwork::time(const CollectiveShape& collective, Direction direction) const {
  const CollectiveKind kind = direction == Direction::forward ? collective.forward : collective.backward;
  const Bytes bytes = direction == Direction::forward ? collective.forward_bytes : collective.backward_bytes;
  if (kind == CollectiveKind::none) return {};
  const std::int64_t inner = inner_[static_cast<std::size_t>(collective.group)] * collective.stride;
  const std::vector<GroupShape> shapes = collective.members > 0
                                             ? axis_shapes(*cluster_, cell_, inner, collective.members)
                                             : groups(collective.group);
  Seconds slowest;
  for (const GroupShape& shape : shapes)
    slowest = std::max(slowest, collective_time(kind, bytes, shape, model_));
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

}  // namespace nest
