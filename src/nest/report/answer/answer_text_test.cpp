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
