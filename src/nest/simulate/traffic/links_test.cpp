#include "nest/simulate/traffic/links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using test_plans::cluster_of;
using test_plans::level;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(LinkTable& links, int from, int to) {
  std::vector<std::string> out;
  for (const LinkUse& use : links.path(DeviceId{from}, DeviceId{to})) out.push_back(links.name(use.link));
  return out;
}

// Nodes of 8, racks of 4 nodes, a spine with oversubscription 4: the example of the contract.
Cluster spine_leaf() {
  return cluster_of(
      {level("node", 8, 450e9, 1e-6), level("rack", 4, 50e9, 5e-6), level("spine", 4, 50e9, 10e-6, 4)});
}

TEST(Links, PathsGoUpToWhereDevicesMeet) {
  const Cluster c = spine_leaf();
  LinkTable links(c, ideal_constants(c));
  EXPECT_THAT(names(links, 3, 3), IsEmpty());
  EXPECT_THAT(names(links, 0, 5), ElementsAre("device 0 uplink", "device 5 downlink"));
  EXPECT_THAT(names(links, 0, 9), ElementsAre("node 0 uplink", "node 1 downlink"));
  EXPECT_THAT(names(links, 0, 40),
              ElementsAre("node 0 uplink", "node 5 downlink", "rack 0 uplink", "rack 1 downlink"));
}

TEST(Links, UplinksCarryWhatTheirDevicesSendOverOversubscription) {
  const Cluster c = spine_leaf();
  LinkTable links(c, ideal_constants(c));
  const std::vector<LinkUse> path = links.path(DeviceId{0}, DeviceId{40});
  EXPECT_DOUBLE_EQ(links.capacity(path[0].link).value, 8 * 50e9);
  EXPECT_DOUBLE_EQ(links.capacity(path[2].link).value, 32 * 50e9 / 4);
  EXPECT_EQ(links.level(path[2].link), LevelId{2});
  EXPECT_DOUBLE_EQ(links.capacity(links.path(DeviceId{0}, DeviceId{1})[0].link).value, 450e9);
}

TEST(Links, EfficiencyIsTheFabrics) {
  const Cluster c = spine_leaf();
  FabricConstants constants = ideal_constants(c);
  constants.levels[1].efficiency = 0.5;
  LinkTable links(c, constants);
  EXPECT_DOUBLE_EQ(links.capacity(links.path(DeviceId{0}, DeviceId{9})[0].link).value, 8 * 25e9);
}

// At level 0 devices have their own ports, and oversubscription is the switch's.
TEST(Links, OversubscriptionInsideANodeIsItsSwitchs) {
  const Cluster c = cluster_of({level("node", 4, 100e9, 1e-6, 2)});
  LinkTable links(c, ideal_constants(c));
  EXPECT_THAT(names(links, 0, 1), ElementsAre("device 0 uplink", "device 1 downlink", "node 0 switch"));
  EXPECT_DOUBLE_EQ(links.capacity(links.path(DeviceId{0}, DeviceId{1})[2].link).value, 4 * 100e9 / 2);
}

TEST(Links, NeighboursOnARingHaveALinkOfTheirOwn) {
  Level ring = level("ring", 4, 100e9, 1e-6);
  ring.kind = LevelKind::ring;
  const Cluster c = cluster_of({ring});
  LinkTable links(c, ideal_constants(c));
  EXPECT_THAT(names(links, 1, 2), ElementsAre("device 1 to 2"));
  EXPECT_DOUBLE_EQ(links.capacity(links.path(DeviceId{1}, DeviceId{2})[0].link).value, 50e9);
}

TEST(Links, MessagesPassThroughWhatLiesBetween) {
  Level ring = level("ring", 6, 100e9, 1e-6);
  ring.kind = LevelKind::ring;
  const Cluster c = cluster_of({ring});
  LinkTable links(c, ideal_constants(c));
  EXPECT_THAT(names(links, 1, 3), ElementsAre("device 1 to 2", "device 2 to 3"));
  EXPECT_THAT(names(links, 1, 5), ElementsAre("device 1 to 0", "device 0 to 5"));
  // Half of it either way round.
  const std::vector<LinkUse> opposite = links.path(DeviceId{0}, DeviceId{3});
  ASSERT_EQ(opposite.size(), 6U);
  EXPECT_DOUBLE_EQ(opposite[0].bytes, 0.5);
}

TEST(Links, InnerLevelsThatAreNarrowerAreNotOnTheWay) {
  const Cluster c = cluster_of(
      {level("node", 1, 450e9, 1e-6), level("rack", 2, 10e9, 5e-6), level("spine", 2, 50e9, 1e-5)});
  LinkTable links(c, ideal_constants(c));
  EXPECT_THAT(names(links, 0, 2), ElementsAre("rack 0 uplink", "rack 1 downlink"));
}

TEST(Links, ChildLinksAreTheWayOutAndTheWayIn) {
  const Cluster c = spine_leaf();
  LinkTable links(c, ideal_constants(c));
  std::vector<std::string> found;
  const std::vector<std::int32_t> racks{1, 2};
  for (const LinkUse& use : links.group_links(LevelId{2}, racks, LinkTable::Pattern::rings))
    found.push_back(links.name(use.link));
  EXPECT_THAT(found, ElementsAre("rack 1 uplink", "rack 1 downlink", "rack 2 uplink", "rack 2 downlink"));
}

}  // namespace
}  // namespace nest::simulate
