#include "nest/solve/placements/relaxed.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "nest/network/groups/group_pattern.hpp"

namespace nest::solve {
namespace {

std::int64_t domain_devices(const Cluster& cluster, std::int32_t level) {
  return cluster.tree().devices_in(LevelId(level), 0);
}

bool is_even(const Cluster& cluster) {
  for (std::int32_t l = 0; l < cluster.tree().levels(); ++l) {
    if (!cluster.tree().regular(LevelId(l))) return false;
  }
  return true;
}

bool all_switched(const Cluster& cluster) {
  return std::all_of(cluster.levels().begin(), cluster.levels().end(),
                     [](const Level& level) { return level.kind == LevelKind::switched; });
}

// How much slower a lone member may be at a level than its links are: oversubscription squeezes it unless its
// neighbours leave it their part of the uplink.
double squeeze(const Cluster& cluster, std::int32_t level) {
  const std::int64_t child = level == 0 ? 1 : domain_devices(cluster, level - 1);
  return std::max(1.0, cluster.level(LevelId(level)).oversubscription / static_cast<double>(child));
}

// Whether no member gets a byte, or the own part of a ring or an all-to-all of any size, done faster further
// out. The larger that part is the more it counts: of two members it is as large as what is sent.
bool no_faster_outside(const LevelTerms& in, const LevelTerms& out, double squeezed) {
  const double ring_own = out.trees ? 0 : out.ring_own;  // trees have none
  for (std::size_t p = 0; p < std::size(in.seconds_per_byte); ++p) {
    const double ring = in.seconds_per_byte[p];
    const double exchange = in.exchange_seconds_per_byte[p];
    if (out.seconds_per_byte[p] < ring * squeezed ||
        out.seconds_per_byte[p] * (1 + ring_own) < ring * (squeezed + in.ring_own) ||
        out.exchange_seconds_per_byte[p] < exchange * squeezed ||
        out.exchange_seconds_per_byte[p] * (1 + out.exchange_own) < exchange * (squeezed + in.exchange_own))
      return false;
  }
  if (!out.in_network) return true;
  // A switch that needs peers is half as fast with two members, and never slower than that.
  const double pair = in.reduction_by_peers && !out.reduction_by_peers ? 2 : 1;
  return out.reduction_seconds_per_byte >= in.reduction_seconds_per_byte * squeezed * pair;
}

// Whether everything slows down outwards: one byte, one step, and additions inside a switch.
bool slows_outwards(const Cluster& cluster, const CollectiveModel& model) {
  for (std::int32_t l = 1; l < cluster.tree().levels(); ++l) {
    const Level& inner = cluster.level(LevelId(l - 1));
    const Level& outer = cluster.level(LevelId(l));
    const double squeezed = squeeze(cluster, l - 1);
    if (outer.rate().value * squeezed > inner.rate().value || outer.latency < inner.latency ||
        (outer.in_network_reduction && !inner.in_network_reduction) ||
        !no_faster_outside(model.level(LevelId(l - 1)), model.level(LevelId(l)), squeezed))
      return false;
  }
  return true;
}

// Blocks of so many devices, one after the other, all lie alike: in every domain, and in every row of a grid.
bool aligned(const Cluster& cluster, std::int64_t block) {
  const auto fits = [&](std::int64_t devices) { return devices % block == 0 || block % devices == 0; };
  for (std::int32_t l = 0; l < cluster.tree().levels(); ++l) {
    if (!fits(domain_devices(cluster, l))) return false;
    std::int64_t row = l == 0 ? 1 : domain_devices(cluster, l - 1);
    for (const std::int32_t size : cluster.level(LevelId(l)).dims) {
      row *= size;
      if (!fits(row)) return false;
    }
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
    if (domain_devices(cluster, l) <= width || domain_devices(cluster, l) <= inside) continue;
    candidates.push_back(lone_shape(cluster, inside, 2));
    // On grids, neighbours in the other dimensions too.
    std::int64_t row = inside;
    for (const std::int32_t size : cluster.level(LevelId(l)).dims) {
      if (size > 1) candidates.push_back(lone_shape(cluster, row, 2));
      row *= size;
    }
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

// What a group of so many takes at least where everything slows down outwards: every member sends its part at
// all that a device has, and no message takes any time to arrive.
GroupShape fastest_shape(std::int64_t members) {
  GroupShape shape(static_cast<std::int32_t>(members));
  GroupLevel level;
  level.level = LevelId(0);
  level.members = static_cast<std::int32_t>(members);
  shape.add(level);
  return shape;
}

// What the all-reduce of a shard takes at least, if two members near each other have the shape `pair` and no
// message takes any time to arrive: with s shards of the gradients' S bytes it carries S / s, and s is at most
// `shards`. If ZeRO scatters at the end of a step, that carries (1 - 1/s) S before, at rates that are no
// better: more shards move bytes from here to there, and with two shards each carries half of S.
GroupShape rest_shape(const GroupShape& pair, std::int64_t shards, Zero zero) {
  GroupShape shape(2);
  GroupLevel level;
  level.level = pair.outermost().level;
  level.members = 2;
  level.or_more = true;
  if (zero.scatters_at_step_end()) level.load = level.lone = static_cast<double>(shards) / 2;
  shape.add(level);
  return shape;
}

// The same for groups that may have more members: these can be faster where a switch adds up, and their own
// parts are smaller.
GroupShape or_more(const GroupShape& shape) {
  GroupShape out(shape.members());
  for (GroupLevel level : shape.levels()) {
    level.or_more = true;
    out.add(level);
  }
  return out;
}

// Ranks that hold the same parameters, side by side.
struct Packing {
  std::int64_t width = 1;
  ShardKind kind = ShardKind::any;
  Zero zero;
  bool listed = false;
  enum class Known {
    nothing,
    rates,   // that no device sends more than its own bandwidth
    shapes,  // on switches also that groups side by side are the fastest
  } known = Known::nothing;
};

// So many of the members that blocks of them are aligned.
std::int64_t aligned_members(const Cluster& cluster, std::int64_t width, std::int64_t members) {
  while (members > 1 && (width * members > cluster.devices() || !aligned(cluster, width * members)))
    --members;
  return members;
}

void pack(const Cluster& cluster, std::int64_t members, const Packing& packing, ParameterGroup& group) {
  const auto& [width, kind, zero, listed, known] = packing;
  group.members = members;
  group.shards =
      kind == ShardKind::part && members > 1 && !listed ? std::max<std::int64_t>(1, members / 2) : members;
  if (kind == ShardKind::any || known == Packing::Known::nothing || members == 1) return;
  if (kind == ShardKind::part && listed) return;
  const std::int64_t wanted = kind == ShardKind::whole ? members : 2;
  std::optional<GroupShape> shape;
  if (known == Packing::Known::rates) {
    shape = fastest_shape(wanted);
  } else if (aligned(cluster, width)) {
    const std::int64_t count = aligned_members(cluster, width, wanted);
    if (count > 1) shape = lone_shape(cluster, width, count);
  }
  if (shape && (kind == ShardKind::part || shape->members() < members)) shape = or_more(*shape);
  Shapes shapes = shape ? Shapes({*shape}) : Shapes();
  group.inner = shapes;
  if (kind == ShardKind::part && !shapes.empty())
    group.outer = Shapes({rest_shape(shapes.front(), group.shards, zero)});
  if (kind == ShardKind::whole) group.whole = std::move(shapes);
}

}  // namespace

std::optional<Cluster> even_cluster(const Cluster& cluster) {
  ClusterParts parts = cluster.parts();
  parts.device_names.clear();
  bool uneven = false;
  for (Level& level : parts.levels) {
    if (level.fan_out.uniform()) continue;
    if (level.kind != LevelKind::switched) return std::nullopt;
    level.fan_out = {*std::max_element(level.fan_out.sizes.begin(), level.fan_out.sizes.end()), {}};
    uneven = true;
  }
  if (!uneven || check_levels(parts.levels)) return std::nullopt;
  return Cluster(std::move(parts));
}

RelaxedNetwork relaxed_network(const Cluster& cluster, const FabricConstants& constants,
                               const CollectiveModel& collectives, const RelaxedQuestion& question) {
  const auto& [strategy, copies, kind, zero, listed, uneven] = question;
  RelaxedNetwork made;
  const std::int64_t cell = strategy.cell();
  std::vector<Cell> first(1);
  for (std::int32_t j = 0; j < cell; ++j) first.front().emplace_back(j);
  made.stage.cell = std::make_shared<const CellNetwork>(cluster, constants, strategy, first);
  const bool even = is_even(cluster);
  const bool slows = even && slows_outwards(cluster, collectives);
  // An uneven tree is part of `cluster`, but its cells may lie in other ways.
  made.collectives = even && (!uneven || slows) &&
                     (cell <= domain_devices(cluster, 0) || aligned(cluster, cell)) &&
                     aligned(cluster, strategy.tensor) &&
                     (!strategy.hybrid() || aligned(cluster, strategy.tensor * strategy.trading_ranks())) &&
                     aligned(cluster, strategy.tensor * strategy.context) &&
                     aligned(cluster, strategy.expert_tensor_degree()) &&
                     aligned(cluster, strategy.expert_tensor_degree() * strategy.expert);
  if (even) made.stage.from_previous = made.stage.from_next = nearest_pair(cluster, collectives, cell);
  const Packing::Known certain = !slows                  ? Packing::Known::nothing
                                 : all_switched(cluster) ? Packing::Known::shapes
                                                         : Packing::Known::rates;
  const std::int64_t ranks = copies * cell;
  pack(cluster, ranks / strategy.tensor, {strategy.tensor, kind, zero, listed, certain}, made.stage.dense);
  const std::int64_t width = strategy.expert_tensor_degree() * strategy.expert;
  // Fewer ranks than the dense group's shards, or a common divisor: what that leaves is not known here.
  const bool same = kind == ShardKind::whole && ranks / width <= ranks / strategy.tensor;
  pack(cluster, ranks / width, {width, same ? kind : ShardKind::any, zero, listed, certain},
       made.stage.expert);
  return made;
}

}  // namespace nest::solve
