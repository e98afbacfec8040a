#include "nest/cluster/imports/host_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nest::cluster {
namespace {

using testing::ElementsAre;

TEST(HostTree, HostsOfADomainFollowEachOther) {
  const HostTree tree = make_host_tree({{"1", "2", "1", "2", "3"}, {"x", "y", "x", "y", "y"}}, 5);
  EXPECT_THAT(tree.order, ElementsAre(0, 2, 1, 3, 4));
  EXPECT_THAT(tree.sizes[0], ElementsAre(2, 2, 1));
  EXPECT_THAT(tree.sizes[1], ElementsAre(1, 2));
}

TEST(HostTree, EqualNamesInOtherDomainsAreOtherDomains) {
  const HostTree tree = make_host_tree({{"rack1", "rack1", "rack1"}, {"a", "b", "a"}}, 3);
  EXPECT_THAT(tree.order, ElementsAre(0, 2, 1));
  EXPECT_THAT(tree.sizes[0], ElementsAre(2, 1));
}

TEST(HostTree, AGapIsFilledByWhoLiesNearby) {
  // The second host says its leaf alone, the last one nothing.
  const HostTree tree = make_host_tree({{"l1", "l1", "l2", ""}, {"s", "", "s", ""}}, 4);
  EXPECT_THAT(tree.sizes[0], ElementsAre(2, 1, 1));
  EXPECT_THAT(tree.sizes[1], ElementsAre(2, 1));
}

TEST(HostTree, WithoutTiers) {
  const HostTree tree = make_host_tree({}, 3);
  EXPECT_THAT(tree.order, ElementsAre(0, 1, 2));
  EXPECT_TRUE(tree.sizes.empty());
}

TEST(HostTree, WhichDomainsAreNested) {
  EXPECT_TRUE(nested_in({"a", "a", "b"}, {"x", "x", "x"}));
  EXPECT_TRUE(nested_in({"a", "a", "b"}, {"x", "", "y"}));
  EXPECT_FALSE(nested_in({"a", "a", "b"}, {"x", "y", "y"}));
}

}  // namespace
}  // namespace nest::cluster
