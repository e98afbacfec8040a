#include "nest/cluster/sibling_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "nest/cluster/cluster.hpp"
#include "nest/cluster/test_shuffle.hpp"

namespace nest::cluster {
namespace {

using ::testing::ElementsAre;

Level level(const char* name, FanOut fan_out, LevelKind kind = LevelKind::switched) {
  return {.name = name, .kind = kind, .fan_out = std::move(fan_out), .bandwidth = BytesPerSecond{1e9}};
}

Cluster cluster_of(std::vector<Level> levels) {
  return Cluster({.name = "test", .levels = std::move(levels)});
}

TEST(SiblingOrder, LargerNodesComeFirstAndDevicesKeepTheirIds) {
  const Cluster cluster = cluster_of({level("node", {.sizes = {4, 8, 7, 6}}), level("rack", {.size = 4})});
  EXPECT_THAT(cluster.sorted().levels()[0].fan_out.sizes, ElementsAre(8, 7, 6, 4));
  EXPECT_THAT(cluster.levels()[0].fan_out.sizes, ElementsAre(4, 8, 7, 6));
  EXPECT_EQ(cluster.id_from_sorted(DeviceId{0}), DeviceId{4});   // the first device of the node of 8
  EXPECT_EQ(cluster.id_from_sorted(DeviceId{9}), DeviceId{13});  // the second of the node of 7
  EXPECT_EQ(cluster.id_from_sorted(DeviceId{21}), DeviceId{0});
  EXPECT_EQ(cluster.id_in_sorted(DeviceId{0}), DeviceId{21});
  EXPECT_EQ(cluster.id_in_sorted(DeviceId{25}), DeviceId{25});  // there is none
  EXPECT_EQ(cluster.id_from_sorted(DeviceId{-1}), DeviceId{-1});
}

TEST(SiblingOrder, NothingMovesWhereTheOrderIsRight) {
  for (const Cluster& cluster :
       {cluster_of({level("node", {.size = 8}), level("rack", {.size = 4})}),
        cluster_of({level("node", {.sizes = {8, 8, 7, 6}}), level("rack", {.size = 4})}),
        cluster_of(
            {level("node", {.size = 8}), level("rack", {.sizes = {4, 3}}), level("row", {.size = 2})})}) {
    EXPECT_EQ(&cluster.sorted(), &cluster);
    EXPECT_EQ(cluster.id_in_sorted(DeviceId{13}), DeviceId{13});
    EXPECT_FALSE(find_sibling_order(cluster.levels(), cluster.tree()));
  }
}

// Racks of 10, 11 and 10 devices: the larger first, then of equal ones that with the larger node, and inside
// each rack the larger nodes first.
TEST(SiblingOrder, SubtreesAreSortedByDevicesAndThenByStructure) {
  const Cluster cluster = cluster_of(
      {level("node", {.sizes = {5, 5, 3, 8, 2, 8}}), level("rack", {.size = 2}), level("row", {.size = 3})});
  EXPECT_THAT(cluster.sorted().levels()[0].fan_out.sizes, ElementsAre(8, 3, 8, 2, 5, 5));
}

TEST(SiblingOrder, ChildrenOfRingsKeepTheirPlaces) {
  const Cluster ring =
      cluster_of({level("node", {.sizes = {4, 8, 7}}), level("ring", {.size = 3}, LevelKind::ring)});
  EXPECT_EQ(&ring.sorted(), &ring);
  // Rings themselves may change places.
  const Cluster rings = cluster_of({level("ring", {.sizes = {3, 4, 5}}, LevelKind::ring),
                                    level("all", {.size = 3}, LevelKind::fully_connected)});
  EXPECT_THAT(rings.sorted().levels()[0].fan_out.sizes, ElementsAre(5, 4, 3));
}

TEST(SiblingOrder, IsTheSameForEveryOrderInTheFile) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<Level> levels;
    std::int32_t domains = 1;
    const std::size_t count = 2 + random() % 3;
    for (std::size_t l = count; l-- > 0;) {
      FanOut fan_out{.size = static_cast<std::int32_t>(1 + random() % 4)};
      const bool uneven = l + 1 < count && random() % 3 > 0;
      for (std::int32_t d = 0; uneven && d < domains; ++d)
        fan_out.sizes.push_back(static_cast<std::int32_t>(1 + random() % 4));
      std::int32_t next = 0;
      for (std::int32_t d = 0; d < domains; ++d) next += fan_out.of(d);
      domains = next;
      const LevelKind kind = random() % 4 == 0 ? LevelKind::ring : LevelKind::switched;
      levels.insert(levels.begin(), level(("l" + std::to_string(l)).c_str(), std::move(fan_out), kind));
    }
    const Cluster cluster = cluster_of(levels);
    const Cluster other = test::shuffled(cluster, random);
    ASSERT_EQ(cluster.sorted().levels(), other.sorted().levels());
    ASSERT_EQ(&other.sorted().sorted(), &other.sorted());
    // Both ids name one device: they meet others at the same levels.
    std::set<std::int32_t> seen;
    for (std::int32_t d = 0; d < other.devices(); ++d) {
      const DeviceId sorted = other.id_in_sorted(DeviceId{d});
      ASSERT_EQ(other.id_from_sorted(sorted), DeviceId{d});
      seen.insert(sorted.value);
      const DeviceId first = other.id_in_sorted(DeviceId{0});
      ASSERT_EQ(other.tree().meet(DeviceId{0}, DeviceId{d}), other.sorted().tree().meet(first, sorted));
    }
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(other.devices()));
  }
}

}  // namespace
}  // namespace nest::cluster
