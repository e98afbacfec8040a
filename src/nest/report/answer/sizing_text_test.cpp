#include "nest/report/answer/sizing_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::Not;

SizedPlan sized(std::int64_t rented, double reach, const RunCosts& costs) {
  const PlanInputs inputs = test::example_inputs();
  Pricer pricer(inputs);
  Plan plan = pricer.place(test::example_plan({{0, 1}, {2}}, 2, 2));
  plan = with_results(plan, pricer.price(plan));
  plan.status = PlanStatus::optimal;
  SizedPlan one{std::move(plan), inputs, 4, rented, costs.goodput(rented), {}, reach};
  one.cost = costs.of({rented, one.plan.predicted->tokens_per_s, 1}, 1e9);
  return one;
}

RunCosts costs_of(const RunTerms& terms) {
  return {terms, test::example_inputs(), {.global_batch = 8, .sequence = 512}};
}

TEST(SizingText, Money) {
  EXPECT_EQ(format_money(0.125), "0.125");
  EXPECT_EQ(format_money(12'345.6), "12,346");
  EXPECT_EQ(format_money(1.82e6), "1.82 M");
}

TEST(SizingText, NearMissesAndCosts) {
  RunTerms terms;
  terms.prices = {{"", 2}};
  const RunCosts costs = costs_of(terms);
  Sizing sizing;
  sizing.status = PlanStatus::optimal;
  sizing.target_tokens_per_s = 100;
  sizing.answer = sized(8, 1.1, costs);
  sizing.near_misses = {sized(4, 0.91, costs), sized(6, 0.998, costs)};
  const SizingTask task{.tokens = 1e9, .days = 1};
  const std::string text = sizing_text(sizing, task, costs, test::example_inputs());
  EXPECT_THAT(text, HasSubstr("Nearly   6 devices reach 99.8 % of the target, 4 reach 91.0 %\n"));
  EXPECT_THAT(text, HasSubstr(" at 2 an hour; "));
  EXPECT_THAT(text, HasSubstr(" for a trillion tokens"));
  EXPECT_THAT(text, HasSubstr("Devices  8 x x, of which the plan uses 4\n"));
  const std::string json = to_json_line(sizing_value(sizing, task, costs));
  EXPECT_THAT(json, HasSubstr("\"near_misses\": [{\"devices\": 4, \"rented_devices\": 4,"));
}

Sizing of_eight(const RunCosts& costs) {
  Sizing sizing;
  sizing.status = PlanStatus::optimal;
  sizing.target_tokens_per_s = 100;
  sizing.answer = sized(8, 1.1, costs);
  return sizing;
}

// Half as many devices are no near miss where they are fast enough, and what is proved is of devices, not of nodes.
TEST(SizingText, WholeNodes) {
  const RunCosts costs = costs_of({});
  Sizing sizing = of_eight(costs);
  sizing.fewest = 1;
  sizing.others = {sized(4, 2.5, costs)};
  const SizingTask task{.tokens = 1e9, .days = 2};
  const std::string text = sizing_text(sizing, task, costs, test::example_inputs());
  EXPECT_THAT(text, HasSubstr("tokens in 2 days are"));
  EXPECT_THAT(text,
              HasSubstr("Proof    optimal: 1 device is the fewest that are enough; 8 are rented, because "
                        "nodes and slices are\n         rented whole\n"));
  EXPECT_THAT(text, Not(HasSubstr("Nearly")));
  sizing.others = {sized(4, 0.6, costs)};
  sizing.fewest = 8;
  const std::string far = sizing_text(sizing, task, costs, test::example_inputs());
  EXPECT_THAT(far, HasSubstr("Proof    optimal: no plan with fewer devices is fast enough\n"));
  EXPECT_THAT(far, HasSubstr("Nearly   4 devices reach 60.0 % of the target\n"));
}

TEST(SizingText, WhatComesNearest) {
  const RunCosts costs = costs_of({});
  Sizing sizing;
  sizing.reason = "a pod cannot grow";
  sizing.near_misses = {sized(4, 0.977, costs)};
  const SizingTask task{.tokens = 1e9, .days = 1};
  EXPECT_THAT(
      sizing_text(sizing, task, costs, test::example_inputs()),
      HasSubstr("tokens in 1 day are 0 tokens/s\n\nno number of devices is enough: a pod cannot grow\n\n"
                "Nearly   4 devices reach 97.7 % of the target\n"));
  EXPECT_THAT(to_json_line(sizing_value(sizing, task, costs)),
              HasSubstr("\"near_misses\": [{\"devices\": 4"));
  sizing.near_misses.front().reach = 0.2;
  EXPECT_THAT(sizing_text(sizing, task, costs, test::example_inputs()),
              HasSubstr("\nAt most  4 devices reach 20.0 % of the target\n"));
  sizing.near_misses.front().reach = 0;
  EXPECT_THAT(sizing_text(sizing, task, costs, test::example_inputs()), Not(HasSubstr("reach")));
}

// A step between 0.9 and 1.2 of what is predicted, and so the days.
TEST(SizingText, Intervals) {
  const RunCosts costs = costs_of({});
  Sizing sizing = of_eight(costs);
  Prediction& p = *sizing.answer->plan.predicted;
  p.interval = {0.8, p.step * 0.9, p.step * 1.2};
  p.fits_probability = 0.83;
  sizing.answer->cost.days = 10;
  const SizingTask task{.tokens = 1e9, .days = 1};
  const std::string text = sizing_text(sizing, task, costs, test::example_inputs());
  EXPECT_THAT(text, HasSubstr("Time     10.0 days (80 %: 9.0 to 12.0); step "));
  EXPECT_THAT(text, HasSubstr("fits with 83 %"));
  EXPECT_THAT(text, HasSubstr("9.0-12.0"));
  const Value v = sizing_value(sizing, task, costs);
  const Value& one = *v.find("answer");
  EXPECT_EQ(to_json_line(*one.find("days_interval")), "[9, 12]");
  EXPECT_NE(one.find("interval"), nullptr);
  EXPECT_EQ(*one.find("fits_probability")->as_real(), 0.83);
}

TEST(SizingText, Goodput) {
  RunTerms terms;
  terms.mtbf = Amount{3600 * 40.0, Amount::Of::device};
  terms.checkpoint = Bytes{60'000'000'000};
  const RunCosts costs = costs_of(terms);
  // 4 devices: a failure every 10 h; 60 GB at 4 x 125 MB/s take 2 min. Young: sqrt(2 x 2 x 600) = 49 min.
  // exp(-10/600) x (47.7/600) / (exp(49.7/600) - 1) = 0.9835 x 0.0795 / 0.0864
  EXPECT_EQ(
      goodput_sentence(costs.goodput(4), costs.checkpoint()),
      "90.5 % of the time makes progress: a failure every 10 h, a checkpoint of 60 GB (2 min) every 47.7 "
      "min, a restart of 10 min");
}

TEST(SizingText, APortfolio) {
  const RunCosts costs = costs_of({});
  Portfolio plans;
  plans.steps.resize(3);
  plans.steps[0].nodes = 2;
  plans.steps[0].sized = sized(4, 1, costs);
  plans.steps[1].nodes = 1;
  plans.steps[1].sized = sized(4, 1, costs);
  plans.steps[1].moved = {Bytes{9'000'000}, Bytes{6'000'000}, Bytes{2'000'000}, Bytes{1'000'000}};
  plans.steps[2].reason = "nothing fits";
  const std::string text = portfolio_text(plans);
  EXPECT_THAT(text, HasSubstr("6 MB"));
  EXPECT_THAT(text, HasSubstr("nothing fits"));
  EXPECT_THAT(text, HasSubstr("With --mtbf"));
  const std::string json = to_json_line(portfolio_value(plans));
  EXPECT_THAT(json, HasSubstr("\"resharded_bytes\": 6000000"));
  EXPECT_THAT(json, HasSubstr("\"reason\": \"nothing fits\""));
}

}  // namespace
}  // namespace nest::report
