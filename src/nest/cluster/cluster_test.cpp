#include "nest/cluster/cluster.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"

namespace nest::cluster {
namespace {

Level level(std::string name, LevelKind kind, std::int32_t size, double rate, double latency) {
  Level l;
  l.name = std::move(name);
  l.kind = kind;
  l.fan_out.size = size;
  l.bandwidth = BytesPerSecond{rate};
  l.latency = Seconds{latency};
  return l;
}

Cluster cluster(std::vector<Level> levels) {
  return Cluster({"test", find_accelerator("h100-sxm"), std::move(levels), "", "", ""});
}

TEST(Cluster, TheLevelWhereTwoDevicesMeetSaysWhatTheyGet) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_EQ(pair_bandwidth(c, DeviceId{0}, DeviceId{7}).value, 450e9);
  EXPECT_EQ(pair_bandwidth(c, DeviceId{0}, DeviceId{9}).value, 50e9);
  EXPECT_DOUBLE_EQ(pair_latency(c, DeviceId{0}, DeviceId{9}).value, 5e-6);
  EXPECT_DOUBLE_EQ(pair_latency(c, DeviceId{0}, DeviceId{1023}).value, 10e-6);
  EXPECT_FALSE(pair_route(c, DeviceId{3}, DeviceId{3}));
}

TEST(Cluster, OnATorusLatencyGrowsWithHopsAndAPairHasOneLink) {
  const Cluster c = catalog_cluster("tpu-v5p-256");
  EXPECT_EQ(c.devices(), 128);
  EXPECT_DOUBLE_EQ(pair_bandwidth(c, DeviceId{0}, DeviceId{1}).value, 100e9);
  // (2, 2, 4) is as far as can be: 2 + 2 + 4 hops of 1 us.
  EXPECT_DOUBLE_EQ(pair_latency(c, DeviceId{0}, DeviceId{2 + 4 * 2 + 16 * 4}).value, 8e-6);
}

TEST(Cluster, OnARingOfDomainsHopsAreCountedInDomains) {
  const Cluster c = cluster(
      {level("node", LevelKind::switched, 4, 100e9, 1e-6), level("loop", LevelKind::ring, 6, 20e9, 2e-6)});
  // Node 0 and node 4 of a ring of 6: two hops backwards.
  EXPECT_DOUBLE_EQ(pair_latency(c, DeviceId{1}, DeviceId{18}).value, 4e-6);
  EXPECT_DOUBLE_EQ(pair_bandwidth(c, DeviceId{1}, DeviceId{18}).value, 10e9);
}

TEST(Cluster, FullyConnectedPairsHaveOneOfTheLinks) {
  const Cluster c = catalog_cluster("mi300x-roce");
  EXPECT_DOUBLE_EQ(pair_bandwidth(c, DeviceId{0}, DeviceId{5}).value, 64e9);
}

TEST(Cluster, BisectionOfSwitches) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_DOUBLE_EQ(bisection(c, LevelId{0}).value, 4 * 450e9);
  EXPECT_DOUBLE_EQ(bisection(c, LevelId{1}).value, 16 * 50e9);
  EXPECT_DOUBLE_EQ(bisection(c).value, 512 * 50e9 / 4);
}

TEST(Cluster, BisectionOfToriCutsTheLongestSide) {
  // v5p-256, 4 x 4 x 8: across the side of 8, 16 rows, each cut twice because it closes; links of 100 GB/s.
  EXPECT_DOUBLE_EQ(bisection(catalog_cluster("tpu-v5p-256")).value, 16 * 2 * 100e9);
  // v5e-128, 8 x 16 with only the 16 side closing: 8 rows cut twice, or 16 columns cut once: 16 links of 50
  // GB/s.
  EXPECT_DOUBLE_EQ(bisection(catalog_cluster("tpu-v5e-128")).value, 16 * 50e9);
  EXPECT_DOUBLE_EQ(bisection(cluster({level("r", LevelKind::ring, 8, 20e9, 1e-6)})).value, 2 * 10e9);
  // Eight devices in two fours: 16 links of 64 GB/s.
  EXPECT_DOUBLE_EQ(bisection(catalog_cluster("mi300x-roce"), LevelId{0}).value, 16 * 64e9);
}

TEST(Cluster, BisectionOfUnevenTreesTakesTheSmallerHalf) {
  Level rack = level("rack", LevelKind::switched, 1, 50e9, 1e-6);
  rack.fan_out.sizes = {3, 4, 4};
  const Cluster c = cluster({level("node", LevelKind::switched, 8, 450e9, 1e-6), rack,
                             level("pod", LevelKind::switched, 3, 25e9, 1e-6)});
  EXPECT_DOUBLE_EQ(bisection(c).value, 24 * 25e9);                 // one rack of three, the smallest
  EXPECT_DOUBLE_EQ(bisection(c, LevelId{1}).value, 2 * 8 * 50e9);  // the largest rack has four nodes
}

TEST(Cluster, ALevelOfOneHasNoMiddle) {
  const Cluster c = cluster({level("node", LevelKind::switched, 8, 450e9, 1e-6),
                             level("rack", LevelKind::switched, 1, 50e9, 1e-6)});
  EXPECT_EQ(bisection(c, LevelId{1}).value, 0);
  EXPECT_DOUBLE_EQ(bisection(c).value, 4 * 450e9);
}

TEST(Cluster, EqualSizesAreTheUniformCase) {
  Level node = level("node", LevelKind::switched, 1, 450e9, 1e-6);
  node.fan_out.sizes = {8, 8};
  const Cluster c = cluster({node, level("rack", LevelKind::switched, 2, 50e9, 1e-6)});
  EXPECT_TRUE(c.levels()[0].fan_out.uniform());
  EXPECT_EQ(c.devices(), 16);
}

TEST(Cluster, BadLevelsAreRefused) {
  try {
    (void)cluster({level("a", LevelKind::switched, 2, 1e9, 0), level("a", LevelKind::switched, 2, 1e9, 0)});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "test: levels[1].name: two levels are called 'a'");
  }
}

}  // namespace
}  // namespace nest::cluster
