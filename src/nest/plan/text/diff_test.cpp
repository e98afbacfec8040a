#include "nest/plan/text/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::plan {
using namespace price;
namespace {

Plan priced(const Plan& plan) {
  Pricer pricer(test::example_inputs());
  const Plan placed = pricer.place(plan);
  return with_results(placed, pricer.price(placed));
}

TEST(Diff, SaysWhatDiffersInWordsAndSeconds) {
  const PlanDifference d =
      diff(priced(test::example_plan({{0, 1}, {2}}, 2, 1)), priced(test::example_plan({{0, 1}, {2}}, 2, 2)));
  ASSERT_EQ(d.choices.size(), 3U);
  EXPECT_EQ(d.choices[0].what, "data inner");
  EXPECT_EQ(d.choices[1].what, "devices of a block");
  EXPECT_EQ(d.choices[2].what, "placement");
  // Device 0 stays with stage 1's first copy, device 3 with stage 0's second.
  EXPECT_EQ(d.choices[2].second, "2 of 4 ranks on another device");
  EXPECT_NEAR(d.second.value - d.first.value, 65.027e-3 - 78.515e-3, 1e-12);
  Seconds sum;
  for (const TermDifference& t : d.terms) sum += t.change();
  EXPECT_NEAR(sum.value, (d.second - d.first).value, 1e-12);
}

TEST(Diff, APlanDoesNotDifferFromItself) {
  const Plan plan = priced(test::example_plan({{0}, {1, 2}}, 2, 2));
  EXPECT_TRUE(diff(plan, plan).choices.empty());
}

TEST(Diff, GroupsOfHybridContextAreNamed) {
  const auto with = [](std::int64_t inner) {
    Plan plan = priced(test::example_plan({{0}, {1, 2}}, 2, 2));
    plan.parallelism.strategy = {
        .context = 8, .context_method = ContextMethod::hybrid, .context_inner = inner};
    return plan;
  };
  const auto choices = diff(with(2), with(4)).choices;
  const auto at = std::ranges::find(choices, "ranks of an all-to-all", &ChoiceDifference::what);
  ASSERT_NE(at, choices.end());
  EXPECT_EQ(at->first + " and " + at->second, "2 and 4");
}

TEST(Diff, AsJson) {
  const PlanDifference d{
      {{"tensor", "8", "4"}}, {{"compute", Seconds{1}, Seconds{1.5}}}, Seconds{2}, Seconds{3}};
  EXPECT_EQ(to_json_line(to_value(d)),
            R"({"first_s": 2, "second_s": 3, "choices": [{"what": "tensor", "first": "8", "second": "4"}], )"
            R"("terms": [{"name": "compute", "first_s": 1, "second_s": 1.5, "change_s": 0.5}]})");
}

TEST(Diff, LayersAreSpeltAsRanges) {
  EXPECT_EQ(spell_layers({LayerId{0}, LayerId{1}, LayerId{2}, LayerId{5}}), "0-2, 5");
  EXPECT_EQ(spell_layers({}), "");
}

TEST(Diff, InputsAreComparedKeyByKey) {
  PlanInputs other = test::example_inputs();
  other.recipe.overlap.gradient_reduce = 1;
  other.recipe.reserve = Bytes{1000};
  const auto inputs = diff_inputs(test::example_inputs(), other);
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].what, "recipe reserve");
  EXPECT_EQ(inputs[0].second, "1000");
  EXPECT_EQ(inputs[1].what, "recipe overlap");
  EXPECT_TRUE(diff_inputs(other, other).empty());
}

TEST(Diff, CutsAreNamedByStage) {
  const PlanDifference d =
      diff(priced(test::example_plan({{0, 1}, {2}}, 2, 2)), priced(test::example_plan({{0}, {1, 2}}, 2, 2)));
  ASSERT_EQ(d.choices.size(), 2U);
  EXPECT_EQ(d.choices[0].what, "stage 0 layers");
  EXPECT_EQ(d.choices[0].first, "0-1");
  EXPECT_EQ(d.choices[0].second, "0");
}

TEST(Diff, TheLargestLossIsThePartThatGrowsMost) {
  Plan best;
  best.predicted.emplace();
  best.predicted->breakdown.compute = Seconds{1};
  Plan other = best;
  other.predicted->breakdown.compute = Seconds{1.1};
  other.predicted->breakdown.bubble = Seconds{0.3};
  const auto loss = largest_loss(best, other);
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->name, "bubble");
  EXPECT_DOUBLE_EQ(loss->change().value, 0.3);
  EXPECT_EQ(largest_loss(best, best), std::nullopt);
  EXPECT_EQ(largest_loss(other, best), std::nullopt);
}

}  // namespace
}  // namespace nest::plan
