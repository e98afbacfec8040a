#include "nest/solve/placements/relaxed.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/cluster_file.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/tree/test_fill.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::Instance;

// A cluster with ideal constants.
struct Fixture {
  explicit Fixture(const std::string& levels)
      : cluster(read_cluster(parse_yaml(
            "cluster",
            "name: x\naccelerator: {name: x, memory: 80 GB, memory_bandwidth: 3 TB/s, peak: {bf16: "
            "1000 TFLOP/s}}\nlevels:\n" +
                levels))),
        constants(ideal_constants(cluster)),
        model(cluster, constants) {}

  [[nodiscard]] RelaxedNetwork relaxed(const Strategy& strategy, std::int64_t copies, ShardKind kind,
                                       bool listed = false) const {
    return relaxed_network(cluster, constants, model, {strategy, copies, kind, {}, listed});
  }
  [[nodiscard]] double send(const Shapes& shapes) const {
    return slowest(CollectiveKind::send, Bytes{50'000'000}, shapes, model).value;
  }
  [[nodiscard]] double all_reduce(const Shapes& shapes) const {
    return slowest(CollectiveKind::all_reduce, Bytes{400'000'000}, shapes, model).value;
  }

  Cluster cluster;
  FabricConstants constants;
  CollectiveModel model;
};

const std::string kExample =
    "  - {name: node, kind: switch, size: 2, bandwidth: 100 GB/s, latency: 1 us}\n"
    "  - {name: rack, kind: switch, size: 2, bandwidth: 10 GB/s, latency: 5 us}\n";

// The worked example of docs/design.md: 0.501 ms in a node, 5.005 ms across, which cells of a whole node
// cannot do without.
TEST(Relaxed, NeighboursAreAsNearAsTheirCellsAllow) {
  const Fixture f(kExample);
  EXPECT_NEAR(f.send(f.relaxed({}, 1, ShardKind::any).stage.from_next), 0.501e-3, 1e-12);
  EXPECT_NEAR(f.send(f.relaxed({}, 1, ShardKind::any).stage.from_previous), 0.501e-3, 1e-12);
  EXPECT_NEAR(f.send(f.relaxed({.tensor = 2}, 1, ShardKind::any).stage.from_next), 5.005e-3, 1e-12);
}

// A faster level outside a slower one: the nearest is not the next.
TEST(Relaxed, TheFastestPairMayBeFurtherOut) {
  const Fixture f(
      "  - {name: node, kind: switch, size: 2, bandwidth: 10 GB/s, latency: 5 us}\n"
      "  - {name: rack, kind: switch, size: 2, bandwidth: 100 GB/s, latency: 1 us}\n");
  EXPECT_NEAR(f.send(f.relaxed({}, 1, ShardKind::any).stage.from_next), 0.501e-3, 1e-12);
  // Of two levels of which one is quicker for few bytes and the other for many, none stands for both.
  const Fixture mixed(
      "  - {name: node, kind: switch, size: 2, bandwidth: 10 GB/s, latency: 1 us}\n"
      "  - {name: rack, kind: switch, size: 2, bandwidth: 100 GB/s, latency: 50 us}\n");
  EXPECT_TRUE(mixed.relaxed({}, 1, ShardKind::any).stage.from_next.empty());
}

// The worked example of docs/design.md: 400 MB over two ranks in a node take 4.002 ms; over two nodes of two,
// 200 MB cross.
TEST(Relaxed, GradientsOfAllRanksSideBySide) {
  const Fixture f(kExample);
  const RelaxedNetwork two = f.relaxed({}, 2, ShardKind::whole);
  EXPECT_EQ(two.stage.dense.members, 2);
  EXPECT_EQ(two.stage.dense.shards, 2);
  EXPECT_NEAR(f.all_reduce(two.stage.dense.whole), 4.002e-3, 1e-12);
  const RelaxedNetwork four = f.relaxed({}, 4, ShardKind::whole);
  EXPECT_NEAR(f.all_reduce(four.stage.dense.whole), 4.002e-3 + 20.010e-3, 1e-12);
  // Two tensor ranks a cell: one rank of each cell, across.
  EXPECT_NEAR(f.all_reduce(f.relaxed({.tensor = 2}, 2, ShardKind::whole).stage.dense.whole), 40.010e-3,
              1e-12);
  EXPECT_TRUE(f.relaxed({}, 1, ShardKind::whole).stage.dense.whole.empty())
      << "one rank has nobody to talk to";
}

