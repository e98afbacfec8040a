#include "nest/price/network/plan_network.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nest/network/groups/sibling_groups.hpp"

namespace nest::price {
namespace {

// All devices of a plan in one list, stage after stage and copy after copy: every group is then a first
// position, a step and a count.
class Devices {
 public:
  Devices(const Cluster& cluster, std::span<const std::vector<Cell>> cells)
      : cluster_(&cluster), ranks_(cluster.tree(), listed(cells)), stages_(cells.size()) {}

  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] const DeviceRanks& ranks() const { return ranks_; }
  [[nodiscard]] std::int64_t per_stage() const {
    return static_cast<std::int64_t>(ranks_.positions() / stages_);
  }

 private:
  static std::vector<DeviceId> listed(std::span<const std::vector<Cell>> cells) {
    std::vector<DeviceId> ids;
    ids.reserve(cells.size() * cells.front().size() * cells.front().front().size());
    for (const std::vector<Cell>& stage : cells) {
      for (const Cell& cell : stage) ids.insert(ids.end(), cell.begin(), cell.end());
    }
    return ids;
  }

  const Cluster* cluster_;
  DeviceRanks ranks_;
  std::size_t stages_;
};

// Groups of several stages, all talking at once, with the stage of each.
class Siblings {
 public:
  explicit Siblings(const Devices& devices) : devices_(&devices) {}

  void add(std::size_t stage, std::int64_t first, std::int64_t step, std::int64_t count) {
    groups_.add_strided(devices_->ranks(), first, step, count);
    stage_.push_back(stage);
    added_.push_back({first, step, count});
  }

  // Distinct shapes by stage.
  [[nodiscard]] std::vector<Shapes> shapes(std::size_t stages) const {
    std::vector<std::vector<GroupShape>> lists(stages);
    if (stage_.empty()) return std::vector<Shapes>(stages);
    const SiblingShapes all = sibling_shapes(devices_->cluster(), devices_->ranks(), groups_, groups_.size());
    std::vector<std::vector<bool>> seen(stages, std::vector<bool>(all.shapes.size(), false));
    for (std::size_t g = 0; g < stage_.size(); ++g) {
      const std::size_t shape = all.of_group[g];
      if (seen[stage_[g]][shape]) continue;
      seen[stage_[g]][shape] = true;
      lists[stage_[g]].push_back(all.shapes[shape]);
    }
    std::vector<Shapes> result;
    result.reserve(stages);
    for (std::vector<GroupShape>& list : lists) result.emplace_back(std::move(list));
    return result;
  }

  // Those of one stage with no other stage talking.
  [[nodiscard]] Shapes alone(std::size_t stage) const {
    Siblings own(*devices_);
    for (std::size_t g = 0; g < stage_.size(); ++g) {
      if (stage_[g] == stage) own.add(0, added_[g].first, added_[g].step, added_[g].count);
    }
    return own.shapes(1).front();
  }

 private:
  struct Added {
    std::int64_t first;
    std::int64_t step;
    std::int64_t count;
  };

