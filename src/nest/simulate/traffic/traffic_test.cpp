#include "nest/simulate/traffic/traffic.hpp"

#include <gtest/gtest.h>

#include <random>

#include "nest/cluster/catalog.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using test_plans::cluster_of;
using test_plans::example_cluster;
using test_plans::level;

Cell cell(std::initializer_list<int> ids) {
  Cell out;
  for (const int id : ids) out.emplace_back(id);
  return out;
}

// 50 MB: 0.501 ms in a node, 5.005 ms across (docs/design.md, worked example).
TEST(Traffic, SendsTakeTheirPriceAlone) {
  const Cluster c = example_cluster();
  Traffic traffic(c, ideal_constants(c));
  EXPECT_NEAR(traffic.send(Bytes{50'000'000}, traffic.routes(cell({0}), cell({1}))).alone_s(), 0.501e-3,
              1e-12);
  EXPECT_NEAR(traffic.send(Bytes{50'000'000}, traffic.routes(cell({1}), cell({2}))).alone_s(), 5.005e-3,
              1e-12);
  EXPECT_TRUE(traffic.send(Bytes{50'000'000}, traffic.routes(cell({1}), cell({1}))).phases.empty());
}

TEST(Traffic, PairsOfACellLoadLinksTogether) {
  const Cluster c = example_cluster();
  Traffic traffic(c, ideal_constants(c));
  const Job job = traffic.send(Bytes{1000}, traffic.routes(cell({0, 1}), cell({2, 3})));
  ASSERT_EQ(job.phases.size(), 1U);
  ASSERT_EQ(job.phases[0].uses.size(), 2U);  // one uplink, one downlink
  EXPECT_EQ(job.phases[0].uses[0].bytes, 2000);
  ASSERT_EQ(job.by_level.size(), 1U);
  EXPECT_EQ(job.by_level[0].level, LevelId{1});
}

// On real fabrics and grids too, each pair alone takes what collective_time says, whatever the message.
TEST(Traffic, PairsTakeCollectiveTimeOnEveryCluster) {
  std::mt19937 random(7);
  for (const char* name : {"h100-spine-leaf", "gb200-nvl72", "tpu-v5p-256", "dgx-a100-superpod"}) {
    const Cluster c = catalog_cluster(name);
    const FabricConstants constants = fabric_constants(c);
    const CollectiveModel model(c, constants);
    Traffic traffic(c, constants);
    for (int n = 0; n < 50; ++n) {
      const DeviceId a{static_cast<std::int32_t>(random() % static_cast<unsigned>(c.devices()))};
      const DeviceId b{static_cast<std::int32_t>(random() % static_cast<unsigned>(c.devices()))};
      if (a == b) continue;
      const Bytes bytes{1 << (random() % 28)};
      const std::vector<DeviceId> pair{a, b};
      const double expected = collective_time(CollectiveKind::send, bytes, group_shape(c, pair), model).value;
      const Job job = traffic.send(bytes, traffic.routes({a}, {b}));
      ASSERT_NEAR(job.alone_s(), expected, 1e-12 * expected) << name;
      for (const LinkUse& use : job.phases[0].uses) {
        ASSERT_LE(use.bytes / job.phases[0].transfer_s,
                  traffic.links().capacity(use.link).value * (1 + 1e-9));
      }
    }
  }
}

// 600 MB over 2 x 2: 6.002 ms in the nodes, 30.010 ms across (docs/design.md, worked example, p = 1, q = 4).
TEST(Traffic, HierarchicalCollectivesHaveAPhaseForEachLevel) {
  const Cluster c = example_cluster();
  Traffic traffic(c, ideal_constants(c));
  const std::vector<std::vector<DeviceId>> groups{cell({0, 1, 2, 3})};
  const Job job = traffic.collective(CollectiveKind::all_reduce, Bytes{600'000'000}, groups);
  ASSERT_EQ(job.phases.size(), 2U);
  EXPECT_NEAR(job.alone_s(), 36.012e-3, 1e-12);
  // Across: each node passes on 2 * 1/2 of all data.
  for (const LinkUse& use : job.phases[1].uses) EXPECT_NEAR(use.bytes, 600e6, 1);
  EXPECT_EQ(job.phases[1].uses.size(), 4U);
}

TEST(Traffic, CollectivesTakeTheirPriceAloneOnEveryCluster) {
  for (const char* name : {"h100-spine-leaf", "gb200-nvl72", "tpu-v5p-256"}) {
    const Cluster c = catalog_cluster(name);
    for (const FabricConstants& constants : {ideal_constants(c), fabric_constants(c)}) {
      const CollectiveModel model(c, constants);
      Traffic traffic(c, constants);
      for (const int stride : {1, 4, 8}) {
        std::vector<DeviceId> group;
        for (int d = 0; d < 32 && d * stride < c.devices(); ++d) group.emplace_back(d * stride);
        for (const CollectiveKind kind :
             {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
          const Bytes bytes{1'000'000'000};
          const double expected = collective_time(kind, bytes, group_shape(c, group), model).value;
          const Job job = traffic.collective(kind, bytes, std::vector<std::vector<DeviceId>>{group});
          ASSERT_NEAR(job.alone_s(), expected, 1e-9 * expected) << name;
          for (const JobPhase& phase : job.phases) {
            EXPECT_FALSE(phase.uses.empty());
            for (const LinkUse& use : phase.uses) {
              ASSERT_LE(use.bytes, traffic.links().capacity(use.link).value * phase.transfer_s * (1 + 1e-9));
            }
          }
        }
      }
    }
  }
}

TEST(Traffic, MergeAddsUpWhatUsesTheSameLink) {
  std::vector<LinkUse> uses{{LinkId{2}, 1}, {LinkId{1}, 5}, {LinkId{2}, 3}};
  merge_uses(uses);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].bytes, 5);
  EXPECT_EQ(uses[1].bytes, 4);
}

}  // namespace
}  // namespace nest::simulate
