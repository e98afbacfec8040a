#include "nest/simulate/traffic/symmetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using test_plans::cluster_of;
using test_plans::level;
using testing::ElementsAre;

Routes pair(Traffic& traffic, int from, int to) {
  return traffic.routes({DeviceId{from}}, {DeviceId{to}});
}

struct Net {
  Cluster cluster = cluster_of({level("node", 2, 100e9, 1e-6), level("rack", 4, 10e9, 5e-6)});
  Traffic traffic{cluster, ideal_constants(cluster)};
};

TEST(Symmetry, CopiesInNodesOfTheirOwnAreAlike) {
  Net net;
  const std::vector<BoundaryRoutes> boundaries{
      {pair(net.traffic, 0, 1), pair(net.traffic, 2, 3), pair(net.traffic, 4, 5)}};
  EXPECT_THAT(alike_copies(boundaries, 3, net.traffic.links()), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Symmetry, ACopyThatStraddlesANodeIsApart) {
  Net net;
  const std::vector<BoundaryRoutes> boundaries{
      {pair(net.traffic, 0, 1), pair(net.traffic, 2, 4), pair(net.traffic, 6, 7)}};
  EXPECT_THAT(alike_copies(boundaries, 3, net.traffic.links()),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

// Copies 0 and 1 share node 0's uplink, copy 2 has one to itself.
TEST(Symmetry, HowFullLinksAreCountsToo) {
  Net net;
  const std::vector<BoundaryRoutes> boundaries{
      {pair(net.traffic, 0, 2), pair(net.traffic, 1, 3), pair(net.traffic, 4, 6)}};
  EXPECT_THAT(alike_copies(boundaries, 3, net.traffic.links()),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(Symmetry, OneCopyCountsForThoseThatShareItsLinks) {
  Net net;
  const BoundaryRoutes boundary{pair(net.traffic, 0, 2), pair(net.traffic, 1, 3), pair(net.traffic, 4, 6)};
  std::vector<bool> matters(net.traffic.links().size());
  for (const LinkUse& use : boundary[0].uses) matters[use.link.index()] = true;
  const std::vector<std::size_t> all{0, 1, 2};
  const Routes joint = joint_routes(boundary, all, matters);
  ASSERT_EQ(joint.uses.size(), 2U);
  EXPECT_EQ(joint.uses[0].bytes, 2);  // copies 0 and 1; the links of copy 2 do not matter
  EXPECT_EQ(joint.by_level[0].bytes, 3);
}

}  // namespace
}  // namespace nest::simulate
