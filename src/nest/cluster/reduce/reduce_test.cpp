#include "nest/cluster/reduce/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "nest/base/document/document.hpp"
#include "nest/cluster/reduce/test_networks.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing_networks::empty;
using testing_networks::grid;
using testing_networks::link;

// Nodes of 8 on an NVSwitch, 4 nodes on a leaf, 32 leaves; 8 spines take 50 GB/s from each leaf, whose 32
// devices could send 1,600: oversubscribed 4:1. Latencies: 2 x 0.5, 2 x 2.5, and 2 x 2.5 + 2 x 2.5 us.
std::string fat_tree_yaml() {
  std::string s =
      "name: fat-tree\naccelerator: h100-sxm\ndevices: 1024\nswitches: [nv0..127, leaf0..31, "
      "spine0..7]\nlinks:\n";
  const auto range = [](int first, int count) {
    return "d" + std::to_string(first) + ".." + std::to_string(first + count - 1);
  };
  for (int node = 0; node < 128; ++node) {
    s += "  - {between: [" + range(8 * node, 8) + ", nv" + std::to_string(node) +
         "], bandwidth: 450 GB/s, latency: 500 ns}\n";
  }
  for (int leaf = 0; leaf < 32; ++leaf) {
    s += "  - {between: [" + range(32 * leaf, 32) + ", leaf" + std::to_string(leaf) +
         "], bandwidth: 50 GB/s, latency: 2.5 us}\n";
  }
  return s + "  - {between: [leaf0..31, spine0..7], bandwidth: 50 GB/s, latency: 2.5 us}\n";
}

TEST(Reduce, AFatTreeOf1024ComesBackAsItsLevels) {
  const auto start = std::chrono::steady_clock::now();
  const Reduction r = reduce_graph(read_graph(parse_document("fat-tree.yaml", fat_tree_yaml())));
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", std::to_string(took));
  EXPECT_EQ(r.method, "bottleneck");
  EXPECT_EQ(r.worst_error, 0);
  EXPECT_FALSE(r.reordered);
  ASSERT_EQ(r.cluster.levels().size(), 3U);
  const std::vector<std::int32_t> sizes{8, 4, 32};
  const std::vector<double> rates{450e9, 50e9, 50e9};
  const std::vector<double> latencies{1e-6, 5e-6, 10e-6};
  for (std::size_t l = 0; l < 3; ++l) {
    const Level& level = r.cluster.levels()[l];
    EXPECT_EQ(level.kind, LevelKind::switched);
    EXPECT_EQ(level.fan_out, (FanOut{sizes[l], {}}));
    EXPECT_EQ(level.bandwidth.value, rates[l]);
    EXPECT_EQ(level.latency.value, latencies[l]);
    EXPECT_EQ(level.oversubscription, l == 2 ? 4 : 1);
  }
#ifdef NDEBUG
  EXPECT_LT(took, 2.0);
#endif
}

TEST(Reduce, ShuffledDevicesComeBackInTheirDomains) {
  constexpr unsigned kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  std::vector<std::int32_t> place(64);  // device -> its place in the tree 4 x 4 x 4
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), random);
  NetworkGraph g = empty(64, 16 + 4 + 1);
  for (std::int32_t d = 0; d < 64; ++d) {
    link(g, d, 64 + place[static_cast<std::size_t>(d)] / 4, 400e9, 0.5e-6);
    link(g, d, 80 + place[static_cast<std::size_t>(d)] / 16, 50e9, 2e-6);
  }
  for (std::int32_t leaf = 0; leaf < 4; ++leaf) link(g, 80 + leaf, 84, 400e9, 3e-6);
  g.links = merge_parallel(std::move(g.links));
  const Reduction r = reduce_graph(g);
  EXPECT_TRUE(r.reordered);
  EXPECT_EQ(r.cluster.parts().device_names, r.device_names);  // a file of the cluster keeps them
  EXPECT_EQ(r.worst_error, 0);
  ASSERT_EQ(r.cluster.levels().size(), 3U);
  EXPECT_EQ(r.cluster.levels()[2].oversubscription, 2);  // 16 devices x 50 GB/s over an uplink of 400
  for (std::size_t leaf = 0; leaf < 64; ++leaf) {
    const std::size_t first = leaf / 16 * 16;
    EXPECT_EQ(place[static_cast<std::size_t>(r.order[leaf])] / 16,
              place[static_cast<std::size_t>(r.order[first])] / 16);
    EXPECT_EQ(r.device_names[leaf], "d" + std::to_string(r.order[leaf]));
  }
}

