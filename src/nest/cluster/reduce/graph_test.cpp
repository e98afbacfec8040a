#include "nest/cluster/reduce/graph.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::cluster {
namespace {

NetworkGraph read(const std::string& text) {
  return read_graph(parse_document("net.yaml", text));
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const std::string kHead = "name: net\naccelerator: h100-sxm\n";
const std::string kNodes = kHead + "devices: 4\nswitches: [leaf]\nlinks:\n";
const std::string kAll = "  - {between: [d0..3, leaf], bandwidth: 50 GB/s, latency: 1 us}\n";

TEST(Graph, ACountNamesTheDevicesAndARangeLinksThemAll) {
  const NetworkGraph g = read(kNodes + kAll);
  EXPECT_EQ(g.devices, 4);
  EXPECT_EQ(g.names, (std::vector<std::string>{"d0", "d1", "d2", "d3", "leaf"}));
  ASSERT_EQ(g.links.size(), 4U);
  EXPECT_EQ(g.links[2].a, 2);
  EXPECT_EQ(g.links[2].b, 4);
  EXPECT_EQ(g.links[2].bandwidth.value, 50e9);
}

TEST(Graph, RangesKeepTheWidthOfTheirNumbers) {
  const NetworkGraph g = read(kHead +
                              "devices: [gpu08..11, extra]\nswitches: 1\nlinks:\n"
                              "  - {between: [gpu08..11, s0], bandwidth: 1 GB/s, latency: 1 us}\n"
                              "  - {between: [s0, extra], bandwidth: 1 GB/s, latency: 1 us}\n");
  EXPECT_EQ(g.names, (std::vector<std::string>{"gpu08", "gpu09", "gpu10", "gpu11", "extra", "s0"}));
}

TEST(Graph, ParallelLinksAddUp) {
  const NetworkGraph g =
      read(kNodes + kAll + "  - {between: [leaf, d0], bandwidth: 10 GB/s, latency: 3 us, count: 3}\n");
  EXPECT_EQ(g.links.size(), 4U);
  EXPECT_EQ(g.links[0].bandwidth.value, 80e9);
  EXPECT_EQ(g.links[0].latency.value, 1e-6);
}

TEST(Graph, TwoRangesLinkEachWithEach) {
  const NetworkGraph g = read(kHead +
                              "devices: 3\nswitches: [a0..1]\nlinks:\n"
                              "  - {between: [d0..2, a0..1], bandwidth: 1 GB/s, latency: 1 us}\n");
  EXPECT_EQ(g.links.size(), 6U);
}

TEST(Graph, BrokenFilesAreAnsweredToTheLetter) {
  EXPECT_EQ(error_of(kNodes + "  - {between: [d0..2, leaf], bandwidth: 50 GB/s, latency: 1 us}\n"),
            "net.yaml: line 5, links: no path joins 'd0' and 'd3'");
  EXPECT_EQ(error_of(kNodes + kAll + "  - {between: [d0, laef], bandwidth: 50 GB/s, latency: 1 us}\n"),
            "net.yaml: line 7, links[1].between: there is no device or switch 'laef'; did you mean 'leaf'?");
  EXPECT_EQ(error_of(kNodes + kAll + "  - {between: [d1, d1], bandwidth: 50 GB/s, latency: 1 us}\n"),
            "net.yaml: line 7, links[1].between: 'd1' is linked to itself");
  EXPECT_EQ(error_of(kNodes + "  - {between: [d0..3, leaf], bandwidth: 0, latency: 1 us}\n"),
            "net.yaml: line 6, links[0].bandwidth: the bandwidth must be above 0");
  EXPECT_EQ(error_of(kNodes + "  - {between: [d0..3, leaf], bandwidth: -5 GB/s, latency: 1 us}\n"),
            "net.yaml: line 6, links[0].bandwidth: '-5 GB/s' is negative");
  EXPECT_EQ(error_of(kHead + "devices: [a, b, a]\nlinks: []\n"),
            "net.yaml: line 3, devices: the name 'a' is given twice");
  EXPECT_EQ(error_of(kHead + "devices: [a, b]\nswitches: [b]\nlinks: []\n"),
            "net.yaml: line 4, switches: the name 'b' is given twice");
  EXPECT_EQ(error_of(kHead + "devices: 1\nlinks: []\n"),
            "net.yaml: line 3, devices: at least two devices are expected");
  EXPECT_EQ(error_of(kHead + "devices: 5000\nlinks: []\n"),
            "net.yaml: line 3, devices: 5,000 devices are more than the 4,096 that can be reduced to levels");
  EXPECT_EQ(
      error_of(kNodes + "  - {between: [d0..3], bandwidth: 1 GB/s, latency: 1 us}\n"),
      "net.yaml: line 6, links[0].between: two names are expected, such as [d0, leaf0] or [d0..7, leaf0]");
  EXPECT_EQ(error_of(kNodes + "  - {between: [d3..0, leaf], bandwidth: 1 GB/s, latency: 1 us}\n"),
            "net.yaml: line 6, links[0].between: 'd3..0' is not a range of names; write it like 'd0..7'");
  EXPECT_EQ(error_of(kNodes + "  - {between: [d0..3, leaf], bandwidth: 1 GB/s, latancy: 1 us}\n"),
            "net.yaml: line 6, links[0]: unknown key 'latancy'; did you mean 'latency'?");
  EXPECT_EQ(error_of(kNodes + "  - {between: [d0..3, leaf], bandwidth: 1 GB/s, latency: 1 us, count: 0}\n"),
            "net.yaml: line 6, links[0].count: 0 is outside 1 to 65,536");
  EXPECT_EQ(error_of("name: ''\naccelerator: h100-sxm\ndevices: 4\nlinks: []\n"),
            "net.yaml: line 1, name: the name is empty");
  EXPECT_EQ(error_of(kHead + "devices: [\"a\\nb\", c]\nlinks: []\n"),
            "net.yaml: line 3, devices: a text without control characters is expected");
  EXPECT_EQ(error_of(kHead + "levels: []\n"),
            "net.yaml: line 1: this is not a graph file; this looks like a cluster file: nest clusters show "
            "net.yaml");
  EXPECT_EQ(error_of(kHead + "devices: 4\n"),
            "net.yaml: line 1: the key 'links' is missing; it holds a list");
  EXPECT_EQ(error_of(kHead + "devices: 4\nswitchs: [leaf]\nlinks: []\n"),
            "net.yaml: line 4: unknown key 'switchs'; did you mean 'switches'?");
  EXPECT_EQ(error_of("name: net\naccelerator: h100\ndevices: 4\nlinks: []\n"),
            "net.yaml: line 2, accelerator: unknown accelerator 'h100'; did you mean 'h100-sxm'?");
}

}  // namespace
}  // namespace nest::cluster
