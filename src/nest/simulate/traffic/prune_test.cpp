#include "nest/simulate/traffic/prune.hpp"

#include <gtest/gtest.h>

#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using test_plans::cluster_of;
using test_plans::level;

struct Net {
  // One node of 8 at 100 GB/s: every device has a link of its own each way.
  Cluster cluster = cluster_of({level("node", 8, 100e9, 1e-6)});
  Traffic traffic{cluster, ideal_constants(cluster)};

  Job send(int from, int to) {
    return traffic.send(Bytes{1'000'000}, traffic.routes({DeviceId{from}}, {DeviceId{to}}));
  }
};

TEST(Prune, LinksThatCarryEverythingAreLeftOut) {
  Net net;
  Job a = net.send(0, 1);
  Job b = net.send(2, 3);
  const std::vector<Exclusive> streams{{{&a}}, {{&b}}};
  EXPECT_EQ(prune_links(net.traffic.links(), streams), 0U);
  EXPECT_FALSE(a.shares());
}

TEST(Prune, WhatTwoStreamsUseAtOnceStays) {
  Net net;
  Job a = net.send(0, 1);
  Job b = net.send(0, 3);
  const std::vector<Exclusive> streams{{{&a}}, {{&b}}};
  EXPECT_EQ(prune_links(net.traffic.links(), streams), 1U);
  ASSERT_EQ(a.phases[0].loads.size(), 1U);
  EXPECT_EQ(net.traffic.links().name(a.phases[0].loads[0].link), "device 0 uplink");
  EXPECT_NEAR(a.phases[0].loads[0].bytes_per_s, 100e9, 1);
}

TEST(Prune, JobsOfOneStreamDoNotMeet) {
  Net net;
  Job a = net.send(0, 1);
  Job b = net.send(0, 3);
  const std::vector<Exclusive> streams{{{&a, &b}}};
  EXPECT_EQ(prune_links(net.traffic.links(), streams), 0U);
  const std::vector<Exclusive> two{{{&a, &b}, 2}};
  EXPECT_EQ(prune_links(net.traffic.links(), two), 3U);  // each could then run twice
}

// Both jobs load the uplink of device 0 and the downlink of device 1 alike.
TEST(Prune, OfLinksThatAreLoadedAlikeOneStays) {
  Net net;
  Job a = net.send(0, 1);
  Job b = net.send(0, 1);
  const std::vector<Exclusive> streams{{{&a}}, {{&b}}};
  EXPECT_EQ(prune_links(net.traffic.links(), streams), 1U);
}

}  // namespace
}  // namespace nest::simulate
