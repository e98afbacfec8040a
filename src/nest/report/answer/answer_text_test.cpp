#include "nest/report/answer/answer_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;
using testing::HasSubstr;

const Plan kBest = answer_plan({3}, 8, Seconds{1}, Seconds{0});

TEST(AnswerText, WhatAChoiceCosts) {
  WhyNot why{"pipeline=2", answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.25})}), false, Seconds{0.25}};
  EXPECT_EQ(why_not_text(why, kBest), R"(Why not pipeline=2?
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
  EXPECT_THAT(why_not_text(why, kBest), HasSubstr("the best plan found with it (not proved) takes"));
}

TEST(AnswerText, WhatForbidsAChoice) {
  WhyNot why{"tensor=3", {}, false, std::nullopt};
  why.found.reason = "tensor 3 does not divide 64 heads";
  EXPECT_EQ(why_not_text(why, kBest),
            "Why not tensor=3?\ntensor 3 is not possible: tensor 3 does not divide 64 heads.\n");
  why.found.status = PlanStatus::limit;
  EXPECT_THAT(why_not_text(why, kBest), HasSubstr("No such plan was found before the limit"));
}

TEST(AnswerText, AChoiceThatIsMadeOrCostsNothing) {
  WhyNot why{"pipeline=1", answer({kBest}), true, Seconds{0}};
  EXPECT_EQ(why_not_text(why, kBest), "Why not pipeline=1?\nThe best plan makes this choice already.\n");
  why.chosen = false;
  EXPECT_THAT(why_not_text(why, kBest),
              HasSubstr("pipeline 1 costs nothing: the best plan with it takes 1 s a step"));
}

TEST(AnswerText, APlanAsItIs) {
  WhyNot why{"my.json", answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.25})}, PlanStatus::feasible),
             false, Seconds{0.25}, true};
  EXPECT_THAT(
      why_not_text(why, kBest),
      HasSubstr("Why not my.json?\nIt is 250 ms (25.0 %) slower than the best plan: 1.25 s a step. It loses "
                "most time in bubble: +250\nms.\n"));
  why.found.status = PlanStatus::infeasible;
  why.found.reason = "stage 1 needs 96 GiB, a device has 80 GiB";
  StageMemory& memory = *why.found.plans.front().stages[1].memory;
  memory.activations = Bytes{std::int64_t{90} << 30};
  memory.capacity = Bytes{std::int64_t{80} << 30};
  EXPECT_THAT(
      why_not_text(why, kBest),
      HasSubstr("It does not fit: stage 1 needs 96 GiB, a device has 80 GiB. That is 10.9 GiB too much, and "
                "most of\nit is activations (90 GiB). If it fitted, it would be 250 ms (25.0 %) slower"));
  why.found.plans.clear();
  why.found.reason = "layer 2 is in no stage";
  EXPECT_EQ(why_not_text(why, kBest), "Why not my.json?\nThis is no valid plan: layer 2 is in no stage.\n");
  why.found = answer({kBest});
  why.chosen = true;
  EXPECT_THAT(why_not_text(why, kBest), HasSubstr("It is the best plan"));
}

// Point estimates may fit where the search wants more room.
TEST(AnswerText, APlanThatIsFasterThanTheBest) {
  WhyNot why{"my.json", answer({answer_plan({3}, 8, Seconds{0.75}, Seconds{0})}, PlanStatus::feasible), false,
             Seconds{-0.25}, true};
  EXPECT_THAT(why_not_text(why, kBest),
              HasSubstr("It is 250 ms (25.0 %) faster than the best plan: 750 ms a step. It "
                        "is outside the space"));
}

TEST(AnswerText, WhatWouldMakeItFit) {
  SearchResult none;
  none.reason = "stage 0 needs 96 GiB, a device has 74.5 GiB";
  EXPECT_EQ(unfit_text(none, test::eight_devices(), {}),
            "no plan for three on eight (8 x x): stage 0 needs 96 GiB, a device has 74.5 GiB\nNone of the "
            "changes that were tried would make a plan possible.\n");
  EXPECT_EQ(unfit_text(none, test::eight_devices(),
                       {.all = {{AdviceKind::devices, "16 devices in place of 8", 16, kBest}}}),
            R"(no plan for three on eight (8 x x): stage 0 needs 96 GiB, a device has 74.5 GiB

Each of these changes would make a plan possible:
- 16 devices in place of 8
  pipeline 1, data 8, ZeRO 0, 1 micro-batch of 1, recomputation none
)");
  EXPECT_THAT(unfit_text(none, test::eight_devices(), {.all = {{}}, .stopped = true}),
              HasSubstr("There may be others: not all searches were finished within the time limit.\n"));
  EXPECT_THAT(unfit_text(none, test::eight_devices(), {.stopped = true}),
              HasSubstr("No change that would make a plan possible was found before a limit"));
}

TEST(AnswerText, WhatTheSearchDid) {
  SearchStats stats;
  stats.configurations = 12345;
  stats.pruned = {{"memory", 7}};
  stats.times = {{"bounds", Seconds{0.25}}};
  const std::string text = stats_text(stats);
  EXPECT_THAT(text, HasSubstr("configurations                    12,345\n"));
  EXPECT_THAT(text, HasSubstr("pruned by memory                       7\n"));
  EXPECT_THAT(text, HasSubstr("time: bounds                      250 ms\n"));
}

}  // namespace
}  // namespace nest::report
