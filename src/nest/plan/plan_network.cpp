#include "nest/plan/plan_network.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nest {
namespace {

using Groups = std::vector<std::vector<DeviceId>>;

// Groups of several stages, all talking at once, with the stage of each.
class Family {
 public:
  std::vector<DeviceId>& add(std::size_t stage) {
    stage_.push_back(stage);
    return groups_.emplace_back();
  }

  // Distinct shapes by stage.
  [[nodiscard]] std::vector<Shapes> shapes(const Cluster& cluster, std::size_t stages) const {
    std::vector<Shapes> result(stages);
    if (groups_.empty()) return result;
    const std::vector<GroupShape> all = group_shapes(cluster, groups_);
    for (std::size_t g = 0; g < all.size(); ++g) {
      Shapes& own = result[stage_[g]];
      if (own.empty() || (!(own.back() == all[g]) && std::find(own.begin(), own.end(), all[g]) == own.end()))
        own.push_back(all[g]);
    }
    return result;
  }

 private:
  Groups groups_;
  std::vector<std::size_t> stage_;
};

Shapes pair_shapes(const Cluster& cluster, const std::vector<Cell>& from, const std::vector<Cell>& to) {
  Family family;
  for (std::size_t k = 0; k < from.size(); ++k) {
    for (std::size_t j = 0; j < from[k].size(); ++j) family.add(0) = {from[k][j], to[k][j]};
  }
  return family.shapes(cluster, 1).front();
}

// Members of the parameter groups of a stage. Dense: of equal tensor rank (width t); expert: of equal rank
// among the x*e of an expert group.
void add_groups(Groups& groups, const std::vector<Cell>& copies, std::int64_t width) {
  const std::size_t first = groups.size();
  groups.resize(first + static_cast<std::size_t>(width));
  for (const Cell& cell : copies) {
    for (std::size_t j = 0; j < cell.size(); ++j)
      groups[first + j % static_cast<std::size_t>(width)].push_back(cell[j]);
  }
}

std::int64_t shards_of(std::int64_t members, std::int64_t zero_shards) {
  return zero_shards == 0 || zero_shards >= members ? members : std::gcd(members, zero_shards);
}

using Width = std::int64_t (*)(const Strategy&);

void fill(const Cluster& cluster, std::span<const Strategy> strategies,
          std::span<const std::vector<Cell>> cells, std::int64_t zero_shards, Width width,
          ParameterGroup StageNetwork::* member, std::vector<StageNetwork>& stages) {
  Family whole;
  Family inner;
  Family outer;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Groups groups;
    add_groups(groups, cells[i], width(strategies[i]));
    ParameterGroup& group = stages[i].*member;
    group.members = static_cast<std::int64_t>(groups.front().size());
    group.shards = shards_of(group.members, zero_shards);
    const auto n = static_cast<std::size_t>(group.shards);
    for (const std::vector<DeviceId>& ids : groups) {
      if (group.members > 1) whole.add(i) = ids;
      if (group.shards == group.members) continue;
      for (std::size_t at = 0; at < ids.size(); at += n)
        inner.add(i).assign(ids.begin() + static_cast<std::ptrdiff_t>(at),
                            ids.begin() + static_cast<std::ptrdiff_t>(at + n));
      for (std::size_t r = 0; r < n; ++r) {
        std::vector<DeviceId>& across = outer.add(i);
        for (std::size_t at = r; at < ids.size(); at += n) across.push_back(ids[at]);
      }
    }
  }
  std::vector<Shapes> w = whole.shapes(cluster, cells.size());
  std::vector<Shapes> in = inner.shapes(cluster, cells.size());
  std::vector<Shapes> out = outer.shapes(cluster, cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    ParameterGroup& group = stages[i].*member;
    group.whole = std::move(w[i]);
    group.inner = group.shards == group.members ? group.whole : std::move(in[i]);
    group.outer = std::move(out[i]);
  }
}

bool same(const ParameterGroup& a, const ParameterGroup& b) {
  return a.members == b.members && a.shards == b.shards && a.whole == b.whole && a.inner == b.inner &&
         a.outer == b.outer;
}

bool same(const StageNetwork& a, const StageNetwork& b) {
  return a.cell_class == b.cell_class && a.from_previous == b.from_previous && a.from_next == b.from_next &&
         same(a.dense, b.dense) && same(a.expert, b.expert);
}

bool plain(const CellNetwork& network) {
  for (const GroupAxis axis :
       {GroupAxis::tensor, GroupAxis::context, GroupAxis::expert, GroupAxis::expert_tensor}) {
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
    if (plain(*network) || cells.size() == 1) {
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
  for (const GroupAxis axis :
       {GroupAxis::tensor, GroupAxis::context, GroupAxis::expert, GroupAxis::expert_tensor}) {
    if (a.groups(axis) != b.groups(axis)) return false;
  }
  return true;
}

Seconds slowest(CollectiveKind kind, Bytes bytes, const Shapes& shapes, const CollectiveModel& model) {
  Seconds most;
  for (const GroupShape& shape : shapes) most = std::max(most, collective_time(kind, bytes, shape, model));
  return most;
}

PlanNetwork plan_network(const Cluster& cluster, const FabricConstants& constants,
                         std::span<const Strategy> strategies, std::span<const std::vector<Cell>> cells,
                         std::int64_t zero_shards) {
  PlanNetwork network;
  network.stages.resize(cells.size());
  fill_cells(cluster, constants, strategies, cells, network.stages);
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    network.stages[i].from_next = pair_shapes(cluster, cells[i], cells[i + 1]);
    network.stages[i + 1].from_previous = network.stages[i].from_next;
  }
  if (cells.size() > 1) {
    network.wrap = pair_shapes(cluster, cells.back(), cells.front());
    network.ends = network.wrap;
  }
  fill(
      cluster, strategies, cells, zero_shards, [](const Strategy& s) { return s.tensor; },
      &StageNetwork::dense, network.stages);
  const auto expert_width = [](const Strategy& s) { return s.expert_tensor_degree() * s.expert; };
  const bool alike = std::all_of(strategies.begin(), strategies.end(),
                                 [&](const Strategy& s) { return expert_width(s) == s.tensor; });
  if (alike) {
    for (StageNetwork& stage : network.stages) stage.expert = stage.dense;
  } else {
    fill(cluster, strategies, cells, zero_shards, expert_width, &StageNetwork::expert, network.stages);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::size_t own = i;
    for (std::size_t k = 0; k < i && own == i; ++k) {
      if (network.stage_class[k] == k && strategies[k] == strategies[i] &&
          same(network.stages[k], network.stages[i]))
        own = k;
    }
    network.stage_class.push_back(own);
  }
  return network;
}

}  // namespace nest
