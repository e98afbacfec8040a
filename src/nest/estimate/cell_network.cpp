#include "nest/estimate/cell_network.hpp"

#include <algorithm>
#include <string>

#include "nest/base/error.hpp"
#include "nest/estimate/group_pattern.hpp"

namespace nest {
namespace {

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

// `inner` neighbours belong to other groups, then `count` members a stride apart; the pattern repeats over
// the cluster.
GroupShape axis_shape(const Cluster& cluster, std::int64_t inner, std::int64_t count) {
  if (count <= 1) return {};
  const std::int64_t span = inner * count;
  const std::int64_t repeats = cluster.devices() / span;
  const GroupPattern pattern{
      DeviceId{0},
      {{narrow(inner), narrow(count)}},
      {{1, narrow(inner)}, {narrow(span), narrow(std::max<std::int64_t>(repeats, 1))}}};
  return pattern_shape(cluster, pattern);
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
  inner_ = {1, strategy.tensor, x, 1};
  for (const GroupAxis axis :
       {GroupAxis::tensor, GroupAxis::context, GroupAxis::expert, GroupAxis::expert_tensor}) {
    const auto i = static_cast<std::size_t>(axis);
    groups_[i] = axis_shape(cluster, inner_[i], degree_of(strategy, axis));
  }
}

Seconds CellNetwork::time(const CollectiveShape& collective, Direction direction) const {
  const CollectiveKind kind = direction == Direction::forward ? collective.forward : collective.backward;
  const Bytes bytes = direction == Direction::forward ? collective.forward_bytes : collective.backward_bytes;
  if (kind == CollectiveKind::none) return {};
  const std::int64_t inner = inner_[static_cast<std::size_t>(collective.group)] * collective.stride;
  const GroupShape shape =
      collective.members > 0 ? axis_shape(*cluster_, inner, collective.members) : group(collective.group);
  return static_cast<double>(collective.repeats) * collective_time(kind, bytes, shape, model_);
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
