#include "nest/cluster/imports/switch_graph.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nest::cluster {
namespace {

// Which hosts lie together, whatever the numbers of their domains.
std::vector<std::vector<bool>> together(const std::vector<std::int32_t>& tier) {
  std::vector<std::vector<bool>> out;
  for (const std::int32_t a : tier) {
    out.emplace_back();
    for (const std::int32_t b : tier) out.back().push_back(a == b);
  }
  return out;
}

TEST(SwitchGraph, TwoLeavesBelowTwoSpinesAreOneDomain) {
  SwitchGraph graph(4);
  const auto a = graph.add_switch(0);
  const auto b = graph.add_switch(0);
  for (const auto spine : {graph.add_switch(1), graph.add_switch(1)}) {
    graph.join(a, spine);
    graph.join(spine, b);
  }
  for (int host = 0; host < 4; ++host) graph.attach(host, host < 2 ? a : b);
  const auto tiers = graph.tiers();
  ASSERT_EQ(tiers.size(), 2U);
  EXPECT_EQ(together(tiers[0]), together({0, 0, 1, 1}));
  EXPECT_EQ(together(tiers[1]), together({0, 0, 0, 0}));
}

// Each host has an interface at each of the two leaves of its group.
TEST(SwitchGraph, RailsMakeAGroup) {
  SwitchGraph graph(4);
  const auto core = graph.add_switch(1);
  for (int group = 0; group < 2; ++group) {
    for (int rail = 0; rail < 2; ++rail) {
      const auto leaf = graph.add_switch(0);
      graph.join(leaf, core);
      graph.attach(2 * group, leaf);
      graph.attach(2 * group + 1, leaf);
    }
  }
  EXPECT_EQ(together(graph.tiers()[0]), together({0, 0, 1, 1}));
}

// Switches of hosts that are cabled to each other, as in a dragonfly: one tier above them.
TEST(SwitchGraph, LeavesThatAreJoinedThemselves) {
  SwitchGraph graph(3);
  std::vector<std::int32_t> all;
  for (int host = 0; host < 3; ++host) {
    all.push_back(graph.add_switch(0));
    graph.attach(host, all.back());
  }
  graph.join(all[0], all[1]);
  const auto tiers = graph.tiers();
  ASSERT_EQ(tiers.size(), 2U);
  EXPECT_EQ(together(tiers[0]), together({0, 1, 2}));
  EXPECT_EQ(together(tiers[1]), together({0, 0, 2}));
}

}  // namespace
}  // namespace nest::cluster
