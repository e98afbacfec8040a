#include "nest/network/groups/sibling_groups.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "nest/base/error.hpp"
#include "nest/network/groups/test_clusters.hpp"

namespace nest::network {
namespace {

using Groups = std::vector<std::vector<DeviceId>>;

TEST(DeviceRanks, NumberWhatIsTouchedWithoutGaps) {
  const Cluster c({.name = "c", .levels = {test_level("node", {8}), test_level("rack", {4})}});
  const std::vector<DeviceId> devices{DeviceId{25}, DeviceId{3}, DeviceId{24}, DeviceId{3}};
  const DeviceRanks ranks(c.tree(), devices);
  EXPECT_EQ(ranks.rank(0), 2);
  EXPECT_EQ(ranks.rank(1), 0);
  EXPECT_EQ(ranks.rank(3), 0);
  EXPECT_EQ(ranks.tier(0).ids, (std::vector<std::int32_t>{3, 24, 25}));
  EXPECT_EQ(ranks.tier(0).parents, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(ranks.tier(1).ids, (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(ranks.tier(1).devices, (std::vector<std::int32_t>{8, 8}));
  EXPECT_EQ(ranks.tier(2).ids, (std::vector<std::int32_t>{0}));
}

TEST(DeviceRanks, RefuseADeviceThatIsNotThere) {
  const Cluster c({.name = "c", .levels = {test_level("node", {8})}});
  try {
    const DeviceRanks ranks(c.tree(), std::vector{DeviceId{8}});
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "there is no device 8; devices are numbered from 0 to 7");
  }
}

TEST(SiblingShapes, AreMadeOnceForGroupsThatLieAlike) {
  const Cluster c({.name = "c", .levels = {test_level("node", {8}), test_level("rack", {4})}});
  std::vector<DeviceId> devices;
  devices.reserve(32);
  for (std::int32_t i = 0; i < 32; ++i) devices.emplace_back(i);
  const DeviceRanks ranks(c.tree(), devices);
  GroupList pairs;
  for (std::int64_t first = 0; first < 32; first += 2) pairs.add_strided(ranks, first, 1, 2);
  pairs.add_strided(ranks, 0, 8, 4);
  const SiblingShapes siblings = sibling_shapes(c, ranks, pairs, pairs.size());
  EXPECT_EQ(siblings.of_group.size(), 17U);
  EXPECT_EQ(siblings.of_group.back(), siblings.shapes.size() - 1);
  EXPECT_EQ(std::set<std::size_t>(siblings.of_group.begin(), siblings.of_group.begin() + 16).size(), 1U);
  // Shapes that nobody asks for are not made, yet their traffic counts.
  EXPECT_EQ(sibling_shapes(c, ranks, pairs, 3).shapes.size(), 1U);
}

// The same by the words of the definition: for each group and level, its children by domain, and what the
// groups that turn there send out of each.
class Plain {
 public:
  Plain(const Cluster& cluster, const Groups& groups) : cluster_(cluster), groups_(groups) {}

  [[nodiscard]] GroupShape shape(std::size_t g) const {
    GroupShape out(std::max(1, count(g)));
    for (std::int32_t l = 0; l < cluster_.tree().levels(); ++l) {
      if (turns(g, LevelId{l})) out.add(at_level(g, LevelId{l}));
    }
    return out;
  }

 private:
  // Domain to child to members.
  using Touched = std::map<std::int32_t, std::map<std::int32_t, std::int32_t>>;

  [[nodiscard]] std::int32_t count(std::size_t g) const {
    return static_cast<std::int32_t>(std::set<DeviceId>(groups_[g].begin(), groups_[g].end()).size());
  }
  [[nodiscard]] Touched touched(std::size_t g, LevelId level) const {
    Touched out;
    for (const DeviceId d : std::set<DeviceId>(groups_[g].begin(), groups_[g].end())) {
      const std::int32_t child =
          level.value == 0 ? d.value : cluster_.tree().domain_of(d, LevelId{level.value - 1});
      ++out[cluster_.tree().domain_of(d, level)][child];
    }
    return out;
  }
  [[nodiscard]] bool turns(std::size_t g, LevelId level) const {
    const Touched domains = touched(g, level);
    return std::any_of(domains.begin(), domains.end(), [](const auto& d) { return d.second.size() > 1; });
  }

  [[nodiscard]] GroupLevel at_level(std::size_t g, LevelId level) const {
    const DeviceTree& tree = cluster_.tree();
    LevelSituation s{.level = level, .members = 0, .group_members = count(g), .siblings = groups_.size() > 1};
    std::vector<std::int32_t> at;
    std::vector<ChildLoad> loads;
    for (const auto& [domain, children] : touched(g, level)) {
      std::int32_t held = 0;
      for (const auto& [child, inside] : children) {
        held += inside;
        if (children.size() > 1) loads.push_back(load(level, domain, child, inside));
      }
      s.edges += static_cast<std::int32_t>(children.size()) - 1;
      s.domain_members = std::max(s.domain_members, held);
      if (static_cast<std::int32_t>(children.size()) <= s.members) continue;
      s.members = static_cast<std::int32_t>(children.size());
      s.children = tree.children(level, domain);
      s.domain_devices = tree.devices_in(level, domain);
      at.clear();
      for (const auto& [child, inside] : children) at.push_back(child - tree.first_child(level, domain));
    }
    s.at = at;
    s.loads = loads;
    return level_shape(cluster_.level(level), s);
  }

  [[nodiscard]] ChildLoad load(LevelId level, std::int32_t domain, std::int32_t child,
                               std::int32_t inside) const {
    ChildLoad out{inside, cluster_.tree().devices_in_child(level, child), 0, 0, 0, 0};
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Touched domains = touched(g, level);
      const auto here = domains.find(domain);
      if (here == domains.end() || here->second.size() < 2) continue;
      for (const auto& [other, members] : here->second) {
        out.domain_flows += members;
        ++out.domain_groups;
        if (other != child) continue;
        out.flows += members;
        ++out.groups;
      }
    }
    return out;
  }

  const Cluster& cluster_;
  const Groups& groups_;
};

RC_GTEST_PROP(SiblingShapes, AgreeWithTheDefinition, ()) {
  const Cluster c = random_cluster();
  Groups groups(*rc::gen::inRange<std::size_t>(1, 6));
  for (auto& group : groups) {
    const auto ids = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange(0, c.devices()));
    for (const std::int32_t id : ids) group.emplace_back(id);
  }
  const Plain plain(c, groups);
  const std::vector<GroupShape> quick = group_shapes(c, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) RC_ASSERT(quick[g] == plain.shape(g));
}

}  // namespace
}  // namespace nest::network
