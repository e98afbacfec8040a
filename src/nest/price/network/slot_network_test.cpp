#include "nest/price/network/slot_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nest/cluster/catalog.hpp"
#include "nest/plan/test_plans.hpp"

namespace nest::price {
namespace {

using test::Dice;
using ::testing::ElementsAre;

PlanNetwork listed(const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
                   const SlotTable& slots, const NetworkOptions& options) {
  std::vector<std::vector<Cell>> cells;
  const std::size_t stages = slots.starts.size() / static_cast<std::size_t>(slots.copies);
  cells.reserve(stages);
  for (std::size_t i = 0; i < stages; ++i) cells.push_back(own_cells(cluster, slots, i));
  return plan_network(cluster, constants, std::vector<Strategy>(stages, strategy), cells, options);
}

void expect_same(const PlanNetwork& quick, const PlanNetwork& slow) {
  ASSERT_EQ(quick.stages.size(), slow.stages.size());
  for (std::size_t i = 0; i < slow.stages.size(); ++i) {
    SCOPED_TRACE("stage " + std::to_string(i));
    const StageNetwork& a = quick.stages[i];
    const StageNetwork& b = slow.stages[i];
    ASSERT_EQ(a.cell_class, b.cell_class);
    ASSERT_TRUE(same_groups(*a.cell, *b.cell));
    ASSERT_TRUE(a.from_previous == b.from_previous);
    ASSERT_TRUE(a.from_next == b.from_next);
    for (const auto member : {&StageNetwork::dense, &StageNetwork::expert}) {
      const ParameterGroup& x = a.*member;
      const ParameterGroup& y = b.*member;
      ASSERT_EQ(x.members, y.members);
      ASSERT_EQ(x.shards, y.shards);
      ASSERT_TRUE(x.whole == y.whole);
      ASSERT_TRUE(x.inner == y.inner);
      ASSERT_TRUE(x.outer == y.outer);
      ASSERT_TRUE(x.whole_alone == y.whole_alone);
      ASSERT_TRUE(x.inner_alone == y.inner_alone);
      ASSERT_TRUE(x.outer_alone == y.outer_alone);
    }
  }
  ASSERT_TRUE(quick.wrap == slow.wrap);
  ASSERT_TRUE(quick.tied == slow.tied);
  ASSERT_EQ(quick.stage_class, slow.stage_class);
}

TEST(SlotNetwork, NoneWhereTheShapeDoesNotFit) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const FabricConstants constants = fabric_constants(cluster);
  EXPECT_EQ(SlotNetwork::make(cluster, constants, {.tensor = 8}, {.cell = 8, .stages = 129}), nullptr);
  EXPECT_EQ(SlotNetwork::make(cluster, constants, {.tensor = 8},
                              {.cell = 8, .stages = 2, .inner = 1, .outer = 2, .block_devices = 8}),
            nullptr);
}

TEST(SlotNetwork, ItsBlockSizeIsFilledIn) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const FabricConstants constants = fabric_constants(cluster);
  const auto slots =
      SlotNetwork::make(cluster, constants, {.tensor = 8},
                        {.cell = 8, .stages = 4, .inner = 2, .outer = 8, .first_stage_first = true});
  ASSERT_NE(slots, nullptr);
  EXPECT_EQ(slots->shape(),
            (PlacementShape{.cell = 8, .stages = 4, .inner = 2, .outer = 8, .block_devices = 64}));
  EXPECT_THAT(slots->zero_shards(), ElementsAre(2));
}

// A level of any kind; uneven ones are switches, rings or fully connected.
Level random_level(Dice& dice, std::int32_t domains) {
  Level out{.name = "l", .bandwidth = BytesPerSecond{1e9}, .latency = Seconds{1e-6}};
  if (dice.once_in(4)) {
    for (std::int32_t d = 0; d < domains; ++d)
      out.fan_out.sizes.push_back(static_cast<std::int32_t>(dice.pick(1, 5)));
  } else {
    out.fan_out.size = static_cast<std::int32_t>(dice.one_of<std::int64_t>({1, 2, 2, 3, 4, 4, 6, 8}));
  }
  if (dice.once_in(4)) {
    out.kind = dice.one_of<LevelKind>({LevelKind::fully_connected, LevelKind::ring, LevelKind::torus});
    if (out.kind == LevelKind::torus && !out.fan_out.uniform()) out.kind = LevelKind::ring;
    if (out.kind == LevelKind::torus) {
      const std::int32_t n = out.fan_out.size;
      out.dims = n % 2 == 0 ? std::vector<std::int32_t>{2, n / 2} : std::vector<std::int32_t>{n};
      out.wrap.assign(out.dims.size(), dice.once_in(2));
    }
  }
  if (!out.hops_through_children()) out.oversubscription = dice.one_of<double>({1, 1, 2, 3.5});
  return out;
}