TEST(Relaxed, ShardsOfEveryKind) {
  const Fixture f(kExample);
  const ParameterGroup any = f.relaxed({}, 4, ShardKind::any).stage.dense;
  EXPECT_EQ(any.shards, 4);
  EXPECT_TRUE(any.whole.empty() && any.inner.empty()) << "traffic is free";
  const ParameterGroup part = f.relaxed({}, 4, ShardKind::part).stage.dense;
  EXPECT_EQ(part.shards, 2) << "half of them at most";
  EXPECT_TRUE(part.whole.empty());
  EXPECT_NEAR(f.all_reduce(part.inner), 4.002e-3, 1e-12) << "two at least";
  const ParameterGroup listed = f.relaxed({}, 4, ShardKind::part, true).stage.dense;
  EXPECT_EQ(listed.shards, 4) << "what the list has is not known here";
  EXPECT_TRUE(listed.inner.empty());
}

// Trees that have no even one around them: what is uncertain costs nothing.
TEST(Relaxed, WhatIsUncertainIsFree) {
  const Fixture f(
      "  - {name: a, kind: switch, sizes: [1, 3], bandwidth: 10 GB/s, latency: 1 us}\n"
      "  - {name: b, kind: switch, size: 2, bandwidth: 1 GB/s, latency: 1 us}\n");
  const RelaxedNetwork network = f.relaxed({.tensor = 2}, 2, ShardKind::whole);
  EXPECT_FALSE(network.collectives);
  EXPECT_TRUE(network.stage.from_next.empty() && network.stage.from_previous.empty());
  EXPECT_TRUE(network.stage.dense.whole.empty());
  EXPECT_EQ(network.stage.dense.members, 2);
  EXPECT_TRUE(Fixture(kExample).relaxed({.tensor = 2}, 1, ShardKind::whole).collectives);
}

// Nodes of 1 and 3 devices are part of nodes of 3.
TEST(Relaxed, AnEvenTreeAroundAnUnevenOne) {
  const Fixture f(
      "  - {name: a, kind: switch, sizes: [1, 3], bandwidth: 10 GB/s, latency: 1 us}\n"
      "  - {name: b, kind: switch, size: 2, bandwidth: 1 GB/s, latency: 1 us}\n");
  const auto even = even_cluster(f.cluster);
  ASSERT_TRUE(even);
  EXPECT_EQ(even->devices(), 6);
  EXPECT_FALSE(even_cluster(*even)) << "even already";
  const RelaxedNetwork network =
      relaxed_network(*even, f.constants, f.model, {{}, 3, ShardKind::whole, false, true});
  // 400 MB over three devices of a node: 2 * 2/3 * 400 MB at 10 GB/s, and 4 latencies.
  EXPECT_NEAR(f.all_reduce(network.stage.dense.whole), 53.3333e-3 + 4e-6, 1e-6);
  EXPECT_FALSE(even_cluster(Fixture(kExample).cluster));
}

// On a grid no device sends more than its own bandwidth, and cells of a row all lie alike.
TEST(Relaxed, RatesOfGrids) {
  const Fixture f("  - {name: a, kind: torus, dims: [4, 4], bandwidth: 10 GB/s, latency: 1 us}\n");
  const RelaxedNetwork network = f.relaxed({.tensor = 2}, 4, ShardKind::whole);
  EXPECT_TRUE(network.collectives);
  EXPECT_NEAR(f.all_reduce(network.stage.dense.whole), 2 * 0.75 * 0.04, 1e-12);
  EXPECT_FALSE(f.relaxed({.tensor = 3}, 1, ShardKind::whole).collectives) << "some would lie in two rows";
}

// A level that adds up in its switches outside one that does not, or a faster one: side by side is not best.
TEST(Relaxed, GradientsAreFreeWhereFurtherOutIsFaster) {
  const Fixture adds(
      "  - {name: node, kind: switch, size: 2, bandwidth: 100 GB/s, latency: 1 us}\n"
      "  - {name: rack, kind: switch, size: 2, bandwidth: 10 GB/s, latency: 5 us, in_network_reduction: "
      "true}\n");
  EXPECT_TRUE(adds.relaxed({}, 2, ShardKind::whole).stage.dense.whole.empty());
  EXPECT_FALSE(adds.relaxed({}, 2, ShardKind::whole).stage.from_next.empty());
}

