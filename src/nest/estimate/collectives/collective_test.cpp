#include "nest/estimate/collectives/collective.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/network/groups/group_pattern.hpp"

namespace nest::estimate {
namespace {

constexpr auto kAllReduce = CollectiveKind::all_reduce;
constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                            CollectiveKind::all_gather, CollectiveKind::all_to_all,
                            CollectiveKind::broadcast,  CollectiveKind::send};

Level level(const std::string& name, std::int32_t size, double bandwidth, double latency) {
  Level out{.name = name, .bandwidth = BytesPerSecond{bandwidth}, .latency = Seconds{latency}};
  out.fan_out.size = size;
  return out;
}

Cluster cluster_of(std::vector<Level> levels) {
  return Cluster({.name = "test", .levels = std::move(levels)});
}

// The four devices of EXAMPLE: nodes of 2 at 100 GB/s and 1 us, a rack of 2 at 10 GB/s and 5 us.
Cluster example() {
  return cluster_of({level("node", 2, 100e9, 1e-6), level("rack", 2, 10e9, 5e-6)});
}

CollectiveModel ideal(const Cluster& c) {
  return {c, ideal_constants(c)};
}

double time(const Cluster& c, CollectiveKind kind, std::int64_t bytes, const GroupPattern& p) {
  return collective_time(kind, Bytes{bytes}, pattern_shape(c, p), ideal(c)).value;
}

TEST(CollectiveExample, AllReduceOverTwo) {
  const Cluster c = example();
  // 2*(1/2)*400e6/10e9 + 2*5 us, and the same inside a node: 4.002 ms
  EXPECT_NEAR(time(c, kAllReduce, 400'000'000, {DeviceId{0}, {{2, 2}}, {{1, 2}}}), 40.010e-3, 1e-12);
  EXPECT_NEAR(time(c, kAllReduce, 400'000'000, {DeviceId{0}, {{1, 2}}, {}}), 4.002e-3, 1e-12);
}

TEST(CollectiveExample, HierarchicalOverTwoByTwo) {
  const Cluster c = example();
  const GroupShape four = pattern_shape(c, {DeviceId{0}, {{1, 4}}, {}});
  const CollectiveCost cost = collective_cost(kAllReduce, Bytes{600'000'000}, four, ideal(c));
  EXPECT_NEAR(cost.total.value, 36.012e-3, 1e-12);
  EXPECT_EQ(cost.composition, Composition::hierarchical);
  ASSERT_EQ(cost.phases.size(), 2U);
  EXPECT_NEAR((cost.phases[0].latency + cost.phases[0].transfer).value, 2 * 3.001e-3, 1e-12);
  EXPECT_NEAR((cost.phases[1].latency + cost.phases[1].transfer).value, 30.010e-3, 1e-12);
  EXPECT_EQ(cost.phases[1].algorithm, Algorithm::ring);
}

TEST(CollectiveExample, Sends) {
  const Cluster c = example();
  EXPECT_NEAR(time(c, CollectiveKind::send, 50'000'000, {DeviceId{0}, {{1, 2}}, {}}), 0.501e-3, 1e-12);
  EXPECT_NEAR(time(c, CollectiveKind::send, 50'000'000, {DeviceId{0}, {{2, 2}}, {}}), 5.005e-3, 1e-12);
}

TEST(Collective, AllGatherIsHalfAnAllReduce) {
  const Cluster c = example();
  const GroupPattern four{DeviceId{0}, {{1, 4}}, {}};
  const double all_reduce = time(c, kAllReduce, 600'000'000, four);
  EXPECT_NEAR(time(c, CollectiveKind::all_gather, 600'000'000, four), all_reduce / 2, 1e-12);
  EXPECT_NEAR(time(c, CollectiveKind::reduce_scatter, 600'000'000, four), all_reduce / 2, 1e-12);
}

TEST(Collective, AllToAllIsLimitedByWhatLeavesTheNode) {
  // Half of each member's bytes cross the rack.
  EXPECT_NEAR(time(example(), CollectiveKind::all_to_all, 400'000'000, {DeviceId{0}, {{1, 4}}, {}}),
              20.005e-3, 1e-12);
}

TEST(Collective, EightRailsUseEightNics) {
  // Nodes of 8: reduce-scatter and all-gather inside, each rail all-reduces an eighth across 4 nodes at 50
  // GB/s.
  const Cluster c = cluster_of({level("node", 8, 450e9, 0), level("rack", 4, 50e9, 0)});
  const double inside = 2 * (7.0 / 8) * 1e9 / 450e9;
  const double across = 2 * (3.0 / 4) * (1e9 / 8) / 50e9;
  EXPECT_NEAR(time(c, kAllReduce, 1'000'000'000, {DeviceId{0}, {{1, 32}}, {}}), inside + across, 1e-12);
}

// With all levels at once, the ideal is a lower bound; with one after the other it is not.
TEST(Collective, NoLibraryIsFasterThanIdealLevelsAtOnce) {
  std::int64_t slower = 0;
  for (const std::string& name : cluster_names()) {
    const Cluster c = catalog_cluster(name);
    const CollectiveModel one_by_one(c, ideal_constants(c));
    const CollectiveModel at_once(c, ideal_constants(c, true));
    const CollectiveModel library(c, fabric_constants(c));
    for (const std::int32_t stride : {1, 2, 8}) {
      for (std::int32_t members = 2; members * stride <= std::min(c.devices(), 4096); members *= 2) {
        const GroupShape shape = pattern_shape(c, {DeviceId{0}, {{stride, members}}, {}});
        for (const CollectiveKind kind :
             {kAllReduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
              CollectiveKind::all_to_all, CollectiveKind::broadcast}) {
          for (const std::int64_t bytes : {1'000, 1'000'000, 1'000'000'000}) {
            const Seconds real = collective_time(kind, Bytes{bytes}, shape, library);
            EXPECT_LE(collective_time(kind, Bytes{bytes}, shape, at_once), real)
                << name << ", " << members << " members " << stride << " apart, " << bytes << " bytes";
            if (collective_time(kind, Bytes{bytes}, shape, one_by_one) > real) ++slower;
          }
        }
      }
    }
  }
  EXPECT_GT(slower, 0);
}

TEST(Collective, KGroupsOnOneUplinkCostKTimes) {
  Level rack = level("rack", 2, 50e9, 0);
  rack.oversubscription = 8;
  const Cluster c = cluster_of({level("node", 8, 450e9, 0), rack});
  const double alone = time(c, kAllReduce, 1'000'000, {DeviceId{0}, {{8, 2}}, {}});
  for (std::int32_t k = 2; k <= 8; ++k) {
    EXPECT_NEAR(time(c, kAllReduce, 1'000'000, {DeviceId{0}, {{8, 2}}, {{1, k}}}), k * alone, 1e-15);
  }
}

TEST(Collective, SmallMessagesTakeFewerSteps) {
  const Cluster c = cluster_of({level("node", 8, 100e9, 1e-6)});
  const CollectiveCost cost =
      collective_cost(kAllReduce, Bytes{8}, pattern_shape(c, {DeviceId{0}, {{1, 8}}, {}}), ideal(c));
  EXPECT_EQ(cost.phases.at(0).algorithm, Algorithm::halving_doubling);
  EXPECT_NEAR(cost.latency.value, 6e-6, 1e-15);
}

TEST(Collective, TorusRunsAllItsLinks) {
  Level slice = level("slice", 64, 600e9, 1e-6);
  slice.kind = LevelKind::torus;
  slice.dims = {4, 4, 4};
  slice.wrap = {true, true, true};
  const Cluster c = cluster_of({slice});
  EXPECT_NEAR(time(c, kAllReduce, 1'000'000'000, {DeviceId{0}, {{1, 64}}, {}}), 2 * (63.0 / 64) / 600 + 18e-6,
              1e-12);
  // One line of four: two of the six links.
  EXPECT_NEAR(time(c, kAllReduce, 1'000'000'000, {DeviceId{0}, {{1, 4}}, {}}), 2 * 0.75 / 200 + 6e-6, 1e-12);
  // Neighbours: one link; across the middle of an all-to-all: 4/4 of the bytes over two links of 100 GB/s.
  EXPECT_NEAR(time(c, CollectiveKind::send, 1'000'000'000, {DeviceId{0}, {{1, 2}}, {}}), 10e-3 + 1e-6, 1e-12);
  EXPECT_NEAR(time(c, CollectiveKind::all_to_all, 1'000'000'000, {DeviceId{0}, {{1, 64}}, {}}), 5e-3 + 9e-6,
              1e-12);
}

TEST(Collective, FullyConnectedGoesDirect) {
  Level node = level("node", 8, 448e9, 1e-6);
  node.kind = LevelKind::fully_connected;
  const Cluster c = cluster_of({node});
  EXPECT_NEAR(time(c, kAllReduce, 1'000'000'000, {DeviceId{0}, {{1, 8}}, {}}), 2 * (7.0 / 8) / 448 + 2e-6,
              1e-12);
  EXPECT_NEAR(time(c, CollectiveKind::send, 64'000'000, {DeviceId{0}, {{1, 2}}, {}}), 1e-3 + 1e-6, 1e-12);
  EXPECT_NEAR(time(c, kAllReduce, 64'000'000, {DeviceId{0}, {{1, 2}}, {}}), 1e-3 + 2e-6, 1e-12);
}

TEST(Collective, InNetworkReductionMovesBytesOnce) {
  Level node = level("node", 8, 450e9, 1e-6);
  node.in_network_reduction = true;
  const Cluster c = cluster_of({node});
  for (const std::int32_t n : {4, 8}) {
    EXPECT_NEAR(time(c, kAllReduce, 450'000'000, {DeviceId{0}, {{1, n}}, {}}), 1e-3 + 2e-6, 1e-12);
  }
}

TEST(CollectiveLimits, OneMemberNoBytesNoKind) {
  const Cluster c = example();
  const GroupShape two = pattern_shape(c, {DeviceId{0}, {{1, 2}}, {}});
  for (const CollectiveModel& m : {ideal(c), CollectiveModel(c, fabric_constants(c))}) {
    for (const CollectiveKind k : kKinds) {
      EXPECT_EQ(collective_time(k, Bytes{1000}, GroupShape{}, m).value, 0);
      EXPECT_EQ(collective_time(k, Bytes{0}, two, m).value, 0);
    }
    EXPECT_EQ(collective_cost(CollectiveKind::none, Bytes{1000}, two, m).total.value, 0);
  }
}

TEST(CollectiveLimits, InfiniteBandwidthAndZeroLatency) {
  const GroupPattern all{DeviceId{0}, {{1, 16}}, {}};
  const double endless = std::numeric_limits<double>::infinity();
  const Cluster fast = cluster_of({level("node", 4, endless, 1e-6), level("rack", 4, endless, 5e-6)});
  const Cluster instant = cluster_of({level("node", 4, 100e9, 0), level("rack", 4, 10e9, 0)});
  for (const CollectiveKind k : kKinds) {
    const CollectiveCost latency = collective_cost(k, Bytes{1 << 30}, pattern_shape(fast, all), ideal(fast));
    EXPECT_EQ(latency.transfer.value, 0);
    EXPECT_GT(latency.latency.value, 0);
    const CollectiveCost transfer =
        collective_cost(k, Bytes{1 << 30}, pattern_shape(instant, all), ideal(instant));
    EXPECT_EQ(transfer.latency.value, 0);
    EXPECT_GT(transfer.transfer.value, 0);
  }
}

TEST(Collective, OneFabricForEachLevel) {
  const Cluster c = example();
  EXPECT_THROW(CollectiveModel(c, FabricConstants{}), InputError);
}

TEST(CollectiveLibrary, LevelsWorkAtOnce) {
  const Cluster c = catalog_cluster("aws-p5");
  const CollectiveModel m(c, fabric_constants(c));
  const GroupShape two_nodes = pattern_shape(c, {DeviceId{0}, {{1, 16}}, {}});
  const CollectiveCost large = collective_cost(kAllReduce, Bytes{std::int64_t{1} << 34}, two_nodes, m);
  EXPECT_EQ(large.composition, Composition::trees);
  EXPECT_EQ(large.protocol, Protocol::wide);
  EXPECT_EQ(large.phases.at(0).algorithm, Algorithm::in_network);
  EXPECT_EQ(large.transfer, std::max(large.phases[0].transfer, large.phases[1].transfer));
  EXPECT_EQ(collective_cost(kAllReduce, Bytes{65536}, two_nodes, m).protocol, Protocol::quick);
  EXPECT_EQ(to_string(collective_cost(CollectiveKind::all_gather, Bytes{65536}, two_nodes, m).composition),
            "rings");
}

// Random groups on the catalogued clusters.
GroupShape random_group(const Cluster& c) {
  std::vector<DeviceId> ids;
  const int n = *rc::gen::inRange(2, 20);
  const std::int32_t range = *rc::gen::element(8, 64, c.devices());
  ids.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) ids.emplace_back(*rc::gen::inRange(0, std::min(range, c.devices())));
  return group_shape(c, ids);
}

RC_GTEST_PROP(CollectiveProperties, FinitePositiveAndMonotoneInBytes, ()) {
  const Cluster c = catalog_cluster(*rc::gen::elementOf(cluster_names()));
  const GroupShape shape = random_group(c);
  const CollectiveKind kind = *rc::gen::elementOf(kKinds);
  for (const CollectiveModel& m : {ideal(c), CollectiveModel(c, fabric_constants(c))}) {
    double before = 0;
    for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 40; bytes *= 16) {
      const CollectiveCost cost = collective_cost(kind, Bytes{bytes}, shape, m);
      RC_ASSERT(std::isfinite(cost.total.value) && cost.total.value >= before);
      RC_ASSERT(cost.total == collective_time(kind, Bytes{bytes}, shape, m));
      RC_ASSERT(cost.latency.value >= 0 && cost.transfer.value >= 0);
      before = cost.total.value;
    }
  }
}

RC_GTEST_PROP(CollectiveProperties, MonotoneInMembersLatencyAndBandwidth, ()) {
  const double inner = *rc::gen::element(100e9, 450e9);
  const double latency = *rc::gen::element(0.0, 1e-6);
  const Cluster base = cluster_of({level("node", 8, inner, latency), level("rack", 16, 50e9, 5e-6)});
  const Cluster slow = cluster_of({level("node", 8, inner / 2, latency), level("rack", 16, 25e9, 5e-6)});
  const Cluster far = cluster_of({level("node", 8, inner, latency + 1e-6), level("rack", 16, 50e9, 9e-6)});
  const std::int32_t n = *rc::gen::inRange(2, 9);
  const std::int32_t nodes = *rc::gen::inRange(1, 16);
  const auto kind = *rc::gen::elementOf(kKinds);
  const std::int64_t bytes = *rc::gen::element<std::int64_t>(1000, 1'000'000, 1'000'000'000);
  const GroupPattern p{DeviceId{0}, {{1, n}, {8, nodes}}, {}};
  for (const bool library : {false, true}) {
    const auto price = [&](const Cluster& c, const GroupPattern& g) {
      const std::vector<std::string> fabrics{"nvlink4", "infiniband"};
      const CollectiveModel m = library ? CollectiveModel(c, fabric_constants(c, fabrics)) : ideal(c);
      return collective_time(kind, Bytes{bytes}, pattern_shape(c, g), m).value;
    };
    const double time = price(base, p);
    RC_ASSERT(price(slow, p) >= time);
    RC_ASSERT(price(far, p) >= time);
    RC_ASSERT(price(base, {DeviceId{0}, {{1, n}, {8, nodes + 1}}, {}}) >= time * (1 - 1e-12));
  }
}

}  // namespace
}  // namespace nest::estimate
