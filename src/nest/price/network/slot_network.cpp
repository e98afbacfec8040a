#include "nest/price/network/slot_network.hpp"

#include <algorithm>
#include <optional>

namespace nest::price {
namespace {

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// The same of groups that do not fill their cell.
std::vector<GroupShape> listed_groups(const Cluster& cluster, const CellLayout& layout,
                                      std::optional<std::size_t> slot, std::int64_t inner,
                                      std::int64_t members) {
  std::vector<Cell> cells;
  std::vector<Cell> others;
  for (auto spot = layout.first_after(0); spot; spot = layout.next(*spot)) {
    const bool own = !slot || index(spot->number / layout.shape().inner) == *slot;
    Cell& cell = (own ? cells : others).emplace_back();
    for (std::int64_t j = 0; j < layout.shape().cell; ++j)
      cell.emplace_back(static_cast<std::int32_t>(spot->start + j));
  }
  const Strategy wide{.tensor = layout.shape().cell};
  return CellNetwork(cluster, ideal_constants(cluster), wide, cells, others).groups(inner, members);
}

// The groups of cells of one slot, or of all, that no axis of the strategy names. The layout is found anew:
// a cell network may outlive the placement's.
std::vector<GroupShape> part_groups(const Cluster& cluster, const PlacementShape& shape,
                                    std::optional<std::size_t> slot, std::int64_t inner,
                                    std::int64_t members) {
  if (members <= 1) return {GroupShape{}};
  const CellLayout layout(cluster.tree(), shape);
  if (shape.cell % (inner * members) != 0) return listed_groups(cluster, layout, slot, inner, members);
  SlotSiblings siblings(cluster, layout);
  const std::vector<Shapes> found = siblings.chunks(inner, members).together;
  std::vector<GroupShape> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!slot || *slot == i) out.insert(out.end(), found[i].begin(), found[i].end());
  }
  make_canonical(out);
  return out;
}

}  // namespace

std::unique_ptr<SlotNetwork> SlotNetwork::make(const Cluster& cluster, const FabricConstants& constants,
                                               const Strategy& strategy, const PlacementShape& shape) {
  const Cluster& sorted = cluster.sorted();
  const std::optional<std::int64_t> block = fitting_block(sorted.tree(), shape);
  if (!block) return nullptr;
  PlacementShape own = shape;
  own.block_devices = *block;
  own.first_stage_first = false;
  return std::unique_ptr<SlotNetwork>(new SlotNetwork(sorted, constants, strategy, own));
}

SlotNetwork::SlotNetwork(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
                         const PlacementShape& shape)
    : cluster_(&cluster),
      constants_(&constants),
      strategy_(strategy),
      shape_(shape),
      layout_(cluster.tree(), shape),
      siblings_(cluster, layout_),
      shares_links_(shape.stages > 1 && links_are_shared(cluster)) {
  dense_.width = strategy.tensor;
  expert_.width = strategy.expert_tensor_degree() * strategy.expert;
  find_cells();
  std::vector<Slots> next;
  for (std::int64_t i = 0; i + 1 < shape_.stages; ++i) next.emplace_back(i, i + 1);
  if (!next.empty()) neighbours_ = siblings_.pairs(next);
}

SlotTable SlotNetwork::slots(bool first_stage_first) const {
  PlacementShape shape = shape_;
  shape.first_stage_first = first_stage_first;
  return *place_cells(cluster_->tree(), shape);
}

std::vector<std::int64_t> SlotNetwork::zero_shards() const {
  const DeviceTree& tree = cluster_->tree();
  const std::int64_t in_cell = shape_.cell / strategy_.tensor;
  const std::int64_t group = shape_.inner * shape_.outer * in_cell;
  const DeviceId first(static_cast<std::int32_t>(layout_.start(0, 0)));
  std::vector<std::int64_t> sizes;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const std::int32_t domain = tree.domain_of(first, LevelId(l));
    const std::int64_t end =
        tree.first_device(LevelId(l), domain).value + tree.devices_in(LevelId(l), domain);
    std::int64_t ranks = group;
    // The cell at the domain's end: those of the lowest slot before it, and its own ranks inside.
    if (const auto spot = layout_.first_after(end - 1)) {
      ranks = (spot->block * shape_.inner + std::min(spot->number, shape_.inner)) * in_cell;
      if (spot->number < shape_.inner && spot->start < end)
        ranks += std::min(in_cell, (end - spot->start + strategy_.tensor - 1) / strategy_.tensor);
    }
    add_shard_size(ranks, group, sizes);
  }
  return sizes;
}

void SlotNetwork::find_cells() {
  const auto inner = inner_ids(strategy_);
  std::array<std::int64_t, model::kGroupAxes> members{};
  const std::size_t axes = group_axes(strategy_).size();
  for (std::size_t i = 0; i < axes; ++i) {
    members[i] = degree_of(strategy_, static_cast<GroupAxis>(i));
    std::size_t same = 0;
    while (same < i && (inner[same] != inner[i] || members[same] != members[i])) ++same;
    if (same < i) {
      cell_groups_[i] = cell_groups_[same];
    } else if (members[i] > 1) {
      cell_groups_[i] = siblings_.chunks(inner[i], members[i]).together;
    } else {
      cell_groups_[i].assign(index(shape_.stages), Shapes({GroupShape{}}));
    }
    const Shapes& first = cell_groups_[i].front();
    cells_alike_ = cells_alike_ && first.size() == 1 &&
                   std::all_of(cell_groups_[i].begin(), cell_groups_[i].end(),
                               [&](const Shapes& s) { return s == first; });
  }
  cells_alike_ = cells_alike_ || shape_.stages == 1;
  cells_.resize(cells_alike_ ? 1 : index(shape_.stages));
}