TEST(Reduce, ATorusErrsLeastByDimension) {
  const Reduction r = reduce_graph(grid({8, 8}, true, 50e9, 1e-6));
  EXPECT_EQ(r.method, "dimensions");
  ASSERT_EQ(r.cluster.levels().size(), 2U);
  EXPECT_EQ(r.cluster.levels()[0].kind, LevelKind::ring);
  // Two links of 50 GB/s for each device in each dimension, and every pair has one.
  EXPECT_DOUBLE_EQ(r.cluster.levels()[0].bandwidth.value, 100e9);
  EXPECT_DOUBLE_EQ(r.cluster.levels()[1].bandwidth.value, 100e9);
  EXPECT_DOUBLE_EQ(r.cluster.levels()[0].latency.value, 1e-6);
  // Devices that differ in y by 1 to 4 hops differ in x by 0 to 4, which the level does not see: for (hx +
  // hy) / hy between 1 and 5 the best latency a hop is 2 * 1 * 5 / 6 us, off by (5 - 1) / (5 + 1).
  EXPECT_DOUBLE_EQ(r.cluster.levels()[1].latency.value, 10e-6 / 6);
  EXPECT_NEAR(r.worst_error, 2.0 / 3, 1e-9);
  EXPECT_EQ(r.levels[0].worst_latency_error, 0);
  EXPECT_EQ(r.levels[1].worst_bandwidth_error, 0);
  EXPECT_EQ(r.grid_dims, (std::vector<std::int32_t>{8, 8}));
  // One switch for all would have 1 to 8 hops: off by (8 - 1) / (8 + 1).
  const auto bottleneck = std::find_if(r.attempts.begin(), r.attempts.end(),
                                       [](const Attempt& a) { return a.method == "bottleneck"; });
  ASSERT_NE(bottleneck, r.attempts.end());
  EXPECT_NEAR(bottleneck->worst_error, 7.0 / 9, 1e-9);
}

TEST(Reduce, ATorusKeptAsOneIsExact) {
  const Reduction r = reduce_graph(grid({4, 4, 8}, true, 100e9, 1e-6), {.keep_torus = true});
  EXPECT_EQ(r.method, "torus");
  EXPECT_EQ(r.worst_error, 0);
  EXPECT_DOUBLE_EQ(r.cluster.levels()[0].bandwidth.value, 600e9);
  EXPECT_EQ(r.cluster.levels()[0].dims, (std::vector<std::int32_t>{4, 4, 8}));
}

TEST(Reduce, ARingIsOneExactLevel) {
  const Reduction r = reduce_graph(grid({12}, true, 50e9, 1e-6));
  EXPECT_EQ(r.cluster.levels()[0].kind, LevelKind::ring);
  EXPECT_EQ(r.worst_error, 0);
}

TEST(Reduce, LinksBetweenAllPairsKeepTheirSum) {
  NetworkGraph g = empty(16, 1);
  for (std::int32_t a = 0; a < 16; ++a) {
    for (std::int32_t b = 0; b < a; ++b) {
      if (a / 8 == b / 8) link(g, b, a, 64e9, 1e-6);
    }
    link(g, a, 16, 50e9, 4e-6);
  }
  const Reduction r = reduce_graph(g);
  EXPECT_EQ(r.worst_error, 0);
  ASSERT_EQ(r.cluster.levels().size(), 2U);
  EXPECT_EQ(r.cluster.levels()[0].kind, LevelKind::fully_connected);
  EXPECT_DOUBLE_EQ(r.cluster.levels()[0].bandwidth.value, 448e9);
  EXPECT_EQ(r.cluster.levels()[1].oversubscription, 1);
}

