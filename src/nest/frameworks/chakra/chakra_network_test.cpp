#include "nest/frameworks/chakra/chakra_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"

namespace nest::frameworks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Cluster cluster_of(const std::string& levels) {
  return read_cluster(parse_yaml("cluster", "name: c\naccelerator: h100-sxm\nlevels:\n" + levels));
}

ChakraNetwork ideal_network(const Cluster& cluster) {
  return chakra_network(cluster, ideal_constants(cluster));
}

// 450e9 / 2^30 = 419.095; half the latency for each of the two hops through a switch; the spine's 50 GB/s are
// four times oversubscribed.
TEST(ChakraNetwork, LevelsBecomeDimensions) {
  const ChakraNetwork network = ideal_network(catalog_cluster("h100-spine-leaf"));
  EXPECT_EQ(network_text(network.dimensions),
            "topology: [ Switch, Switch, Switch ]\n"
            "npus_count: [ 8, 4, 32 ]\n"
            "bandwidth: [ 419.095, 46.5661, 11.6415 ]  # GiB/s\n"
            "latency: [ 500, 2500, 5000 ]  # ns\n");
  EXPECT_EQ(network.npus, 1024);
  EXPECT_EQ(network.npu_of[43], 43);
  ASSERT_EQ(network.lost.size(), 2U);
  EXPECT_THAT(network.lost[0], HasSubstr("level spine: every link is 4x oversubscribed"));
}

TEST(ChakraNetwork, FlatIsAsSlowAsTheSlowest) {
  EXPECT_EQ(network_text(flat_network(ideal_network(catalog_cluster("h100-spine-leaf")))),
            "topology: [ Switch, Switch ]\nnpus_count: [ 32, 32 ]\nbandwidth: [ 11.6415, 11.6415 ]  # GiB/s\n"
            "latency: [ 5000, 5000 ]  # ns\n");
}

// Racks of 1 and 3 nodes: as if both had 3, so that rack 1 begins at NPU 6.
TEST(ChakraNetwork, UnevenTreesKeepTheirPlaces) {
  const ChakraNetwork network = ideal_network(
      cluster_of("  - {name: node, kind: switch, size: 2, bandwidth: 400 GB/s, latency: 1 us}\n"
                 "  - {name: rack, kind: switch, sizes: [1, 3], bandwidth: 50 GB/s, latency: 5 us}\n"
                 "  - {name: spine, kind: switch, size: 2, bandwidth: 50 GB/s, latency: 5 us}\n"));
  EXPECT_EQ(network.npus, 12);
  EXPECT_THAT(network.npu_of, ElementsAre(0, 1, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(network.lost[0], HasSubstr("4 of its 12 NPUs stand for devices that the cluster lacks"));
}

TEST(ChakraNetwork, TooUnevenIsOneSwitch) {
  std::string sizes = "64";
  for (int i = 0; i < 63; ++i) sizes += ", 1";
  const ChakraNetwork network = ideal_network(
      cluster_of("  - {name: node, kind: switch, sizes: [" + sizes +
                 "], bandwidth: 400 GB/s, latency: 1 us}\n"
                 "  - {name: rack, kind: switch, size: 64, bandwidth: 50 GB/s, latency: 5 us}\n"));
  EXPECT_EQ(network.npus, 128);  // 127 has no sides
  ASSERT_EQ(network.levels.size(), 1U);
  ASSERT_EQ(network.dimensions.size(), 2U);
  EXPECT_THAT(network.lost[0], HasSubstr("one switch at the bandwidth of rack"));
}

// A torus has two links each way: 600 GB/s over six.
TEST(ChakraNetwork, ToriAreRingsOfRings) {
  const ChakraNetwork network = ideal_network(
      cluster_of("  - {name: pod, kind: torus, dims: [4, 4, 8], bandwidth: 600 GB/s, latency: 1 us}\n"));
  EXPECT_EQ(network_text(network.dimensions),
            "topology: [ Ring, Ring, Ring ]\nnpus_count: [ 4, 4, 8 ]\n"
            "bandwidth: [ 93.1323, 93.1323, 93.1323 ]  # GiB/s\nlatency: [ 1000, 1000, 1000 ]  # ns\n");
  const ChakraNetwork mesh = ideal_network(
      cluster_of("  - {name: pod, kind: mesh, dims: [4], bandwidth: 600 GB/s, latency: 1 us}\n"));
  EXPECT_THAT(mesh.lost, ElementsAre("level pod: its open rows are closed into rings"));
}

// With one dimension the simulator frees memory twice when it ends, and it takes none of one NPU.
TEST(ChakraNetwork, OneLevelIsTwoEqualDimensions) {
  const auto dimensions = [](int size) {
    const ChakraNetwork network =
        ideal_network(cluster_of("  - {name: node, kind: switch, size: " + std::to_string(size) +
                                 ", bandwidth: 400 GB/s, latency: 1 us}\n"));
    EXPECT_EQ(network.levels.size(), 1U);
    EXPECT_EQ(network.levels[0].npus, network.npus);
    EXPECT_EQ(network.dimensions[0].bandwidth, network.dimensions[1].bandwidth);
    EXPECT_EQ(network.dimensions.size(), 2U);
    return std::pair{network.dimensions[0].npus, network.dimensions[1].npus};
  };
  EXPECT_EQ(dimensions(16), (std::pair{4, 4}));
  EXPECT_EQ(dimensions(8), (std::pair{2, 4}));
  EXPECT_EQ(dimensions(7), (std::pair{2, 4}));  // one of them idle
  EXPECT_EQ(dimensions(2), (std::pair{2, 2}));
  EXPECT_EQ(dimensions(1), (std::pair{2, 2}));
}

// 450 GB/s and 50 GB/s, as far as libraries get on them.
TEST(ChakraNetwork, LinksGiveWhatLibrariesReach) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const FabricConstants constants = fabric_constants(cluster);
  const ChakraNetwork network = chakra_network(cluster, constants);
  ASSERT_LT(constants.levels[0].efficiency, 1);
  EXPECT_DOUBLE_EQ(network.dimensions[0].bandwidth.value, 450e9 * constants.levels[0].efficiency);
  EXPECT_DOUBLE_EQ(network.dimensions[1].bandwidth.value, 50e9 * constants.levels[1].efficiency);
  EXPECT_DOUBLE_EQ(network.dimensions[0].hop.value, (1e-6 + constants.levels[0].wide_step.value) / 2);
}

TEST(ChakraNetwork, SystemHasOneAlgorithmForEachDimension) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const std::string text = system_text(cluster, Precision::bf16, {.dimensions = 2});
  EXPECT_THAT(text, HasSubstr("\"all-reduce-implementation\": [\"ring\", \"ring\"]"));
  EXPECT_THAT(text, HasSubstr("\"all-to-all-implementation\": [\"direct1\", \"direct1\"]"));
  EXPECT_THAT(text, HasSubstr("\"peak-perf\": 989"));
  EXPECT_THAT(text, HasSubstr("\"local-mem-bw\": 1e+09"));  // reductions wait for no memory
  EXPECT_THAT(system_text(cluster, Precision::bf16, {.group_all_to_all = true}),
              HasSubstr("\"all-to-all-implementation\": [\"direct1\"]"));
  EXPECT_THAT(system_text(cluster, Precision::bf16, {.one_level = true}),
              HasSubstr("\"all-reduce-implementation\": [\"oneRing\", \"oneRing\"]"));
  EXPECT_THAT(system_text(cluster, Precision::bf16, {.roofline = true}), HasSubstr("\"local-mem-bw\": 3350"));
}

}  // namespace
}  // namespace nest::frameworks
