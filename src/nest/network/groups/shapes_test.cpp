#include "nest/network/groups/shapes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nest::network {
namespace {

GroupShape spanning(std::int32_t members) {
  GroupShape shape(members);
  shape.add({.level = LevelId{0}, .members = members});
  return shape;
}

TEST(Shapes, AreKeptOnceAndInOneOrder) {
  const Shapes a({spanning(4), spanning(2), spanning(4)});
  const Shapes b({spanning(2), spanning(4)});
  EXPECT_EQ(a.size(), 2U);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a[0], a.front());
  EXPECT_FALSE(a == Shapes({spanning(2)}));
}

TEST(Shapes, OfNoGroupsAreEmpty) {
  EXPECT_TRUE(Shapes().empty());
  EXPECT_TRUE(Shapes(std::vector<GroupShape>{}).empty());
  EXPECT_EQ(Shapes(), Shapes(std::vector<GroupShape>{}));
  EXPECT_FALSE(Shapes({spanning(2)}).empty());
}

}  // namespace
}  // namespace nest::network