TEST(Reduce, UnevenDomainsComeBackUneven) {
  NetworkGraph g = empty(11, 4);
  const std::vector<std::int32_t> node{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  for (std::int32_t d = 0; d < 11; ++d) {
    link(g, d, 11 + node[static_cast<std::size_t>(d)], 300e9, 1e-6);
    link(g, d, 14, 25e9, 5e-6);
  }
  const Reduction r = reduce_graph(g);
  EXPECT_EQ(r.cluster.levels()[0].fan_out.sizes, (std::vector<std::int32_t>{3, 4, 4}));
  EXPECT_EQ(r.worst_error, 0);
}

// A 8 x 4 x 2 tree measured with 5 % of noise on every entry.
MeasuredPairs noisy(unsigned seed) {
  std::mt19937 random(seed);
  const auto noise = [&] { return 0.95 + 0.1 * static_cast<double>(random()) / 4294967295.0; };
  const std::vector<double> rates{450e9, 50e9, 12.5e9};
  const std::vector<double> latencies{1e-6, 5e-6, 10e-6};
  std::string bandwidth;
  std::string latency;
  for (int a = 0; a < 64; ++a) {
    for (int b = 0; b < 64; ++b) {
      const std::size_t l = a / 8 == b / 8 ? 0 : a / 32 == b / 32 ? 1 : 2;
      bandwidth += (b > 0 ? "," : "") + std::to_string(rates[l] * noise());
      latency += (b > 0 ? "," : "") + std::to_string(latencies[l] * noise() * 1e9) + " ns";
    }
    bandwidth += "\n";
    latency += "\n";
  }
  return read_matrices({"bw.csv", bandwidth}, {"lat.csv", latency});
}

TEST(Reduce, ANoisyMatrixHasItsLevelsAndNoMoreErrorThanItsNoise) {
  constexpr unsigned kSeed = 42;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const Reduction r = reduce_pairs(noisy(kSeed), "noisy", find_accelerator("h100-sxm"));
  EXPECT_EQ(r.method, "bottleneck-tolerant");
  ASSERT_EQ(r.cluster.levels().size(), 3U);
  const std::vector<std::int32_t> sizes{8, 4, 2};
  const std::vector<double> rates{450e9, 50e9, 12.5e9};
  const std::vector<double> latencies{1e-6, 5e-6, 10e-6};
  for (std::size_t l = 0; l < 3; ++l) {
    const Level& level = r.cluster.levels()[l];
    EXPECT_EQ(level.fan_out, (FanOut{sizes[l], {}}));
    EXPECT_NEAR(level.bandwidth.value, rates[l], 0.01 * rates[l]);
    EXPECT_NEAR(level.latency.value, latencies[l], 0.01 * latencies[l]);
  }
  // True figures lie within 0.95 and 1.05 of the level's: at most (1.05 - 0.95) / (1.05 + 0.95) = 5 %. Two
  // directions are averaged, so the ends are rarely reached.
  EXPECT_LT(r.worst_error, 0.05);
  EXPECT_GT(r.worst_error, 0.04);
}

TEST(Reduce, ANameIsNeeded) {
  const auto refusal = [](const std::string& name) {
    return message_of([&] { static_cast<void>(reduce_pairs(noisy(1), name, find_accelerator("h100-sxm"))); });
  };
  EXPECT_EQ(refusal(""), "the cluster's name is empty");
  EXPECT_EQ(refusal("a\nb"), "the cluster's name has control characters");
  NetworkGraph g = grid({4}, true, 50e9, 1e-6);
  g.name = "";
  EXPECT_EQ(message_of([&] { static_cast<void>(reduce_graph(g)); }), "the cluster's name is empty");
}

TEST(Reduce, ALargeTorusOfThreeDimensions) {
  const Reduction r = reduce_graph(grid({16, 16, 4}, true, 50e9, 1e-6));
  EXPECT_EQ(r.cluster.devices(), 1024);
  // Outermost side of 4: hy is 1 or 2 hops, the others add 0 to 16: 1 to 17, off by 16 / 18.
  EXPECT_NEAR(r.worst_error, 16.0 / 18, 1e-9);
}

}  // namespace
}  // namespace nest::cluster
