#include "nest/report/answer/plan_screen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "nest/base/drawing/table.hpp"
#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;
using testing::HasSubstr;
using testing::Not;

TEST(PlanScreen, SaysAllOfASmallPlan) {
  const SearchResult found = answer(
      {answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0.1}), answer_plan({3}, 8, Seconds{1.05}, Seconds{0})});
  EXPECT_EQ(plan_screen(found, test::eight_devices(), {}),
            R"(three on eight: 8 x x; global batch 8 of 512 tokens; bf16, adam

Plan     pipeline 2 (1f1b), data 4, ZeRO 0
         2 micro-batches of 1; recomputation none; 4 of 4 copies side by side; 8 of 8 devices
Step     1 s; 4,096 tokens/s; 0 FLOP/s per device; MFU 40.0 %
         ##################################################################################.........
         # compute 900 ms (90.0 %); . bubble 100 ms (10.0 %)
Memory   4.66 GiB of 74.5 GiB (6.2 %) in stage 1, the fullest: weights 954 MiB, gradients 0 GiB,
         optimizer 0 GiB, activations 3.73 GiB, workspace 0 GiB
Proof    optimal: no plan of the space takes less than 1 s a step

stages  layers  recompute  per micro-batch    memory  of a device
0       0       none                 10 ms  3.73 GiB  #................... 5 %
1       1-2     none                 10 ms  4.66 GiB  #................... 6 %

      pipeline  data  b  recompute    step          loses most by
best         2     4  1  none          1 s
2            1     8  1  none       1.05 s  +5.0 %  compute +150 ms
)");
}

TEST(PlanScreen, SixtyFourStagesAndAllWarningsFitAScreen) {
  std::vector<int> layers(64);
  for (int i = 0; i < 64; ++i) layers[static_cast<std::size_t>(i)] = 1 + i % 3;
  Plan plan = answer_plan(layers, 1, Seconds{1}, Seconds{0.5});
  plan.stages[0].memory->activations = Bytes{79'000'000'000};
  plan.predicted->breakdown.tensor = Seconds{1};
  plan.predicted->step = Seconds{2.5};
  const SearchResult found = answer(std::vector<Plan>(8, plan), PlanStatus::feasible);
  const std::string text = plan_screen(found, test::eight_devices(), {}, {.warnings = {"one more"}});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 44);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(text_width(line), kTextWidth) << line;
  EXPECT_THAT(text, HasSubstr("- one more\n"));
  EXPECT_THAT(text, HasSubstr("nothing: a tie"));
}

// What is reserved is no use of the plan's, and how far memory may be off stands beside it.
TEST(PlanScreen, TheMemoryOfTheFullestStage) {
  Plan plan = answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0.1});
  for (Stage& stage : plan.stages) stage.memory->reserve = Bytes{std::int64_t{2} << 30};
  EXPECT_EQ(spell_memory_use(plan), "4.66 GiB used and 2 GiB reserved of 74.5 GiB (8.9 %)");
  plan.predicted->interval.coverage = 0.8;
  plan.predicted->memory = MemoryInterval{Bytes{std::int64_t{6} << 30}, Bytes{std::int64_t{7} << 30}};
  plan.predicted->fits_probability = 0.9655;
  plan.predicted->fits_at_least = true;
  EXPECT_EQ(
      spell_memory_use(plan),
      "4.66 GiB used and 2 GiB reserved of 74.5 GiB (8.9 %; fits with 97 % or more; 80 %: 6 GiB to 7 GiB)");
}

// The plan that is taken is one of the ranking: it has one row.
TEST(PlanScreen, NoPlanStandsTwice) {
  const Plan taken = answer_plan({3}, 8, Seconds{1.004}, Seconds{0});
  SearchResult found = answer({answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0.1}), taken,
                               answer_plan({1, 1, 1}, 2, Seconds{1.01}, Seconds{0})});
  found.simpler = taken;
  found.avoids = {"pipeline parallelism"};
  EXPECT_THAT(plan_screen(found, test::eight_devices(), {}),
              HasSubstr("taken        8         1     8  1  none          1 s  +0.4 %  compute +104 ms\n"
                        "best         8         2     4  1  none          1 s\n"
                        "2            6         3     2  1  none       1.01 s  +1.0 %  compute +110 ms\n"
                        "2 is a near tie"));
}

TEST(PlanScreen, ShowsSeveralPlansInFull) {
  const SearchResult found = answer(
      {answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0.1}), answer_plan({3}, 8, Seconds{1.05}, Seconds{0})});
  const std::string text = plan_screen(found, test::eight_devices(), {}, {.complete = 2});
  EXPECT_THAT(text, HasSubstr("\nNumber 2\nPlan     pipeline 1, data 8, ZeRO 0\n"));
  EXPECT_THAT(plan_screen(found, test::eight_devices(), {}, {.brief = true}), Not(HasSubstr("Memory")));
}

TEST(PlanScreen, OffersHeadingsToTheTerminal) {
  const SearchResult found = answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})});
  ScreenOptions options;
  options.heading = [](std::string_view text) { return "<" + std::string(text) + ">"; };
  const std::string text = plan_screen(found, test::eight_devices(), {}, options);
  EXPECT_THAT(text, HasSubstr("<Plan>     pipeline 1"));
  EXPECT_THAT(text, HasSubstr("in every device: weights"));
  EXPECT_THAT(text, Not(HasSubstr("loses most by")));
  EXPECT_THAT(text, Not(HasSubstr("Warnings")));
}

TEST(PlanScreen, MixedStrategiesHaveAColumn) {
  Plan plan = answer_plan({1, 2}, 1, Seconds{1}, Seconds{0});
  plan.parallelism.strategy = plan.stages[0].strategy = {.tensor = 2};
  plan.stages[1].strategy = {.context = 2};
  EXPECT_THAT(plan_screen(answer({plan}), test::eight_devices(), {}),
              HasSubstr("stages  layers  strategy   recompute  per micro-batch    memory  of a device\n"
                        "0       0       tensor 2   none"));
}

TEST(PlanScreen, TheBarHasALetterForEachPart) {
  Prediction p;
  p.step = Seconds{1};
  p.breakdown.compute = Seconds{0.5};
  p.breakdown.tensor = Seconds{0.2};
  p.breakdown.bubble = Seconds{0.297};
  p.breakdown.optimizer = Seconds{0.003};
  EXPECT_EQ(breakdown_bar(p, 10), "#####tt...");
  EXPECT_EQ(breakdown_legend(p, 0),
            "# compute 500 ms (50.0 %); t tensor 200 ms (20.0 %); . bubble 297 ms (29.7 %); rest 3 ms");
  EXPECT_EQ(breakdown_legend(p, 60), "# compute 500 ms (50.0 %);\n" + std::string(60, ' ') +
                                         "t tensor 200 ms (20.0 %);\n" + std::string(60, ' ') +
                                         ". bubble 297 ms (29.7 %); rest 3 ms");
}

}  // namespace
}  // namespace nest::report