// A pair inside a node takes (1 + ring_own)/2 of the bytes at the node's rate, and a pair across takes 1/2 at
// the network's, which has no own part: with 20 GB/s inside, 15 GB/s across are faster, though each byte is slower.
TEST(Relaxed, GradientsAreFreeWhereOwnPartsMakeFurtherOutFaster) {
  const auto with = [](const std::string& across) {
    return Fixture(
        "  - {name: node, kind: switch, size: 4, bandwidth: 20 GB/s, latency: 1 us, fabric: nvlink4}\n"
        "  - {name: rack, kind: switch, size: 4, bandwidth: " +
        across + ", latency: 5 us, fabric: infiniband}\n");
  };
  for (const auto& [across, faster] : {std::pair{"15 GB/s", true}, std::pair{"5 GB/s", false}}) {
    const Fixture f = with(across);
    const FabricConstants constants = fabric_constants(f.cluster);
    const CollectiveModel model(f.cluster, constants);
    const auto gather = [&](std::int32_t second) {
      return collective_time(CollectiveKind::all_gather, Bytes{1'000'000'000},
                             group_shape(f.cluster, std::vector{DeviceId{0}, DeviceId{second}}), model);
    };
    EXPECT_GT(model.level(LevelId{1}).seconds_per_byte[0], model.level(LevelId{0}).seconds_per_byte[0]);
    EXPECT_EQ(gather(4) < gather(1), faster) << across;
    const RelaxedNetwork network = relaxed_network(f.cluster, constants, model, {{}, 2, ShardKind::whole});
    EXPECT_EQ(network.stage.dense.whole.empty(), faster) << across;
  }
}

// The gradients of ZeRO over a part of the ranks: what is scattered, and what is summed over the rest.
TEST(Relaxed, NoShardsOverAPartAreFaster) {
  int looked_at = 0;
  for (const std::string node :
       {"bandwidth: 100 GB/s, latency: 1 us",
        "bandwidth: 100 GB/s, latency: 1 us, in_network_reduction: true", "bandwidth: 10 GB/s, latency: 5 us",
        "bandwidth: 100 GB/s, latency: 1 us, fabric: nvlink4",
        "bandwidth: 20 GB/s, latency: 1 us, fabric: nvlink4, in_network_reduction: true",
        "bandwidth: 100 GB/s, latency: 1 us, fabric: nvlink5, in_network_reduction: true"}) {
    const Fixture f("  - {name: node, kind: switch, size: 4, " + node +
                    "}\n"
                    "  - {name: rack, kind: switch, size: 4, bandwidth: 10 GB/s, latency: 5 us}\n"
                    "  - {name: hall, kind: switch, size: 2, bandwidth: 5 GB/s, latency: 9 us}\n");
    for (const FabricConstants& constants : {ideal_constants(f.cluster), fabric_constants(f.cluster)}) {
      const CollectiveModel model(f.cluster, constants);
      const std::vector<Strategy> strategies{{}, {.tensor = 2}, {.tensor = 4}, {.tensor = 8}};
      const SearchSpace space;
      Placements placements(f.cluster, constants, strategies, space, false);
      for (std::size_t s = 0; s < strategies.size(); ++s) {
        for (const std::int64_t copies : {4, 6, 8, 16, 32}) {
          if (copies * strategies[s].cell() > f.cluster.devices()) continue;
          for (const Zero zero : {Zero(1), Zero(2)}) {
            const ParameterGroup bound =
                placements.relaxed(model, s, copies, ShardKind::part, zero).stage.dense;
            for (const Placement& placement : *placements.of({s, 1, copies, ShardKind::part})) {
              const ParameterGroup& own = placement.network->stages[0].dense;
              for (const double bytes : {1e5, 1e7, 1e9}) {
                const auto time = [&](const ParameterGroup& group) {
                  const Bytes all{static_cast<std::int64_t>(bytes)};
                  const Bytes shard{static_cast<std::int64_t>(bytes / static_cast<double>(group.shards))};
                  Seconds sum = slowest(CollectiveKind::all_reduce, shard, group.outer, model);
                  if (zero.scatters_at_step_end())
                    sum += slowest(CollectiveKind::reduce_scatter, all, group.inner, model);
                  return sum.value;
                };
                // Shards are whole bytes.
                ASSERT_LE(time(bound), time(own) * (1 + 1e-3))
                    << node << ", tensor " << strategies[s].tensor << ", " << copies << " copies, "
                    << own.shards << " shards, " << bytes << " bytes, ZeRO " << zero.number();
                ++looked_at;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(looked_at, 500);
}

// No placement of the rule is anywhere faster: neighbours, gradients, shards, and what layers do in a cell.
TEST(Relaxed, NoPlacementIsFaster) {
  int neighbours = 0;
  int gradients = 0;
  int cells = 0;
  unsigned looked_at = 0;
  for (unsigned seed = 75'001; looked_at < test::fewer(250); ++seed) {
    Instance instance = test::random_instance(seed, 1000);
    test::Dice dice(seed);
    // Most random clusters are uneven or of other kinds: more of those that the bounds are for.
    if (!dice.once_in(4)) {
      test::ClusterWish wish;
      wish.kind = "switch";
      wish.bandwidth = 1e10;
      if (seed % 2 == 0) wish.fabric = seed % 4 == 0 ? "nvlink4" : "nvlink5";
      wish.memory = instance.inputs.cluster.device_memory();
      instance.inputs.cluster = test::random_small_cluster(dice, wish);
    }
    const auto plan =
        test::some_plan(dice, instance, [](const Plan& p) { return p.parallelism.devices() > 1; });
    if (!plan) continue;
    ++looked_at;
    test::TestProblem problem(instance);
    const Configuration c = problem.configuration(*plan);
    SearchCosts& costs = problem.costs;
    const auto even = even_cluster(instance.inputs.cluster);
    const RelaxedNetwork bound =
        relaxed_network(even ? *even : instance.inputs.cluster, costs.constants(), costs.collectives(),
                        {plan->parallelism.strategy, problem.degrees(c).copies, problem.shards(c), c.zero,
                         !instance.space.zero_shards.open(), even.has_value()});
    const Placement placement = problem.placement(c, problem.ties(c).front());
    const Place least =
        costs.place(problem.batch(c), plan->parallelism.strategy, bound.stage, bound.collectives);
    const auto no_faster = [&](const Shapes& less, const Shapes& own, CollectiveKind kind, const char* what) {
      if (less.empty()) return 0;
      for (const std::int64_t bytes : {1, 10'000, 100'000'000}) {
        EXPECT_LE(slowest(kind, Bytes{bytes}, less, costs.collectives()).value,
                  slowest(kind, Bytes{bytes}, own, costs.collectives()).value * (1 + 1e-12))
            << what << ", " << bytes << " bytes";
      }
      return 1;
    };
    for (std::size_t i = 0; i < placement.network->stages.size(); ++i) {
      const StageNetwork& own = placement.network->stages[i];
      if (i > 0)
        neighbours +=
            no_faster(bound.stage.from_previous, own.from_previous, CollectiveKind::send, "previous");
      if (i + 1 < placement.network->stages.size())
        neighbours += no_faster(bound.stage.from_next, own.from_next, CollectiveKind::send, "next");
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
        gradients += no_faster(bound.stage.dense.whole, own.dense.whole, kind, "dense");
        gradients += no_faster(bound.stage.dense.inner, own.dense.inner, kind, "dense shards");
        gradients += no_faster(bound.stage.expert.whole, own.expert.whole, kind, "experts");
        gradients += no_faster(bound.stage.expert.inner, own.expert.inner, kind, "experts' shards");
      }
      EXPECT_EQ(bound.stage.dense.members, own.dense.members);
      EXPECT_GE(bound.stage.dense.shards, own.dense.shards);
      EXPECT_GE(bound.stage.expert.shards, own.expert.shards);
      const Place real = costs.place(problem.batch(c), plan->parallelism.strategy, own);
      for (std::int32_t l = 0; l < static_cast<std::int32_t>(problem.batch(c).sets->layers()); ++l) {
        for (std::size_t k = 0; k < kTerms; ++k) {
          const auto term = static_cast<Term>(k);
          EXPECT_LE(least.tables[0]->of(LayerId{l}).of(term),
                    real.tables[0]->of(LayerId{l}).of(term) * (1 + 1e-12))
              << "layer " << l << ", term " << k;
        }
      }
    }
    cells += bound.collectives && plan->parallelism.strategy.cell() > 1 ? 1 : 0;
    ASSERT_FALSE(HasFailure()) << instance.text << test::in_words(*plan)
                               << to_json_line(to_value(instance.inputs));
  }
  EXPECT_GT(test::often(neighbours), 50);
  EXPECT_GT(test::often(gradients), 100);
  EXPECT_GT(test::often(cells), 20);
}

}  // namespace
}  // namespace nest::solve
