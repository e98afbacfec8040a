#include "nest/cluster/tree.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <random>
#include <set>

#include "nest/base/error.hpp"

namespace nest::cluster {
namespace {

// The tree as a person would draw it: for each level the domain of every device, counted by walking the
// leaves.
struct NaiveTree {
  std::vector<std::vector<std::int32_t>> domain;  // [level][device]
  std::vector<std::vector<std::int32_t>> coordinate;

  explicit NaiveTree(const std::vector<FanOut>& fan_outs)
      : domain(fan_outs.size()), coordinate(fan_outs.size()) {
    walk(fan_outs, fan_outs.size());
  }
  std::size_t devices() const { return domain[0].size(); }

 private:
  std::vector<std::int32_t> next_ = std::vector<std::int32_t>(8, 0);
  std::vector<std::int32_t> at_ = std::vector<std::int32_t>(8, 0);
  std::vector<std::int32_t> index_ = std::vector<std::int32_t>(8, 0);

  void walk(const std::vector<FanOut>& fan_outs, std::size_t level) {
    if (level == 0) {
      for (std::size_t l = 0; l < fan_outs.size(); ++l) {
        domain[l].push_back(at_[l]);
        coordinate[l].push_back(index_[l]);
      }
      return;
    }
    const std::size_t l = level - 1;
    at_[l] = next_[l]++;
    const std::int32_t children = fan_outs[l].of(at_[l]);
    for (std::int32_t c = 0; c < children; ++c) {
      index_[l] = c;
      walk(fan_outs, l);
    }
  }
};

// One to four levels; each is uniform or uneven, with one size for each domain that the levels outside make.
std::vector<FanOut> random_fan_outs() {
  const int levels = *rc::gen::inRange(1, 5);
  std::vector<FanOut> inside_out;
  std::int32_t domains = 1;
  for (int l = 0; l < levels; ++l) {
    FanOut fan_out;
    if (*rc::gen::arbitrary<bool>()) {
      fan_out.size = *rc::gen::inRange(1, 6);
      domains *= fan_out.size;
    } else {
      fan_out.sizes = *rc::gen::container<std::vector<std::int32_t>>(static_cast<std::size_t>(domains),
                                                                     rc::gen::inRange(1, 6));
      domains = 0;
      for (const std::int32_t n : fan_out.sizes) domains += n;
    }
    inside_out.insert(inside_out.begin(), fan_out);
  }
  return inside_out;
}

void expect_same(const DeviceTree& tree, const NaiveTree& naive, DeviceId a, DeviceId b) {
  const std::vector<std::int32_t> coordinates = tree.coordinates(a);
  RC_ASSERT(tree.device_at(coordinates).value() == a);
  std::optional<LevelId> meet;
  for (std::size_t l = 0; l < naive.domain.size(); ++l) {
    const LevelId level{static_cast<std::int32_t>(l)};
    RC_ASSERT(coordinates[l] == naive.coordinate[l][a.index()]);
    RC_ASSERT(tree.domain_of(a, level) == naive.domain[l][a.index()]);
    if (!meet && a != b && naive.domain[l][a.index()] == naive.domain[l][b.index()]) meet = level;
  }
  RC_ASSERT(tree.meet(a, b) == meet);
  RC_ASSERT(tree.meet(b, a) == meet);
}

std::vector<LevelMembers> naive_members(const NaiveTree& naive, const std::vector<DeviceId>& group) {
  std::vector<LevelMembers> out;
  for (std::size_t l = 0; l < naive.domain.size(); ++l) {
    std::map<std::int32_t, std::set<std::int32_t>> children;  // domain -> its touched children
    for (const DeviceId device : group) {
      children[naive.domain[l][device.index()]].insert(l == 0 ? device.value
                                                              : naive.domain[l - 1][device.index()]);
    }
    std::map<std::int32_t, std::int32_t> counts;
    for (const auto& [domain, set] : children) ++counts[static_cast<std::int32_t>(set.size())];
    LevelMembers members;
    for (const auto& [n, domains] : counts) members.push_back({n, domains});
    out.push_back(members);
  }
  return out;
}

std::vector<DeviceId> ids(std::initializer_list<std::int32_t> values) {
  std::vector<DeviceId> out;
  for (const std::int32_t v : values) out.emplace_back(v);
  return out;
}

TEST(DeviceTree, UniformTreeCountsInMixedRadix) {
  const DeviceTree tree({{8, {}}, {4, {}}, {32, {}}});
  EXPECT_EQ(tree.devices(), 1024);
  EXPECT_EQ(tree.coordinates(DeviceId{43}), (std::vector<std::int32_t>{3, 1, 1}));
  EXPECT_EQ(tree.meet(DeviceId{0}, DeviceId{7}), LevelId{0});
  EXPECT_EQ(tree.meet(DeviceId{0}, DeviceId{31}), LevelId{1});
  EXPECT_EQ(tree.meet(DeviceId{3}, DeviceId{43}), LevelId{2});
  EXPECT_EQ(tree.meet(DeviceId{5}, DeviceId{5}), std::nullopt);
  EXPECT_EQ(tree.domains(LevelId{1}), 32);
  EXPECT_EQ(tree.devices_in(LevelId{1}, 31), 32);
}

TEST(DeviceTree, UnevenTreeCountsAlongTheLeaves) {
  // Three racks of 3, 4 and 4 nodes of two devices.
  const DeviceTree tree({{2, {}}, {1, {3, 4, 4}}, {3, {}}});
  EXPECT_EQ(tree.devices(), 22);
  EXPECT_EQ(tree.first_device(LevelId{1}, 1), DeviceId{6});
  EXPECT_EQ(tree.devices_in(LevelId{1}, 0), 6);
  EXPECT_EQ(tree.devices_in(LevelId{1}, 2), 8);
  EXPECT_EQ(tree.coordinates(DeviceId{7}), (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(tree.meet(DeviceId{5}, DeviceId{6}), LevelId{2});
  EXPECT_EQ(tree.device_at(std::vector<std::int32_t>{0, 3, 0}), std::nullopt);
  EXPECT_EQ(tree.device_at(std::vector<std::int32_t>{0, 3}), std::nullopt);
  EXPECT_TRUE(tree.regular(LevelId{0}));
  EXPECT_FALSE(tree.regular(LevelId{1}));
}

TEST(DeviceTree, MembersOfAGroup) {
  const DeviceTree tree({{8, {}}, {4, {}}, {32, {}}});
  // Two devices in each of four nodes of a rack.
  const auto even = tree.members(ids({0, 1, 8, 9, 16, 17, 24, 25}));
  EXPECT_EQ(even, (std::vector<LevelMembers>{{{2, 4}}, {{4, 1}}, {{1, 1}}}));
  // Three in one node, one in the next, one in another rack; one is named twice.
  const auto odd = tree.members(ids({2, 0, 1, 8, 32, 0}));
  EXPECT_EQ(odd, (std::vector<LevelMembers>{{{1, 2}, {3, 1}}, {{1, 1}, {2, 1}}, {{2, 1}}}));
  EXPECT_EQ(tree.members({}), (std::vector<LevelMembers>{{}, {}, {}}));
}

TEST(DeviceTree, RandomTreesAgreeWithTheWalkOfTheLeaves) {
  const bool ok = rc::check("ids, coordinates, meeting level and members", [] {
    const std::vector<FanOut> fan_outs = random_fan_outs();
    const DeviceTree tree(fan_outs);
    const NaiveTree naive(fan_outs);
    RC_ASSERT(static_cast<std::size_t>(tree.devices()) == naive.devices());
    const auto device =
        rc::gen::map(rc::gen::inRange(0, tree.devices()), [](std::int32_t v) { return DeviceId{v}; });
    for (int i = 0; i < 20; ++i) expect_same(tree, naive, *device, *device);
    const auto group = *rc::gen::container<std::vector<DeviceId>>(device);
    RC_ASSERT(tree.members(group) == naive_members(naive, group));
  });
  EXPECT_TRUE(ok);
}

TEST(DeviceTree, DomainsTileTheDevices) {
  const bool ok = rc::check("first device, size and children of every domain add up", [] {
    const DeviceTree tree(random_fan_outs());
    for (std::int32_t l = 0; l < tree.levels(); ++l) {
      std::int32_t device = 0;
      std::int32_t child = 0;
      for (std::int32_t d = 0; d < tree.domains(LevelId{l}); ++d) {
        RC_ASSERT(tree.first_device(LevelId{l}, d) == DeviceId{device});
        RC_ASSERT(tree.first_child(LevelId{l}, d) == child);
        device += tree.devices_in(LevelId{l}, d);
        child += tree.children(LevelId{l}, d);
        RC_ASSERT(tree.parent_of(LevelId{l}, child - 1) == d);
      }
      RC_ASSERT(device == tree.devices());
    }
  });
  EXPECT_TRUE(ok);
}

TEST(DeviceTree, AMillionDevicesEvenAndUneven) {
  constexpr unsigned kSeed = 20261115;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  FanOut uneven{1, {}};
  for (int rack = 0; rack < 4000; ++rack) {
    uneven.sizes.push_back(static_cast<std::int32_t>(28 + random() % 9));
  }
  for (const std::vector<FanOut>& fan_outs : {std::vector<FanOut>{{10, {}}, {10, {}}, {100, {}}, {100, {}}},
                                              std::vector<FanOut>{{8, {}}, uneven, {40, {}}, {100, {}}}}) {
    const DeviceTree tree(fan_outs);
    ASSERT_GE(tree.devices(), 1'000'000);
    const NaiveTree naive(fan_outs);
    ASSERT_EQ(naive.devices(), static_cast<std::size_t>(tree.devices()));
    std::vector<DeviceId> group;
    for (int i = 0; i < 2000; ++i) {
      const DeviceId a{static_cast<std::int32_t>(random() % static_cast<unsigned>(tree.devices()))};
      const DeviceId b{static_cast<std::int32_t>(random() % static_cast<unsigned>(tree.devices()))};
      expect_same(tree, naive, a, b);
      group.push_back(a);
    }
    EXPECT_EQ(tree.members(group), naive_members(naive, group));
  }
}

TEST(DeviceTree, FanOutsThatMakeNoTreeAreRefused) {
  const auto what = [](const std::vector<FanOut>& fan_outs) {
    const auto problem = check_fan_outs(fan_outs);
    return problem ? std::to_string(problem->level.value) + ": " + problem->what : "fine";
  };
  EXPECT_EQ(what({}), "0: a cluster needs at least one level");
  EXPECT_EQ(what({{8, {}}, {1, {3, 4}}, {3, {}}}),
            "1: 'sizes' describes 2 domains, but the levels outside it make 3");
  EXPECT_EQ(what({{8, {}}, {1, {3, 4}}}), "1: 'sizes' describes 2 domains, but the outermost level has 1");
  EXPECT_EQ(what({{8, {}}, {1, {3, 0}}, {2, {}}}), "1: every domain needs at least one child");
  EXPECT_EQ(what({{65536, {}}, {65536, {}}}), "0: the levels make more than 16,777,216 devices");
  EXPECT_EQ(what({{4096, {}}, {4096, {}}}), "fine");
  EXPECT_THROW(DeviceTree({{8, {}}, {1, {3, 4}}}), InputError);
}

}  // namespace
}  // namespace nest::cluster