std::shared_ptr<const CellNetwork> SlotNetwork::cell(std::size_t slot) {
  const std::size_t at = cells_alike_ ? 0 : slot;
  if (cells_[at]) return cells_[at];
  CellNetwork::AxisGroups groups;
  for (std::size_t i = 0; i < group_axes(strategy_).size(); ++i)
    groups[i].assign(cell_groups_[i][at].begin(), cell_groups_[i][at].end());
  const std::optional<std::size_t> only = cells_alike_ ? std::nullopt : std::optional(at);
  cells_[at] = std::make_shared<const CellNetwork>(
      *cluster_, *constants_, strategy_, std::move(groups),
      [cluster = cluster_, shape = shape_, only](std::int64_t inner, std::int64_t members) {
        return part_groups(*cluster, shape, only, inner, members);
      });
  return cells_[at];
}

void SlotNetwork::fill_cells(std::vector<StageNetwork>& stages, bool first_stage_first) {
  std::vector<std::size_t> firsts;  // slots with different groups
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::size_t slot = first_stage_first ? i : stages.size() - 1 - i;
    const auto alike = [&](std::size_t other) {
      return cells_alike_ || std::ranges::all_of(cell_groups_, [&](const auto& groups) {
               return groups.empty() || groups[slot] == groups[other];
             });
    };
    const auto known = std::find_if(firsts.begin(), firsts.end(), alike);
    stages[i].cell_class = static_cast<std::size_t>(known - firsts.begin());
    if (known == firsts.end()) firsts.push_back(slot);
    stages[i].cell = cell(firsts[stages[i].cell_class]);
  }
}

Shapes SlotNetwork::pair(std::int64_t a, std::int64_t b) {
  const Slots slots{std::min(a, b), std::max(a, b)};
  if (slots.second == slots.first + 1) return neighbours_[index(slots.first)];
  for (const auto& [known, shapes] : pairs_) {
    if (known == slots) return shapes;
  }
  return pairs_.emplace_back(slots, siblings_.pairs({slots}).front()).second;
}

std::vector<ParameterGroup> SlotNetwork::made_groups(Parameters& parameters, const Sizes& sizes) {
  const auto [shards, near] = sizes;
  const std::int64_t members = shape_.inner * shape_.outer * shape_.cell / parameters.width;
  if (members > 1 && parameters.whole.together.empty())
    parameters.whole = siblings_.spread(parameters.width, 1, shares_links_);
  SlotShapes inner;
  SlotShapes outer;
  if (shards < members) {
    outer = siblings_.spread(parameters.width, shards, shares_links_);
    if (shards > 1) {
      inner = siblings_.chunks(parameters.width, shards, shares_links_);
    } else {
      inner.together.assign(index(shape_.stages), Shapes({GroupShape{}}));
      if (shares_links_) inner.alone = inner.together;
    }
  }
  SlotShapes nearby;
  if (near > 1) nearby = siblings_.chunks(parameters.width, near);
  std::vector<ParameterGroup> out(index(shape_.stages));
  for (std::size_t i = 0; i < out.size(); ++i) {
    ParameterGroup& g = out[i];
    g.members = members;
    g.shards = shards;
    g.near = near;
    if (near > 1) g.nearby = nearby.together[i];
    if (members == 1) continue;
    const bool split = shards < members;
    g.whole = parameters.whole.together[i];
    g.inner = split ? inner.together[i] : g.whole;
    if (split) g.outer = outer.together[i];
    if (!shares_links_) continue;
    g.whole_alone = parameters.whole.alone[i];
    g.inner_alone = split ? inner.alone[i] : g.whole_alone;
    if (split) g.outer_alone = outer.alone[i];
  }
  return out;
}

const std::vector<ParameterGroup>& SlotNetwork::groups(Parameters& parameters,
                                                       const NetworkOptions& options) {
  const std::int64_t members = shape_.inner * shape_.outer * shape_.cell / parameters.width;
  const std::int64_t shards = shards_of(members, options.zero_shards);
  const Sizes sizes{shards, options.near > 0 ? shards_of(shards, options.near) : 0};
  for (const auto& [known, groups] : parameters.groups) {
    if (known == sizes) return groups;
  }
  return parameters.groups.emplace_back(sizes, made_groups(parameters, sizes)).second;
}

PlanNetwork SlotNetwork::network(const NetworkOptions& options, bool first_stage_first) {
  const std::int64_t p = shape_.stages;
  const auto slot = [&](std::size_t stage) {
    const auto i = static_cast<std::int64_t>(stage);
    return first_stage_first ? i : p - 1 - i;
  };
  PlanNetwork out;
  out.stages.resize(index(p));
  fill_cells(out.stages, first_stage_first);
  const std::vector<ParameterGroup>& dense = groups(dense_, options);
  const std::vector<ParameterGroup>& expert =
      expert_.width == dense_.width ? dense : groups(expert_, options);
  for (std::size_t i = 0; i < out.stages.size(); ++i) {
    StageNetwork& stage = out.stages[i];
    stage.dense = dense[index(slot(i))];
    stage.expert = expert[index(slot(i))];
    if (i > 0) stage.from_previous = pair(slot(i - 1), slot(i));
    if (i + 1 < out.stages.size()) stage.from_next = pair(slot(i), slot(i + 1));
  }
  if (p > 1 && options.wrap) out.wrap = pair(0, p - 1);
  if (options.tied_first < options.tied_last)
    out.tied = pair(slot(options.tied_first), slot(options.tied_last));
  find_classes(out);
  return out;
}

}  // namespace nest::price
