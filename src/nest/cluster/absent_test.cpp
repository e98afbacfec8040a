#include "nest/cluster/absent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/fewer_nodes.hpp"
#include "nest/cluster/resize.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

Cluster read(const std::string& text) {
  return read_cluster(parse_document("c.yaml", text));
}

// Racks of 2 and 3 nodes of 4 devices.
const std::string kUneven = R"(name: c
accelerator: h100-sxm
levels:
  - {name: node, size: 4, bandwidth: 450 GB/s, latency: 1 us}
  - {name: rack, sizes: [2, 3], bandwidth: 50 GB/s, latency: 5 us}
  - {name: row, size: 2, bandwidth: 50 GB/s, latency: 8 us}
)";

TEST(Absent, TheOthersKeepTheirPlaces) {
  const Cluster c = read(kUneven + "absent: [node 1, 8, device 9]\n");
  EXPECT_EQ(c.devices(), 14);
  // Node 1 was the second of the first rack; devices 8 and 9 are two of node 2.
  EXPECT_THAT(c.level(LevelId{0}).fan_out.sizes, ElementsAre(4, 2, 4, 4));
  EXPECT_THAT(c.level(LevelId{1}).fan_out.sizes, ElementsAre(1, 3));
  EXPECT_THAT(c.parts().device_names, ElementsAre("d0", "d1", "d2", "d3", "d10", "d11", "d12", "d13", "d14",
                                                  "d15", "d16", "d17", "d18", "d19"));
  EXPECT_THAT(c.parts().absences.entries, ElementsAre("node 1", "8", "device 9"));
}

TEST(Absent, ADomainThatIsGoneLeavesNoTrace) {
  const Cluster c = read(kUneven + "absent: [rack0]\n");
  EXPECT_EQ(c.devices(), 12);
  EXPECT_EQ(c.level(LevelId{2}).fan_out, (FanOut{1, {}}));
  EXPECT_EQ(c.level(LevelId{1}).fan_out, (FanOut{3, {}}));
  // Twice the same part is the same part.
  EXPECT_EQ(read(kUneven + "absent: [rack 0, node 0, 3]\n").levels(), c.levels());
}

TEST(Absent, NamesSurvive) {
  const std::string named = R"(name: c
accelerator: h100-sxm
levels:
  - {name: node, size: 2, bandwidth: 450 GB/s, latency: 1 us}
  - {name: rack, size: 3, bandwidth: 50 GB/s, latency: 5 us}
devices: ["b[1-3]/gpu[0-1]"]
)";
  const Cluster c = read(named + "absent: [b2, b3/gpu1]\n");
  EXPECT_THAT(c.parts().device_names, ElementsAre("b1/gpu0", "b1/gpu1", "b3/gpu0"));
  EXPECT_THAT(read(named + "absent: ['b[1-2]', 'b3/gpu[0-0]']\n").parts().device_names,
              ElementsAre("b3/gpu1"));
  EXPECT_EQ(message_of([&] { read(named + "absent: [b4]\n"); }),
            "c.yaml: line 7, absent: nothing is called 'b4'; did you mean 'b1'?");
  EXPECT_EQ(message_of([&] { read(named + "absent: [tray 7]\n"); }),
            "c.yaml: line 7, absent: nothing is called 'tray 7'; name a device, a host, or a domain such as "
            "'node 0'");
  EXPECT_EQ(message_of([&] { read(named + "absent: [node 3]\n"); }).substr(0, 49),
            "c.yaml: line 7, absent: nothing is called 'node 3");
  EXPECT_EQ(message_of([&] { read(named + "absent: [node 0, node 1, node 2]\n"); }),
            "c.yaml: line 7, absent: no device is left");
  EXPECT_EQ(
      message_of([&] { read(named + "absent: b1\n"); }),
      "c.yaml: line 7, absent: a list of devices, hosts and domains is expected, such as [node 17, 12]");
  EXPECT_EQ(message_of([&] { read(named + "slow: {b1: 0.9}\n"); }),
            "c.yaml: line 7, slow: parts that are slower than others cannot be planned with yet; leave them "
            "out with "
            "'absent'");
}

TEST(Absent, AGridHasNoHoles) {
  const std::string slices = R"(name: c
accelerator: tpu-v5e
levels:
  - {name: slice, kind: torus, dims: [4, 4], bandwidth: 200 GB/s, latency: 1 us}
  - {name: site, size: 3, bandwidth: 3 GB/s, latency: 50 us}
)";
  EXPECT_EQ(message_of([&] { read(slices + "absent: [17]\n"); }),
            "c.yaml: line 6, absent: the torus 'slice' would have a hole; messages pass through its "
            "children: leave out "
            "all of one of its domains, or describe what is left of it");
  const Cluster c = read(slices + "absent: [slice 1]\n");
  EXPECT_EQ(c.devices(), 32);
  EXPECT_EQ(c.parts().device_names[16], "d32");
}

