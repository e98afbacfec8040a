#include "nest/report/answer/comparison_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::Not;

PlanQuestion question() {
  return {test::example_inputs(),
          {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd},
          {},
          {.threads = 1}};
}

Comparison compared() {
  CompareOptions options;
  options.degrees = {{"one device", {1, 1, 1}}};
  return compare(question(), {"manual"}, options);
}

TEST(ComparisonText, HasARowForEachAndWhatItLosesBy) {
  const std::string text = comparison_text(compared(), question());
  EXPECT_THAT(text, HasSubstr("\nnest "));
  EXPECT_THAT(text, HasSubstr("100.0 %"));
  EXPECT_THAT(text, HasSubstr("\none device "));
  EXPECT_THAT(text, HasSubstr("compute +"));
}

TEST(ComparisonText, SaysWhyAPlanDoesNotFit) {
  Comparison all = compared();
  ComparedPlan& last = all.plans.back();
  last.result.status = PlanStatus::infeasible;
  last.result.reason = "stage 0 needs 2 GB more";
  last.relative.reset();
  last.loses.reset();
  const std::string text = comparison_text(all, question());
  EXPECT_THAT(text, HasSubstr("does not fit"));
  EXPECT_THAT(text, HasSubstr("- one device: stage 0 needs 2 GB more"));
  EXPECT_THAT(comparison_svg(all, question()), HasSubstr("stage 0 needs 2 GB more"));
}

TEST(ComparisonText, JsonHasTheContractsKeys) {
  const std::string json = to_json(to_value(compared()));
  for (const char* key : {"\"plans\"", "\"name\"", "\"status\"", "\"predicted\"", "\"parallelism\"",
                          "\"relative\"", "\"loses_most_by\"", "\"search_s\""})
    EXPECT_THAT(json, HasSubstr(key));
}

TEST(ComparisonText, DegreesInBrief) {
  Plan plan;
  plan.training.micro_batch = 2;
  plan.parallelism.strategy.tensor = 4;
  plan.parallelism.pipeline = 8;
  plan.parallelism.interleave = 2;
  plan.parallelism.data = 32;
  plan.parallelism.zero = 1;
  plan.stages.resize(1);
  plan.stages[0].recompute = {RecomputePolicy::selective, 0};
  EXPECT_EQ(brief_degrees(plan), "t4 p8x2 d32 z1 b2 selective");
  plan.parallelism.strategy.context = 16;
  plan.parallelism.strategy.context_method = ContextMethod::hybrid;
  plan.parallelism.strategy.context_inner = 4;
  EXPECT_EQ(brief_degrees(plan), "t4 c16/4 p8x2 d32 z1 b2 selective");
}

TEST(ComparisonText, ListsTheBaselines) {
  const std::string text = baselines_text();
  EXPECT_THAT(text, HasSubstr("alpa: "));
  EXPECT_THAT(text, HasSubstr("  ignores"));
  EXPECT_THAT(text, Not(HasSubstr("  simplified\n")));
}

}  // namespace
}  // namespace nest::report