Cluster random_levels(Dice& dice) {
  std::vector<Level> levels;
  std::int32_t domains = 1;
  const std::int64_t count = dice.pick(1, 5);
  for (std::int64_t l = 0; l < count; ++l) {
    levels.insert(levels.begin(), random_level(dice, domains));
    levels.front().name += std::to_string(l);
    std::int32_t next = 0;
    for (std::int32_t d = 0; d < domains; ++d) next += levels.front().fan_out.of(d);
    domains = next;
  }
  if (domains > 3000) return random_levels(dice);
  return Cluster({.name = "random", .levels = levels});
}

Strategy random_strategy(Dice& dice) {
  const std::vector<std::int64_t> degrees{1, 1, 2, 2, 3, 4, 8};
  Strategy s{.tensor = dice.one_of(degrees)};
  if (dice.once_in(3)) s.context = dice.one_of<std::int64_t>({2, 3, 4});
  if (dice.once_in(3)) s.expert = dice.one_of<std::int64_t>({2, 3, 4, 8});
  if (dice.once_in(2)) s.expert_tensor = 1;
  return s;
}

// A shape that may fit.
PlacementShape random_shape(Dice& dice, const Cluster& cluster, std::int64_t cell) {
  PlacementShape shape{.cell = cell};
  const std::int64_t most = cluster.devices() / cell;
  shape.stages = dice.pick(1, std::clamp<std::int64_t>(most, 1, 9));
  const std::int64_t copies = dice.pick(1, std::max<std::int64_t>(1, most / shape.stages));
  shape.inner = dice.divisor_of(copies);
  shape.outer = copies / shape.inner;
  const std::vector<std::int64_t> sizes = block_sizes(cluster.sorted().tree(), shape);
  if (!sizes.empty() && dice.once_in(2)) shape.block_devices = dice.one_of(sizes);
  if (dice.once_in(8)) shape.block_devices = dice.pick(1, cluster.devices());
  return shape;
}

void check_one(Dice& dice, const Cluster& cluster, const FabricConstants& constants, const Strategy& strategy,
               PlacementShape shape, int& placed) {
  const auto quick = SlotNetwork::make(cluster, constants, strategy, shape);
  ASSERT_EQ(quick != nullptr, place_cells(cluster.sorted().tree(), shape).has_value());
  if (quick == nullptr) return;
  ++placed;
  SCOPED_TRACE(spell(strategy) + "; cell " + std::to_string(shape.cell) + ", stages " +
               std::to_string(shape.stages) + ", inner " + std::to_string(shape.inner) + ", outer " +
               std::to_string(shape.outer) + ", block " + std::to_string(quick->shape().block_devices));
  const std::int64_t group = shape.inner * shape.outer * shape.cell / strategy.tensor;
  std::vector<std::int64_t> shards = quick->zero_shards();
  ASSERT_EQ(shards, zero_shard_sizes(cluster.sorted().tree(), quick->slots(true), strategy));
  shards.push_back(0);
  shards.push_back(dice.divisor_of(group));
  shards.push_back(dice.divisor_of(group));
  for (const bool mirrored : {false, true}) {
    shape.first_stage_first = mirrored;
    const SlotTable slots = *place_cells(cluster.sorted().tree(), shape);
    ASSERT_EQ(slots.starts, quick->slots(mirrored).starts);
    for (const std::int64_t n : shards) {
      NetworkOptions options{.zero_shards = n, .wrap = dice.once_in(2)};
      if (shape.stages > 1 && dice.once_in(2)) {
        options.tied_last = static_cast<std::size_t>(dice.pick(1, shape.stages - 1));
        options.tied_first =
            static_cast<std::size_t>(dice.pick(0, static_cast<std::int64_t>(options.tied_last)));
      }
      if (dice.once_in(2)) options.near = dice.pick(1, 8);
      SCOPED_TRACE("shards " + std::to_string(n) + (mirrored ? ", first stage first" : ""));
      const PlanNetwork found = quick->network(options, mirrored);
      const PlanNetwork slow = listed(cluster, constants, strategy, slots, options);
      ASSERT_NO_FATAL_FAILURE(expect_same(found, slow));
      if (n != 0) continue;
      // Groups that no axis names.
      const std::int64_t inner = dice.pick(1, std::min<std::int64_t>(4, shape.cell));
      const std::int64_t members = dice.pick(1, shape.cell / inner);
      for (std::size_t i = 0; i < slow.stages.size(); ++i)
        ASSERT_EQ(found.stages[i].cell->groups(inner, members), slow.stages[i].cell->groups(inner, members));
    }
  }
}

