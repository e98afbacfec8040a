#include "nest/cluster/imports/device_links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nest::cluster {
namespace {

using testing::ElementsAre;

DeviceLinks all(int devices, Way way) {
  std::vector<std::string> names;
  for (int d = 0; d < devices; ++d) names.push_back("gpu" + std::to_string(d));
  DeviceLinks links = no_links(names);
  for (Way& each : links.ways) each = way;
  return links;
}

Level only_level(const DeviceLinks& links, const char* accelerator) {
  NodeFacts node;
  ImportNotes notes;
  set_levels(links, find_accelerator(accelerator), node, notes);
  EXPECT_EQ(node.levels.size(), 1U);
  return node.levels.front();
}

TEST(DeviceLinks, AllLinksToEveryPeerNeedASwitch) {
  const Level level = only_level(all(8, {WayKind::links, 18}), "h100-sxm");
  EXPECT_EQ(level.kind, LevelKind::switched);
  EXPECT_DOUBLE_EQ(level.bandwidth.value, 450e9);
  EXPECT_TRUE(level.in_network_reduction);
  EXPECT_DOUBLE_EQ(only_level(all(4, {WayKind::links, 18}), "gb200").bandwidth.value, 900e9);
}

// HGX boards with four GPUs have no switch: a third of the links goes to each of the three others.
TEST(DeviceLinks, SharesOfTheLinksAreDirect) {
  const Level level = only_level(all(4, {WayKind::links, 6}), "h100-sxm");
  EXPECT_EQ(level.kind, LevelKind::fully_connected);
  EXPECT_DOUBLE_EQ(level.bandwidth.value, 450e9);
  EXPECT_FALSE(level.in_network_reduction);
  const Level amd = only_level(all(8, {WayKind::links, 1}), "mi300x");
  EXPECT_EQ(amd.kind, LevelKind::fully_connected);
  EXPECT_DOUBLE_EQ(amd.bandwidth.value, 448e9);
}

TEST(DeviceLinks, CardsInSlots) {
  const Level level = only_level(all(4, {WayKind::host_bridge, 0}), "h100-pcie");
  EXPECT_EQ(level.fabric, "pcie");
  EXPECT_DOUBLE_EQ(level.bandwidth.value, 64e9);
  DeviceLinks old = all(4, {WayKind::system, 0});
  old.pcie = 3;
  EXPECT_DOUBLE_EQ(only_level(old, "v100").bandwidth.value, 8e9);  // half of 16 GB/s between sockets
}

// Bridges join 0 with 2 and 1 with 3: devices keep their names in the new order.
TEST(DeviceLinks, PairsOfBridgesBecomeALevelOfTheirOwn) {
  DeviceLinks links = all(4, {WayKind::host_bridge, 0});
  links.way(2, 0) = {WayKind::links, 12};
  links.way(3, 1) = {WayKind::links, 12};
  NodeFacts node;
  ImportNotes notes;
  set_levels(links, find_accelerator("a100-80"), node, notes);
  ASSERT_EQ(node.levels.size(), 2U);
  EXPECT_DOUBLE_EQ(node.levels[0].bandwidth.value, 300e9);
  EXPECT_DOUBLE_EQ(node.levels[1].bandwidth.value, 32e9);
  EXPECT_EQ(node.levels[1].fabric, "pcie");
  EXPECT_THAT(node.device_names, ElementsAre("gpu0", "gpu2", "gpu1", "gpu3"));
  EXPECT_EQ(notes.known.front(),
            "links inside a host are uneven (2 pairs 12 links, 4 pairs over a host bridge), reduced to 2 "
            "levels; the worst "
            "pair is off by 0 %");
}

TEST(DeviceLinks, OneDeviceAlone) {
  EXPECT_EQ(only_level(all(1, {}), "h100-sxm").fan_out.size, 1);
}

}  // namespace
}  // namespace nest::cluster
