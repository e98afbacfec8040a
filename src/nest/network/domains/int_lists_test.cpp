#include "nest/network/domains/int_lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace nest::network {
namespace {

TEST(IntLists, EqualListsHaveEqualNames) {
  IntLists lists;
  const std::vector<std::int32_t> empty;
  EXPECT_EQ(lists.name(empty), 0);
  EXPECT_EQ(lists.name(std::vector<std::int32_t>{1, 2}), 1);
  EXPECT_EQ(lists.name(std::vector<std::int32_t>{2, 1}), 2);
  EXPECT_EQ(lists.name(std::vector<std::int32_t>{1, 2}), 1);
  EXPECT_EQ(lists.name(empty), 0);
  EXPECT_THAT(lists.list(2), ::testing::ElementsAre(2, 1));
  EXPECT_EQ(lists.size(), 3U);
}

TEST(IntLists, ForgetWhatTheyHad) {
  IntLists lists;
  EXPECT_EQ(lists.name(std::vector<std::int32_t>{1, 2}), 0);
  lists.clear();
  EXPECT_EQ(lists.size(), 0U);
  EXPECT_EQ(lists.name(std::vector<std::int32_t>{3}), 0);
  EXPECT_EQ(lists.name(std::vector<std::int32_t>{1, 2}), 1);
}

TEST(IntLists, AgreeWithAMap) {
  std::mt19937 random(20261202);
  IntLists lists;
  std::map<std::vector<std::int32_t>, std::int32_t> known;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::int32_t> list(random() % 5);
    for (std::int32_t& n : list) n = static_cast<std::int32_t>(random() % 7) - 1;
    const auto [at, fresh] = known.emplace(list, static_cast<std::int32_t>(known.size()));
    ASSERT_EQ(lists.name(list), at->second);
    ASSERT_THAT(lists.list(at->second), ::testing::ElementsAreArray(list));
  }
  EXPECT_EQ(lists.size(), known.size());
}

}  // namespace
}  // namespace nest::network
