#include "nest/network/groups/group_pattern.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "nest/base/error.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "nest/network/groups/test_clusters.hpp"

namespace nest::network {
using namespace estimate;
namespace {

TEST(GroupPattern, ListsItsIds) {
  const GroupPattern p{DeviceId{2}, {{1, 2}, {8, 2}}, {{2, 2}}};
  std::vector<std::int32_t> ids;
  for (const auto& group : pattern_siblings(p)) {
    for (const DeviceId d : group) ids.push_back(d.value);
  }
  EXPECT_EQ(ids, (std::vector<std::int32_t>{2, 3, 10, 11, 4, 5, 12, 13}));
}

TEST(GroupPattern, EightRails) {
  const Cluster c({.name = "c", .levels = {test_level("node", {8}), test_level("rack", {4}, 4)}});
  const GroupShape s = pattern_shape(c, {DeviceId{0}, {{8, 4}}, {{1, 8}}});
  ASSERT_EQ(s.levels().size(), 1U);
  EXPECT_EQ(s.levels()[0].members, 4);
  EXPECT_DOUBLE_EQ(s.levels()[0].load, 4);
}

TEST(GroupPattern, RefusesABadStride) {
  EXPECT_THROW(Strides({{0, 2}}), InputError);
  EXPECT_THROW(Strides({{1, 2}, {2, 2}, {4, 2}, {8, 2}, {16, 2}}), InputError);
}

RC_GTEST_PROP(GroupPattern, AgreesWithTheListOfIds, ()) {
  const Cluster c = random_cluster();
  // Nested strides, shared out between members and siblings, from a random start.
  std::vector<Stride> members;
  std::vector<Stride> siblings;
  std::int32_t reach = 1;
  for (int a = 0; a < 4; ++a) {
    const std::int32_t n = *rc::gen::element(1, 2, 2, 3, 4);
    const std::int32_t gap = *rc::gen::weightedElement<std::int32_t>({{4, 1}, {1, 2}});
    const bool member = *rc::gen::arbitrary<bool>();
    if (reach * gap * n > c.devices()) continue;
    (member ? members : siblings).push_back({reach * gap, n});
    reach *= gap * n;
  }
  GroupPattern p;
  p.start = DeviceId{*rc::gen::inRange(0, c.devices() - reach + 1)};
  const auto strides = [](const std::vector<Stride>& v) {
    Strides out;
    if (v.size() == 1) out = Strides{v[0]};
    if (v.size() == 2) out = Strides{v[0], v[1]};
    if (v.size() == 3) out = Strides{v[0], v[1], v[2]};
    if (v.size() == 4) out = Strides{v[0], v[1], v[2], v[3]};
    return out;
  };
  p.members = strides(members);
  p.siblings = strides(siblings);
  const GroupShape listed = group_shapes(c, pattern_siblings(p)).front();
  const GroupShape quick = pattern_shape(c, p);
  for (const FabricConstants& constants : {ideal_constants(c), fabric_constants(c)}) {
    const Seconds t =
        collective_time(CollectiveKind::all_reduce, Bytes{1000}, quick, CollectiveModel(c, constants));
    RC_ASSERT(std::isfinite(t.value) && t.value >= 0);
  }
  RC_ASSERT(listed.members() == quick.members());
  RC_ASSERT(listed.levels().size() == quick.levels().size());
  for (std::size_t i = 0; i < listed.levels().size(); ++i) {
    const GroupLevel& a = listed.levels()[i];
    const GroupLevel& b = quick.levels()[i];
    RC_ASSERT(a.level == b.level);
    RC_ASSERT(a.members == b.members);
    RC_ASSERT(a.inside == b.inside);
    RC_ASSERT(a.edges == b.edges);
    RC_ASSERT(a == b);
    RC_ASSERT(a.load > 0 && a.lone >= 1 && a.fraction > 0 && a.link > 0 && a.exchange > 0);
  }
}

}  // namespace
}  // namespace nest::network
