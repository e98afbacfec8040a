#include "nest/plan/zero.hpp"

#include <gtest/gtest.h>

namespace nest::plan {
namespace {

// The table of the ZeRO paper (arXiv 1910.02054, section 5): each stage shards one thing more.
TEST(Zero, EachStageShardsOneThingMore) {
  std::int64_t stage = 0;
  for (const Zero zero : Zero::all()) {
    EXPECT_TRUE(zero.valid());
    EXPECT_EQ(zero.number(), stage);
    EXPECT_EQ(int{zero.shards_optimizer()} + int{zero.shards_gradients()} + int{zero.shards_parameters()},
              stage);
    EXPECT_EQ(zero.shards_anything(), stage > 0);
    ++stage;
  }
  EXPECT_FALSE(Zero(4).valid());
  EXPECT_FALSE(Zero(-1).valid());
}

TEST(Zero, ReshardingsAreSpelledAsTheyAreRead) {
  for (const char* text : {"always", "never", "first:4", "group:8"}) {
    const auto read = read_resharding(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(spell(*read), text);
  }
  for (const char* text : {"", "sometimes", "first", "first:", "first:0", "first:-1", "first:2x", "never:1",
                           "group", "group:99999999999"})
    EXPECT_FALSE(read_resharding(text)) << text;
  EXPECT_EQ(spell(Zero(3)), "ZeRO 3");
  EXPECT_EQ(spell(Zero(3, {Resharding::Kind::first, 4})), "ZeRO 3, reshard first:4");
}

TEST(Zero, AGroupIsAProperPartOfTheShards) {
  EXPECT_TRUE(resharding_group_fits(8, 16));
  EXPECT_FALSE(resharding_group_fits(16, 16));
  EXPECT_FALSE(resharding_group_fits(1, 16));
  EXPECT_FALSE(resharding_group_fits(6, 16));
}

// What every rank keeps whole is brought up to date once, at the end of the step; what no rank keeps whole,
// in every pass.
TEST(Zero, TrafficFollowsFromWhatIsSharded) {
  for (const Zero zero : Zero::all()) {
    EXPECT_EQ(zero.reduces_every_micro_batch(), zero == Zero(2) || zero == Zero(3)) << zero.number();
    EXPECT_EQ(zero.scatters_at_step_end(), zero == Zero(1)) << zero.number();
    EXPECT_EQ(zero.gathers_at_step_end(), zero == Zero(1) || zero == Zero(2)) << zero.number();
    EXPECT_EQ(zero.gathers_every_pass(), zero == Zero(3)) << zero.number();
  }
}

template <class A, class B>
concept Comparable = requires(A a, B b) { a == b; };

TEST(Zero, ComparesWithNoNumber) {
  static_assert(Comparable<Zero, Zero>);
  static_assert(!Comparable<Zero, int>);
  static_assert(!Comparable<Zero, std::int64_t>);
}

}  // namespace
}  // namespace nest::plan