  const Devices* devices_;
  GroupList groups_;
  std::vector<std::size_t> stage_;
  std::vector<Added> added_;
};

// Pairs of the same place in two stages.
Shapes pair_shapes(const Devices& devices, std::size_t from, std::size_t to) {
  Siblings siblings(devices);
  const std::int64_t n = devices.per_stage();
  const auto first = static_cast<std::int64_t>(std::min(from, to)) * n;
  const std::int64_t step = static_cast<std::int64_t>(std::max(from, to)) * n - first;
  for (std::int64_t j = 0; j < n; ++j) siblings.add(0, first + j, step, 2);
  return siblings.shapes(1).front();
}

// Ranks that hold the same parameters differ by a multiple of the width: the tensor degree for dense
// parameters, the x*e devices of an expert group for expert parameters.
struct SameParameters {
  std::int64_t (*width)(const Strategy&);
  ParameterGroup StageNetwork::* member;
};

void fill(const Devices& devices, std::span<const Strategy> strategies, const NetworkOptions& options,
          const SameParameters& of, std::vector<StageNetwork>& stages) {
  Siblings whole(devices);
  Siblings inner(devices);
  Siblings outer(devices);
  Siblings nearby(devices);
  const std::int64_t n = devices.per_stage();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::int64_t step = of.width(strategies[i]);
    const std::int64_t base = static_cast<std::int64_t>(i) * n;
    ParameterGroup& group = stages[i].*of.member;
    group.members = n / step;
    group.shards = shards_of(group.members, options.zero_shards);
    group.near = options.near > 0 ? shards_of(group.shards, options.near) : 0;
    const bool split = group.shards < group.members;
    for (std::int64_t r = 0; r < step; ++r) {
      if (group.members > 1) whole.add(i, base + r, step, group.members);
      for (std::int64_t at = 0; split && at < group.members; at += group.shards)
        inner.add(i, base + r + at * step, step, group.shards);
      for (std::int64_t k = 0; split && k < group.shards; ++k)
        outer.add(i, base + r + k * step, step * group.shards, group.members / group.shards);
      for (std::int64_t at = 0; group.near > 1 && at < group.members; at += group.near)
        nearby.add(i, base + r + at * step, step, group.near);
    }
  }
  std::vector<Shapes> w = whole.shapes(stages.size());
  std::vector<Shapes> in = inner.shapes(stages.size());
  std::vector<Shapes> out = outer.shapes(stages.size());
  std::vector<Shapes> near = nearby.shapes(stages.size());
  const bool shares = stages.size() > 1 && links_are_shared(devices.cluster());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ParameterGroup& group = stages[i].*of.member;
    group.whole = std::move(w[i]);
    group.inner = group.shards == group.members ? group.whole : std::move(in[i]);
    group.outer = std::move(out[i]);
    group.nearby = std::move(near[i]);
    if (!shares) continue;
    group.whole_alone = whole.alone(i);
    group.inner_alone = group.shards == group.members ? group.whole_alone : inner.alone(i);
    group.outer_alone = outer.alone(i);
  }
}

bool same(const StageNetwork& a, const StageNetwork& b) {
  return a.cell_class == b.cell_class && a.from_previous == b.from_previous && a.from_next == b.from_next &&
         a.dense == b.dense && a.expert == b.expert;
}

bool plain(const CellNetwork& network, const Strategy& strategy) {
  for (const GroupAxis axis : group_axes(strategy)) {
    if (network.groups(axis).size() > 1) return false;
  }
  return true;
}

// One network for all stages where all their groups look alike, else one for each different stage.
void fill_cells(const Cluster& cluster, const FabricConstants& constants,
                std::span<const Strategy> strategies, std::span<const std::vector<Cell>> cells,
                std::vector<StageNetwork>& stages) {
  const bool uniform = std::all_of(strategies.begin(), strategies.end(),
                                   [&](const Strategy& s) { return s == strategies.front(); });
  if (uniform) {
    std::vector<Cell> all;
    for (const std::vector<Cell>& stage : cells) all.insert(all.end(), stage.begin(), stage.end());
    auto network = std::make_shared<const CellNetwork>(cluster, constants, strategies.front(), all);
    if (plain(*network, strategies.front()) || cells.size() == 1) {
      for (StageNetwork& stage : stages) stage.cell = network;
      return;
    }
  }
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::vector<Cell> others;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (k != i && strategies[k] == strategies[i])
        others.insert(others.end(), cells[k].begin(), cells[k].end());
    }
    auto network = std::make_shared<const CellNetwork>(cluster, constants, strategies[i], cells[i], others);
    const auto known = std::find_if(firsts.begin(), firsts.end(), [&](std::size_t f) {
      return strategies[f] == strategies[i] && same_groups(*stages[f].cell, *network);
    });
    stages[i].cell_class = static_cast<std::size_t>(known - firsts.begin());
    if (known != firsts.end()) {
      stages[i].cell = stages[*known].cell;
    } else {
      stages[i].cell = std::move(network);
      firsts.push_back(i);
    }
  }
}

}  // namespace

bool same_groups(const CellNetwork& a, const CellNetwork& b) {
  for (std::size_t i = 0; i < model::kGroupAxes; ++i) {
    const auto axis = static_cast<GroupAxis>(i);
    if (a.groups(axis) != b.groups(axis)) return false;
  }
  return true;
}

