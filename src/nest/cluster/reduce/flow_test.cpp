#include "nest/cluster/reduce/flow.hpp"

#include <gtest/gtest.h>

#include <random>

#include "nest/cluster/reduce/test_networks.hpp"
#include "support/stride.hpp"

namespace nest::cluster {
namespace {

using testing_networks::empty;
using testing_networks::grid;
using testing_networks::link;

TEST(MaxFlow, TheUplinkOfALeafLimitsItsDevices) {
  // d0, d1 under s0, d2, d3 under s1, joined by one link of 50.
  NetworkGraph g = empty(4, 2);
  for (const std::int32_t d : {0, 1}) link(g, d, 4, 50e9, 1e-6);
  for (const std::int32_t d : {2, 3}) link(g, d, 5, 50e9, 1e-6);
  link(g, 4, 5, 50e9, 1e-6);
  EXPECT_DOUBLE_EQ(max_flow(g, std::vector{0, 1}, std::vector{2, 3}).value, 50e9);
  EXPECT_DOUBLE_EQ(max_flow(g, std::vector{0}, std::vector{1}).value, 50e9);
}

TEST(MaxFlow, ADeviceOfATorusSendsOnAllItsLinks) {
  const NetworkGraph g = grid({4, 4}, true, 10e9, 1e-6);
  std::vector<std::int32_t> rest;
  for (std::int32_t d = 1; d < 16; ++d) rest.push_back(d);
  EXPECT_DOUBLE_EQ(max_flow(g, std::vector{0}, rest).value, 40e9);
}

TEST(MaxFlow, EqualsTheSmallestCutOfRandomNetworks) {
  for (unsigned seed = 1; seed <= 60; seed += test::stride()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    NetworkGraph g = empty(4, 4);
    for (int i = 0; i < 14; ++i) {
      const auto a = static_cast<std::int32_t>(random() % 8);
      const auto b = static_cast<std::int32_t>(random() % 8);
      if (a != b) link(g, a, b, 1 + static_cast<double>(random() % 9), 1);
    }
    g.links = merge_parallel(std::move(g.links));
    double least = 1e9;
    for (unsigned side = 0; side < 256;
         ++side) {  // nodes on the sender's side: devices 0 and 1, never 2 and 3
      if ((side & 15U) != 3U) continue;
      double cut = 0;
      for (const Link& l : g.links) {
        if (((side >> static_cast<unsigned>(l.a)) & 1U) != ((side >> static_cast<unsigned>(l.b)) & 1U))
          cut += l.bandwidth.value;
      }
      least = std::min(least, cut);
    }
    EXPECT_NEAR(max_flow(g, std::vector{0, 1}, std::vector{2, 3}).value, least, 1e-9);
  }
}

}  // namespace
}  // namespace nest::cluster
