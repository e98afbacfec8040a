#include "nest/cluster/imports/host_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nest/cluster/imports/node_models.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

HostKind kind_of(const char* accelerator, std::vector<Level> levels) {
  HostKind kind;
  kind.accelerator = find_accelerator(accelerator);
  kind.devices = 8;
  kind.levels = std::move(levels);
  return kind;
}

TEST(HostLevels, HostsWithFewerDevices) {
  ImportNotes notes;
  const std::vector<std::int32_t> devices{8, 7, 8};
  const auto nodes =
      levels_of_hosts(kind_of("h100-sxm", {level_of_links(find_accelerator("h100-sxm"), 8)}), devices, notes);
  EXPECT_THAT(nodes.front().fan_out.sizes, ElementsAre(8, 7, 8));
  // Links of a pair carry what they carried, however many pairs there are.
  const auto mesh =
      levels_of_hosts(kind_of("mi300x", {level_of_links(find_accelerator("mi300x"), 8)}), devices, notes);
  EXPECT_EQ(mesh.front().own_links, 7);
  EXPECT_TRUE(notes.assumed.empty());
}

TEST(HostLevels, UnevenHostsRepeat) {
  ImportNotes notes;
  Level island{.name = "island", .bandwidth = BytesPerSecond{300e9}};
  island.fan_out.sizes = {5, 3};
  Level node{.name = "node", .bandwidth = BytesPerSecond{16e9}};
  node.fan_out.size = 2;
  const std::vector<std::int32_t> alike{8, 8};
  EXPECT_THAT(levels_of_hosts(kind_of("a100-80", {island, node}), alike, notes).front().fan_out.sizes,
              ElementsAre(5, 3, 5, 3));
  // Which island lacks a device nobody says: the slower links are taken for all.
  const std::vector<std::int32_t> fewer{8, 7};
  const auto levels = levels_of_hosts(kind_of("a100-80", {island, node}), fewer, notes);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels.front().name, "node");
  EXPECT_EQ(notes.assumed.size(), 1U);
}

TEST(HostLevels, SlicesWrapByTheRule) {
  HostFacts host;
  const auto wraps = [&](const char* accelerator, const char* sides) {
    host.slice = sides;
    return level_of_slice(find_accelerator(accelerator), host).wrap;
  };
  EXPECT_THAT(wraps("tpu-v5p", "4x4x8"), ElementsAre(true, true, true));
  EXPECT_THAT(wraps("tpu-v5p", "2x4x4"), ElementsAre(false, false, false));
  EXPECT_THAT(wraps("tpu-v5e", "8x16"), ElementsAre(false, true));
  EXPECT_THAT(wraps("tpu-v5e", "4x8"), ElementsAre(false, false));
  EXPECT_THAT(wraps("tpu-v6e", "16x16"), ElementsAre(true, true));
}

TEST(HostLevels, WhatIsNoSlice) {
  HostFacts host;
  host.file = "nodes.json";
  host.name = "n1";
  const auto refusal = [&](const char* accelerator, const char* sides) {
    host.slice = sides;
    return message_of([&] { static_cast<void>(level_of_slice(find_accelerator(accelerator), host)); });
  };
  EXPECT_EQ(refusal("tpu-v5e", "4x4x4"),
            "nodes.json: host 'n1': '4x4x4' is no slice of tpu-v5e; it has 2 sides, such as 4x4");
  EXPECT_EQ(refusal("tpu-v5p", "4x0x4"),
            "nodes.json: host 'n1': '4x0x4' is no slice of tpu-v5p; it has 3 sides, such as 4x4x8");
  EXPECT_EQ(refusal("h100-sxm", "4x4"), "nodes.json: host 'n1': '4x4' is no slice of h100-sxm");
  EXPECT_EQ(refusal("tpu-v5p", "65536x65536x65536").substr(0, 45),
            "nodes.json: host 'n1': '65536x65536x65536' is");
}

}  // namespace
}  // namespace nest::cluster
