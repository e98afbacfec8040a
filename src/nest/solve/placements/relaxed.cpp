#include "nest/solve/placements/relaxed.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "nest/network/groups/group_pattern.hpp"

namespace nest::solve {
namespace {

std::int64_t domain_devices(const Cluster& cluster, std::int32_t level) {
  return cluster.tree().devices_in(LevelId(level), 0);
}

// Switches all the way, all domains of a level alike.
bool is_plain(const Cluster& cluster) {
  for (std::int32_t l = 0; l < cluster.tree().levels(); ++l) {
    if (cluster.level(LevelId(l)).kind != LevelKind::switched || !cluster.tree().regular(LevelId(l)))
      return false;
  }
  return true;
}

// No level is faster than one inside it.
bool slows_outwards(const Cluster& cluster) {
  for (std::size_t l = 1; l < cluster.levels().size(); ++l) {
    const Level& inner = cluster.levels()[l - 1];
    const Level& outer = cluster.levels()[l];
    if (outer.bandwidth > inner.bandwidth || outer.latency < inner.latency ||
        (outer.in_network_reduction && !inner.in_network_reduction))
      return false;
  }
  return true;
}

bool aligned(const Cluster& cluster, std::int64_t block) {
  for (std::int32_t l = 0; l < cluster.tree().levels(); ++l) {
    const std::int64_t devices = domain_devices(cluster, l);
    if (devices % block != 0 && block % devices != 0) return false;
  }
  return true;
}

GroupShape lone_shape(const Cluster& cluster, std::int64_t stride, std::int64_t count) {
  return pattern_shape(
      cluster, {DeviceId{0}, {{static_cast<std::int32_t>(stride), static_cast<std::int32_t>(count)}}, {}});
}

// Of cells `width` apart or more: the shape that no other is faster than, whatever the bytes.
Shapes nearest_pair(const Cluster& cluster, const CollectiveModel& model, std::int64_t width) {
  std::vector<GroupShape> candidates;
  for (std::int32_t l = 0; l < cluster.tree().levels(); ++l) {
    const std::int64_t inside = l == 0 ? 1 : domain_devices(cluster, l - 1);
    if (domain_devices(cluster, l) > width && domain_devices(cluster, l) > inside)
      candidates.push_back(lone_shape(cluster, inside, 2));
  }
  constexpr std::array<std::int64_t, 6> kBytes{1, 1'000, 100'000, 10'000'000, 1'000'000'000, 100'000'000'000};
  for (const GroupShape& shape : candidates) {
    const bool best = std::all_of(candidates.begin(), candidates.end(), [&](const GroupShape& other) {
      return std::all_of(kBytes.begin(), kBytes.end(), [&](std::int64_t bytes) {
        return collective_time(CollectiveKind::send, Bytes{bytes}, shape, model) <=
               collective_time(CollectiveKind::send, Bytes{bytes}, other, model);
      });
    });
    if (best) return Shapes({shape});
  }
  return {};
}

// Ranks that hold the same parameters, side by side.
struct Packing {
  std::int64_t width = 1;
  ShardKind kind = ShardKind::any;
  bool listed = false;
  bool certain = false;  // the cluster is one of which it is known what is fastest
};

void pack(const Cluster& cluster, std::int64_t members, const Packing& packing, ParameterGroup& group) {
  const auto& [width, kind, listed, certain] = packing;
  group.members = members;
  group.shards =
      kind == ShardKind::part && members > 1 && !listed ? std::max<std::int64_t>(1, members / 2) : members;
  if (kind == ShardKind::any || !certain || !aligned(cluster, width) || members == 1) return;
  if (kind == ShardKind::whole) {
    if (!aligned(cluster, width * members)) return;
    group.whole = group.inner = Shapes({lone_shape(cluster, width, members)});
  } else if (!listed && aligned(cluster, 2 * width) && 2 * width <= cluster.devices()) {
    group.inner = Shapes({lone_shape(cluster, width, 2)});
  }
}

}  // namespace

RelaxedNetwork relaxed_network(const Cluster& cluster, const FabricConstants& constants,
                               const CollectiveModel& collectives, const RelaxedQuestion& question) {
  const auto& [strategy, copies, kind, listed] = question;
  RelaxedNetwork made;
  const std::int64_t cell = strategy.cell();
  const bool plain = is_plain(cluster);
  std::vector<Cell> first(1);
  for (std::int32_t j = 0; j < cell; ++j) first.front().emplace_back(j);
  made.stage.cell = std::make_shared<const CellNetwork>(cluster, constants, strategy, first);
  made.collectives = plain && (cell <= domain_devices(cluster, 0) || aligned(cluster, cell)) &&
                     aligned(cluster, strategy.tensor) &&
                     aligned(cluster, strategy.tensor * strategy.context) &&
                     aligned(cluster, strategy.expert_tensor_degree()) &&
                     aligned(cluster, strategy.expert_tensor_degree() * strategy.expert);
  if (plain) made.stage.from_previous = made.stage.from_next = nearest_pair(cluster, collectives, cell);
  const bool certain = plain && slows_outwards(cluster);
  const std::int64_t ranks = copies * cell;
  pack(cluster, ranks / strategy.tensor, {strategy.tensor, kind, listed, certain}, made.stage.dense);
  const std::int64_t width = strategy.expert_tensor_degree() * strategy.expert;
  // Fewer ranks than the dense group's shards, or a common divisor: what that leaves is not known here.
  const bool same = kind == ShardKind::whole && ranks / width <= ranks / strategy.tensor;
  pack(cluster, ranks / width, {width, same ? kind : ShardKind::any, listed, certain}, made.stage.expert);
  return made;
}

}  // namespace nest::solve
