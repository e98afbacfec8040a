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