TEST(SlotNetwork, SaysWhatPlanNetworkSaysOfRandomPlacements) {
  constexpr unsigned kSeed = 20261201;
  int placed = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    Dice dice(kSeed + i);
    const Cluster cluster = random_levels(dice);
    const FabricConstants constants = ideal_constants(cluster);
    const Strategy strategy = random_strategy(dice);
    if (strategy.cell() > cluster.devices()) continue;
    const PlacementShape shape = random_shape(dice, cluster, strategy.cell());
    ASSERT_NO_FATAL_FAILURE(check_one(dice, cluster, constants, strategy, shape, placed));
  }
  EXPECT_GT(placed, 1000);
}

// Real clusters with placements of all kinds.
TEST(SlotNetwork, SaysWhatPlanNetworkSaysOnClustersOfTheCatalog) {
  constexpr unsigned kSeed = 20261205;
  int placed = 0;
  for (const char* name : {"h100-spine-leaf", "dgx-h100-superpod-127", "gb200-nvl72", "tpu-v5e-256",
                           "tpu-v5p-256", "h800-rail", "ethernet-4to1"}) {
    const Cluster cluster = catalog_cluster(name);
    const FabricConstants constants = fabric_constants(cluster);
    for (unsigned i = 0; i < 12; ++i) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(kSeed + i));
      Dice dice(kSeed + i);
      const Strategy strategy = random_strategy(dice);
      const PlacementShape shape = random_shape(dice, cluster, strategy.cell());
      ASSERT_NO_FATAL_FAILURE(check_one(dice, cluster, constants, strategy, shape, placed));
    }
  }
  EXPECT_GT(placed, 50);
}

TEST(SlotNetwork, AllStagesOf131072Devices) {
  const Cluster mega = catalog_cluster("mega-131072");
  const FabricConstants constants = fabric_constants(mega);
  const Strategy strategy{.tensor = 8, .sequence_parallel = true};
  for (const std::int64_t stages : {7, 16}) {
    const PlacementShape shape{.cell = 8, .stages = stages, .inner = 32, .outer = 32};
    const auto quick = SlotNetwork::make(mega, constants, strategy, shape);
    ASSERT_NE(quick, nullptr);
    const NetworkOptions options{.zero_shards = 32};
    ASSERT_NO_FATAL_FAILURE(expect_same(quick->network(options, false),
                                        listed(mega, constants, strategy, quick->slots(false), options)));
  }
}

// Groups that no axis of the strategy names, whether they fill their cell or not.
TEST(SlotNetwork, PartsOfCells) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const FabricConstants constants = fabric_constants(cluster);
  const Strategy strategy{.tensor = 6};
  const auto quick = SlotNetwork::make(cluster, constants, strategy, {.cell = 6, .stages = 3, .inner = 5});
  const PlanNetwork n = quick->network({}, false);
  const PlanNetwork slow = listed(cluster, constants, strategy, quick->slots(false), {});
  for (const auto& [inner, members] : {std::pair<int, int>{1, 3}, {2, 3}, {3, 2}, {1, 4}, {2, 2}, {1, 1}})
    EXPECT_EQ(n.stages[1].cell->groups(inner, members), slow.stages[1].cell->groups(inner, members));
}

}  // namespace
}  // namespace nest::price
