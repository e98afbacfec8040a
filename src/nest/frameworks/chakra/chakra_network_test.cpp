#include "nest/frameworks/chakra/chakra_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"

namespace nest::frameworks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Cluster cluster_of(const std::string& levels) {
  return read_cluster(parse_yaml("cluster", "name: c\naccelerator: h100-sxm\nlevels:\n" + levels));
}

// 450e9 / 2^30 = 419.095; half the latency for each of the two hops through a switch; the spine's 50 GB/s are
// four times oversubscribed.
TEST(ChakraNetwork, LevelsBecomeDimensions) {
  const ChakraNetwork network = chakra_network(catalog_cluster("h100-spine-leaf"));
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
  EXPECT_EQ(network_text(flat_network(chakra_network(catalog_cluster("h100-spine-leaf")))),
            "topology: [ Switch ]\nnpus_count: [ 1024 ]\nbandwidth: [ 11.6415 ]  # GiB/s\n"
            "latency: [ 5000 ]  # ns\n");
}

// Racks of 1 and 3 nodes: as if both had 3, so that rack 1 begins at NPU 6.
TEST(ChakraNetwork, UnevenTreesKeepTheirPlaces) {
  const ChakraNetwork network = chakra_network(
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
  const ChakraNetwork network = chakra_network(
      cluster_of("  - {name: node, kind: switch, sizes: [" + sizes +
                 "], bandwidth: 400 GB/s, latency: 1 us}\n"
                 "  - {name: rack, kind: switch, size: 64, bandwidth: 50 GB/s, latency: 5 us}\n"));
  EXPECT_EQ(network.npus, 127);
  ASSERT_EQ(network.dimensions.size(), 1U);
  EXPECT_THAT(network.lost[0], HasSubstr("one switch at the bandwidth of rack"));
}

// A torus has two links each way: 600 GB/s over six.
TEST(ChakraNetwork, ToriAreRingsOfRings) {
  const ChakraNetwork network = chakra_network(
      cluster_of("  - {name: pod, kind: torus, dims: [4, 4, 8], bandwidth: 600 GB/s, latency: 1 us}\n"));
  EXPECT_EQ(network_text(network.dimensions),
            "topology: [ Ring, Ring, Ring ]\nnpus_count: [ 4, 4, 8 ]\n"
            "bandwidth: [ 93.1323, 93.1323, 93.1323 ]  # GiB/s\nlatency: [ 1000, 1000, 1000 ]  # ns\n");
  const ChakraNetwork mesh = chakra_network(
      cluster_of("  - {name: pod, kind: mesh, dims: [4], bandwidth: 600 GB/s, latency: 1 us}\n"));
  EXPECT_THAT(mesh.lost, ElementsAre("level pod: its open rows are closed into rings"));
}

TEST(ChakraNetwork, OneDeviceIsASwitchOfOne) {
  const ChakraNetwork network = chakra_network(
      cluster_of("  - {name: node, kind: switch, size: 1, bandwidth: 400 GB/s, latency: 1 us}\n"));
  EXPECT_EQ(network.npus, 1);
  EXPECT_EQ(network.dimensions.size(), 1U);
  EXPECT_THAT(network.lost, IsEmpty());
}

TEST(ChakraNetwork, SystemHasOneAlgorithmForEachDimension) {
  const std::string text = system_text(catalog_cluster("h100-spine-leaf"), Precision::bf16, 2);
  EXPECT_THAT(text, HasSubstr("\"all-reduce-implementation\": [\"ring\", \"ring\"]"));
  EXPECT_THAT(text, HasSubstr("\"peak-perf\": 989"));
  EXPECT_THAT(text, HasSubstr("\"local-mem-bw\": 3350"));
}

}  // namespace
}  // namespace nest::frameworks
