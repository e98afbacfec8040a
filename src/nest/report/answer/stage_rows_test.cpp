#include "nest/report/answer/stage_rows.hpp"

#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

Plan plan_of(const std::vector<int>& layers) {
  return test::answer_plan(layers, 1, Seconds{1}, Seconds{0});
}

TEST(StageRows, OneStage) {
  const std::vector<StageRow> rows = stage_rows(plan_of({3}));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].stages, "0");
  EXPECT_EQ(rows[0].layers, "0-2");
  EXPECT_EQ(rows[0].recompute, "none");
  EXPECT_EQ(rows[0].time, "10 ms");
  EXPECT_EQ(rows[0].memory, "3.73 GiB");
  EXPECT_DOUBLE_EQ(rows[0].share, 0.05);
}

TEST(StageRows, LikeNeighboursShareARow) {
  const std::vector<StageRow> rows = stage_rows(plan_of({3, 2, 2, 2, 1}));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].stages, "1-3");
  EXPECT_EQ(rows[1].layers, "3-8, 2 each");
  EXPECT_EQ(rows[1].memory, "4.66-6.52 GiB");
  EXPECT_DOUBLE_EQ(rows[1].share, 7.0 / 80);  // of the fullest of them
}

TEST(StageRows, AnotherPolicyMakesAnotherRow) {
  Plan plan = plan_of({2, 2, 2});
  plan.stages[1].recompute = {RecomputePolicy::full, 1};
  const std::vector<StageRow> rows = stage_rows(plan);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].recompute, "full on 1 layer");
}

TEST(StageRows, SixtyFourStagesFitAScreen) {
  std::vector<int> layers(64, 1);
  for (std::size_t i = 1; i < 64; i += 2) layers[i] = 2;
  const std::vector<StageRow> rows = stage_rows(plan_of(layers), 9);
  ASSERT_EQ(rows.size(), 9U);
  EXPECT_EQ(rows[4].stages, "4-59");
  EXPECT_EQ(rows[4].layers, "6-89, 1-2 each");
  EXPECT_EQ(rows[8].stages, "63");
}

TEST(StageRows, ChunksAreCounted) {
  Plan plan = plan_of({4, 4});
  for (Stage& stage : plan.stages) stage.chunks.resize(4, {LayerId{0}});
  EXPECT_EQ(stage_rows(plan)[0].layers, "4 each, in 4 chunks");
  plan.stages.pop_back();
  EXPECT_EQ(stage_rows(plan)[0].layers, "4, in 4 chunks");
}

TEST(StageRows, BarsAndRanges) {
  EXPECT_EQ(text_bar(0.5, 10), "#####.....");
  EXPECT_EQ(text_bar(1.7, 4), "####");
  EXPECT_EQ(text_range("216 ms", "216 ms"), "216 ms");
  EXPECT_EQ(text_range("216 ms", "218 ms"), "216-218 ms");
  EXPECT_EQ(text_range("900 us", "1.2 ms"), "900 us - 1.2 ms");
}

}  // namespace
}  // namespace nest::report
