#include "nest/report/answer/why_not_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;
using testing::HasSubstr;

const Plan kFastest = answer_plan({3}, 8, Seconds{1}, Seconds{0});

std::string said_of(const WhyNot& why, const SearchResult& found = answer({kFastest})) {
  const PlanInputs inputs = test::eight_devices();
  return why_not_text(why, {found, inputs, {}});
}

TEST(WhyNotText, WhatAChoiceCosts) {
  WhyNot why{"pipeline=2", answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.25})}), false, Seconds{0.25}};
  EXPECT_EQ(said_of(why), R"(Why not pipeline=2?
pipeline 2 costs 250 ms (25.0 %): the best plan with it takes 1.25 s a step. It loses most time in
bubble: +250 ms.

choice         best  pipeline=2
micro-batches  1     2
pipeline       1     2
data           8     4
data inner     8     4

part     best  pipeline=2   change
compute   1 s         1 s     +0 s
bubble    0 s      250 ms  +250 ms
step      1 s      1.25 s  +250 ms
)");
  why.found.status = PlanStatus::feasible;
  EXPECT_THAT(said_of(why), HasSubstr("the best plan found with it (not proved) takes"));
}

TEST(WhyNotText, WhatForbidsAChoice) {
  WhyNot why{"tensor=3", {}, false, std::nullopt};
  why.found.reason = "tensor 3 does not divide 64 heads";
  EXPECT_EQ(said_of(why),
            "Why not tensor=3?\ntensor 3 is not possible: tensor 3 does not divide 64 heads.\n");
  why.found.status = PlanStatus::limit;
  EXPECT_THAT(said_of(why), HasSubstr("No such plan was found before the limit"));
}

TEST(WhyNotText, AChoiceThatIsMadeOrCostsNothing) {
  WhyNot why{"pipeline=1", answer({kFastest}), true, Seconds{0}};
  EXPECT_EQ(said_of(why), "Why not pipeline=1?\nThe best plan makes this choice already.\n");
  why.chosen = false;
  EXPECT_THAT(said_of(why), HasSubstr("pipeline 1 costs nothing: the best plan with it takes 1 s a step"));
}

TEST(WhyNotText, APlanAsItIs) {
  WhyNot why{"my.json", answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.25})}, PlanStatus::feasible),
             false,     Seconds{0.25},
             0.25,      true};
  EXPECT_THAT(
      said_of(why),
      HasSubstr("Why not my.json?\nIt is 250 ms (25.0 %) slower than the best plan: 1.25 s a step. It loses "
                "most time in bubble: +250\nms.\n"));
  why.found.status = PlanStatus::infeasible;
  StageMemory& memory = *why.found.plans.front().stages[1].memory;
  memory.activations = Bytes{std::int64_t{90} << 30};
  memory.capacity = Bytes{std::int64_t{80} << 30};
  EXPECT_THAT(
      said_of(why),
      HasSubstr(
          "It does not fit: stage 1, its fullest, needs 90.9 GiB, and a device has 80 GiB. That is 10.9 GiB "
          "too\nmuch, and most of it is activations (90 GiB). If it fitted, it would be 250 ms (25.0 %) "
          "slower "
          "than\nthe best plan: 1.25 s a step."));
  why.found.plans.clear();
  why.found.reason = "layer 2 is in no stage";
  EXPECT_EQ(said_of(why), "Why not my.json?\nThis is no valid plan: layer 2 is in no stage.\n");
  why.found = answer({kFastest});
  why.chosen = true;
  EXPECT_THAT(said_of(why), HasSubstr("It is the best plan"));
}

// The estimate fits, the margin does not: both sentences are about the fullest stage.
TEST(WhyNotText, APlanWithoutTheMargin) {
  WhyNot why{"my.json", answer({answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0})}, PlanStatus::infeasible),
             false,     Seconds{-0.1},
             -0.1,      true};
  Plan& plan = why.found.plans.front();
  plan.predicted->fits_probability = 0.49;
  for (Stage& stage : plan.stages) {
    stage.memory->weights = Bytes{std::int64_t{10} << 30};
    stage.memory->capacity = Bytes{std::int64_t{80} << 30};
    stage.memory->margin = Bytes{std::int64_t{6} << 30};
  }
  plan.stages[0].memory->activations = Bytes{std::int64_t{65} << 30};
  plan.stages[1].memory->activations = Bytes{std::int64_t{69} << 30};
  why.found.reason = "stage 0 needs 75 GiB, a device has 80 GiB, of which 6 GiB are kept free: 1 GiB over";
  EXPECT_THAT(
      said_of(why),
      HasSubstr("It leaves too little memory free: stage 1, its fullest, needs 79 GiB, and a device has 80 "
                "GiB, of\nwhich 6 GiB are kept free. That is 5 GiB too much, and most of it is activations "
                "(69 GiB). Without a\nmargin it fits with 49 %, and would be 100 ms (10.0 %) faster than "
                "the best plan: 900 ms a step.\n"));
}