bool links_are_shared(const Cluster& cluster) {
  return std::any_of(cluster.levels().begin(), cluster.levels().end(), [](const Level& level) {
    return level.oversubscription > 1 || level.hops_through_children();
  });
}

std::int64_t shards_of(std::int64_t members, std::int64_t zero_shards) {
  return zero_shards == 0 || zero_shards >= members ? members : std::gcd(members, zero_shards);
}

void find_classes(PlanNetwork& network, std::span<const Strategy> strategies) {
  network.stage_class.clear();
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < network.stages.size(); ++i) {
    const auto known = std::find_if(firsts.begin(), firsts.end(), [&](std::size_t k) {
      return (strategies.empty() || strategies[k] == strategies[i]) &&
             same(network.stages[k], network.stages[i]);
    });
    network.stage_class.push_back(known == firsts.end() ? i : *known);
    if (known == firsts.end()) firsts.push_back(i);
  }
}

namespace {

// The last times that a thread asked for: searches ask for the same ones again and again.
struct KnownTime {
  std::uint64_t model = 0;
  CollectiveKind kind = CollectiveKind::none;
  Bytes bytes;
  Shapes shapes;
  Seconds time;
};
constexpr std::size_t kKnownTimes = 1024;

std::size_t place_of(std::uint64_t model, CollectiveKind kind, Bytes bytes, const Shapes& shapes) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(shapes.number()) >> 4U;
  for (const std::uint64_t part :
       {model, static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(bytes.value)})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15U;
  return (hash >> 32U) % kKnownTimes;
}

}  // namespace

Seconds slowest(CollectiveKind kind, Bytes bytes, const Shapes& shapes, const CollectiveModel& model) {
  if (shapes.empty()) return {};
  thread_local std::vector<KnownTime> known(kKnownTimes);
  KnownTime& own = known[place_of(model.number(), kind, bytes, shapes)];
  if (own.model == model.number() && own.kind == kind && own.bytes == bytes &&
      own.shapes.number() == shapes.number())
    return own.time;
  Seconds most;
  for (const GroupShape& shape : shapes) most = std::max(most, collective_time(kind, bytes, shape, model));
  own = {model.number(), kind, bytes, shapes, most};
  return most;
}

PlanNetwork plan_network(const Cluster& cluster, const FabricConstants& constants,
                         std::span<const Strategy> strategies, std::span<const std::vector<Cell>> cells,
                         const NetworkOptions& options) {
  if (&cluster.sorted() != &cluster) {
    // Of equally full domains the first one counts (GroupLevel): it must be the same one in every order of
    // equal siblings.
    std::vector<std::vector<Cell>> sorted(cells.begin(), cells.end());
    for (std::vector<Cell>& stage : sorted) {
      for (Cell& cell : stage) {
        for (DeviceId& device : cell) device = cluster.id_in_sorted(device);
      }
    }
    return plan_network(cluster.sorted(), constants, strategies, sorted, options);
  }
  PlanNetwork network;
  network.stages.resize(cells.size());
  fill_cells(cluster, constants, strategies, cells, network.stages);
  const Devices devices(cluster, cells);
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    network.stages[i].from_next = pair_shapes(devices, i, i + 1);
    network.stages[i + 1].from_previous = network.stages[i].from_next;
  }
  if (cells.size() > 1 && options.wrap) network.wrap = pair_shapes(devices, 0, cells.size() - 1);
  if (options.tied_first < options.tied_last)
    network.tied = pair_shapes(devices, options.tied_first, options.tied_last);
  const SameParameters dense{[](const Strategy& s) { return s.tensor; }, &StageNetwork::dense};
  fill(devices, strategies, options, dense, network.stages);
  const auto expert_width = [](const Strategy& s) { return s.expert_tensor_degree() * s.expert; };
  const bool alike = std::all_of(strategies.begin(), strategies.end(),
                                 [&](const Strategy& s) { return expert_width(s) == s.tensor; });
  if (alike) {
    for (StageNetwork& stage : network.stages) stage.expert = stage.dense;
  } else {
    fill(devices, strategies, options, {expert_width, &StageNetwork::expert}, network.stages);
  }
  find_classes(network, strategies);
  return network;
}

}  // namespace nest::price