// Seven of eight MI300X still have 64 GB/s to each other, and no more.
TEST(Absent, LinksToWhatIsGoneStayUnused) {
  const std::string nodes = R"(name: c
accelerator: mi300x
levels:
  - {name: node, kind: fully_connected, size: 8, bandwidth: 448 GB/s, latency: 2 us}
  - {name: leaf, size: 2, bandwidth: 50 GB/s, latency: 8 us}
)";
  const Cluster c = read(nodes + "absent: [3]\n");
  EXPECT_EQ(c.level(LevelId{0}).own_links, 7);
  EXPECT_DOUBLE_EQ(pair_bandwidth(c, DeviceId{0}, DeviceId{1}).value, 64e9);
  EXPECT_DOUBLE_EQ(pair_bandwidth(c, DeviceId{7}, DeviceId{8}).value, 64e9);
  // Where all nodes have lost one, they are even again.
  const Cluster even = read(nodes + "absent: [3, 12]\n");
  EXPECT_EQ(even.level(LevelId{0}).fan_out, (FanOut{7, {}}));
  EXPECT_DOUBLE_EQ(pair_bandwidth(even, DeviceId{0}, DeviceId{1}).value, 64e9);
  EXPECT_EQ(read(nodes + "absent: [node 1]\n").level(LevelId{0}).own_links, 0);
}

TEST(Absent, TheFileIsWrittenAsItWas) {
  const Cluster c = read(kUneven + "absent: [node 1, 8]\n");
  const Value file = cluster_file_value(c);
  EXPECT_EQ(to_json_line(*file.find("absent")), R"(["node 1", "8"])");
  EXPECT_EQ(to_json_line(*(*file.find("levels")->as_array())[1].find("sizes")), "[2, 3]");
  EXPECT_EQ(file.find("devices"), nullptr);
  const Cluster again = read_cluster(parse_json("again", to_json(file)));
  EXPECT_EQ(again.levels(), c.levels());
  EXPECT_EQ(again.parts().device_names, c.parts().device_names);
  // With other levels the list means nothing any more: what is left is written, with its names.
  const Cluster fewer = without_nodes(c, 1);
  EXPECT_TRUE(fewer.parts().absences.entries.empty());
  EXPECT_EQ(fewer.parts().device_names.back(), "d15");
  const Cluster fewer_again = read_cluster(parse_json("again", to_json(cluster_file_value(fewer))));
  EXPECT_EQ(fewer_again.levels(), fewer.levels());
  EXPECT_EQ(fewer_again.parts().device_names, fewer.parts().device_names);
}

// Any devices of any uneven tree: what is left are the other devices, in their order, and two of them meet where they
// met before.
TEST(Absent, TheShapeIsTheSameWithoutThem) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 dice(seed);
    const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(dice); };
    std::vector<FanOut> fan_outs(3);
    std::vector<std::int32_t> racks;
    std::int32_t nodes = 0;
    fan_outs[2].size = pick(1, 3);
    for (std::int32_t r = 0; r < fan_outs[2].size; ++r) nodes += racks.emplace_back(pick(1, 3));
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(nodes));
    for (std::int32_t& size : sizes) size = pick(1, 4);
    fan_outs[1].sizes = racks;
    fan_outs[0].sizes = sizes;
    ClusterParts parts{.name = "c", .accelerator = find_accelerator("h100-sxm")};
    for (std::size_t l = 0; l < 3; ++l) {
      parts.levels.push_back({.name = "l" + std::to_string(l), .bandwidth = BytesPerSecond{1e9}});
      parts.levels.back().fan_out = fan_outs[l];
    }
    const Cluster whole(parts);
    Value file = cluster_file_value(whole);
    Value absent = Value::array();
    std::set<std::int32_t> gone;
    for (std::int32_t d = 0; d + 1 < whole.devices(); ++d) {
      if (pick(0, 2) > 0) continue;
      gone.insert(d);
      absent.push(d);
    }
    file.set("absent", std::move(absent));
    const Cluster left = read_cluster(parse_json("left", to_json(file)));
    ASSERT_EQ(left.devices(), whole.devices() - static_cast<std::int32_t>(gone.size())) << "seed " << seed;
    std::vector<std::int32_t> before;
    for (std::int32_t d = 0; d < whole.devices(); ++d) {
      if (!gone.contains(d)) before.push_back(d);
    }
    for (std::int32_t a = 0; a < left.devices(); ++a) {
      const auto own = before[static_cast<std::size_t>(a)];
      if (!gone.empty()) {
        EXPECT_EQ(left.parts().device_names[static_cast<std::size_t>(a)], "d" + std::to_string(own));
      }
      for (std::int32_t b = 0; b < left.devices(); ++b) {
        const auto other = before[static_cast<std::size_t>(b)];
        ASSERT_EQ(left.tree().meet(DeviceId{a}, DeviceId{b}),
                  whole.tree().meet(DeviceId{own}, DeviceId{other}))
            << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace nest::cluster