// What beats a proved optimum is none of its space.
TEST(WhyNotText, APlanThatIsFasterThanTheBest) {
  const WhyNot why{"my.json", answer({answer_plan({3}, 8, Seconds{0.75}, Seconds{0})}, PlanStatus::feasible),
                   false,     Seconds{-0.25},
                   -0.25,     true};
  EXPECT_THAT(said_of(why), HasSubstr("It is 250 ms (25.0 %) faster than the best plan: 750 ms a step. It "
                                      "is outside the space"));
  EXPECT_THAT(
      said_of(why, answer({kFastest}, PlanStatus::feasible)),
      HasSubstr("The search was stopped before it had\nproved its best plan, and may have missed this one."));
}

// A simpler plan stands in for the best one: 1.004 s in place of 1 s.
SearchResult beside_a_tie() {
  SearchResult found = answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0})});
  found.simpler = answer_plan({3}, 8, Seconds{1.004}, Seconds{0});
  found.avoids = {"pipeline parallelism"};
  return found;
}

WhyNot given(Plan plan) {
  const Plan taken = *beside_a_tie().simpler;
  WhyNot why{"my.json", answer({std::move(plan)}, PlanStatus::feasible)};
  why.given = true;
  why.cost = why.found.plans.front().predicted->step - taken.predicted->step;
  why.chosen = same_plan(why.found.plans.front(), taken);
  return why;
}

TEST(WhyNotText, PlansBesideANearTie) {
  const SearchResult found = beside_a_tie();
  EXPECT_EQ(
      said_of(given(*found.simpler), found),
      "Why not my.json?\nIt is the plan above, which stands in for the best plan and takes 0.4 % longer; "
      "--strict takes that.\n");
  EXPECT_THAT(
      said_of(given(found.plans.front()), found),
      HasSubstr("It is 4 ms (0.4 %) faster than the plan above: 1 s a step. It is the best plan, for which "
                "the plan\nabove stands in; --strict takes it.\n\nchoice         taken  my.json"));
  EXPECT_THAT(
      said_of(given(answer_plan({1, 1, 1}, 2, Seconds{1.002}, Seconds{0})), found),
      HasSubstr("It is 2 ms (0.2 %) faster than the plan above: 1 s a step. It is 2 ms (0.2 %) slower than "
                "the best\nplan, for which the plan above stands in."));
  EXPECT_THAT(
      said_of(given(answer_plan({1, 1, 1}, 2, Seconds{0.9}, Seconds{0})), found),
      HasSubstr("It is 104 ms (10.4 %) faster than the plan above: 900 ms a step. It is outside the space "
                "that was\nsearched: no plan of that is better than the best plan."));
  EXPECT_THAT(said_of(given(answer_plan({1, 1, 1}, 2, Seconds{1.004}, Seconds{0})), found),
              HasSubstr("It takes as long as the plan above: 1 s a step."));
  EXPECT_THAT(said_of(given(answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.5})), found),
              HasSubstr("It is 496 ms (49.4 %) slower than the plan above: 1.5 s a step."));
}

TEST(WhyNotText, ChoicesBesideANearTie) {
  const SearchResult found = beside_a_tie();
  WhyNot why{"pipeline=2", answer({found.plans.front()}), false, Seconds{-0.004}};
  EXPECT_THAT(
      said_of(why, found),
      HasSubstr("pipeline 2 costs nothing: the best plan with it is 4 ms (0.4 %) faster than the plan above: "
                "1 s a\nstep. It is the best plan, for which the plan above stands in; --strict takes it."));
  why = {"pipeline=1", answer({*found.simpler}), true, Seconds{0}};
  EXPECT_EQ(said_of(why, found), "Why not pipeline=1?\nThe plan above makes this choice already.\n");
}

TEST(WhyNotText, AsJson) {
  const PlanInputs inputs = test::eight_devices();
  const SearchResult found = answer({kFastest});
  const Beside beside{found, inputs, {}};
  const WhyNot costs{"pipeline=2", answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.25})}), false,
                     Seconds{0.25}};
  const Value v = to_value(costs, beside);
  EXPECT_EQ(*v.find("status")->as_string(), "optimal");
  EXPECT_EQ(*v.find("cost_s")->as_real(), 0.25);
  EXPECT_EQ(*v.find("sentence")->as_string(), why_not_sentence(costs, beside));
  EXPECT_NE(v.find("plan"), nullptr);
  WhyNot forbidden{"tensor=3", {}, false, std::nullopt};
  forbidden.found.reason = "no";
  EXPECT_EQ(to_json_line(to_value(forbidden, beside)),
            R"({"choice": "tensor=3", "status": "infeasible", "sentence": "tensor 3 is not possible: no.", )"
            R"("reason": "no"})");
}

}  // namespace
}  // namespace nest::report
