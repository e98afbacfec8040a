#include "nest/report/page/report_timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "nest/plan/test_example.hpp"
#include "nest/simulate/simulate.hpp"

namespace nest::report {
namespace {

using testing::ElementsAre;

void fill(Timeline& timeline) {
  Pricer pricer(test::example_inputs());
  const Plan plan = pricer.place(test::example_plan({{0, 1}, {2}}, 2, 2));
  const PricedPlan priced = pricer.price(plan);
  std::vector<Listener*> listeners{&timeline};
  static_cast<void>(run_simulation(plan, priced, pricer.inputs(), {}, listeners));
}

std::vector<std::int64_t> row(const Value& timeline, std::size_t i) {
  std::vector<std::int64_t> out;
  for (const Value& v : *(*timeline.find("rows")->as_array())[i].as_array()) out.push_back(*v.as_int());
  return out;
}

TEST(ReportTimeline, HasARowOfWholeNumbersForEachStage) {
  Timeline timeline;
  fill(timeline);
  const Value v = timeline_value(timeline, 1000);
  const double tick = *v.find("tick_s")->as_real();
  EXPECT_NEAR(tick * 4e6, timeline.step().value, 1e-12);
  EXPECT_EQ(*v.find("copy")->as_int(), 0);
  EXPECT_EQ(*v.find("stands_for")->as_int(), 2);
  ASSERT_EQ(v.find("rows")->as_array()->size(), 2U);
  EXPECT_EQ(v.find("left_out"), nullptr);
  // The first stage's first pass: forward of micro-batch 0, layers of 1 and 2 ms, from the start.
  std::vector<std::int64_t> first = row(v, 0);
  ASSERT_EQ(first.size() % kTimelineFields, 0U);
  first.resize(kTimelineFields);
  EXPECT_THAT(first, ElementsAre(0, 0, 0, 0, std::llround(3e-3 / tick)));
  // The last stage first waits for its input.
  EXPECT_EQ(row(v, 1).front(), 3);
}

// Passes beside each other have kinds of their own, the forward pass comes first, and their times are equal.
TEST(ReportTimeline, TellsPassesBesideEachOther) {
  Warnings warnings;
  Pricer pricer(load_inputs("llama3.2-1b", "h100-spine-leaf", "plain", warnings));
  Plan plan;
  plan.training = {.global_batch = 4, .sequence = 512, .micro_batch = 1, .micro_batches = 4};
  plan.parallelism.pipeline = 2;
  plan.parallelism.schedule = Schedule::dualpipe_v;
  plan.parallelism.interleave = 2;
  plan = pricer.place(pricer.complete(plan));
  const PricedPlan priced = pricer.price(plan);
  Timeline timeline;
  std::vector<Listener*> listeners{&timeline};
  static_cast<void>(run_simulation(plan, priced, pricer.inputs(), {}, listeners));
  const Value v = timeline_value(timeline, 1000);
  EXPECT_EQ(*(*v.find("kinds")->as_array())[9].as_string(), "forward beside");
  EXPECT_EQ(*(*v.find("kinds")->as_array())[10].as_string(), "backward beside");
  for (const std::size_t stage : {0U, 1U}) {
    const std::vector<std::int64_t> all = row(v, stage);
    int pairs = 0;
    for (std::size_t i = 0; i + kTimelineFields < all.size(); i += kTimelineFields) {
      if (all[i] != 9) continue;
      ++pairs;
      const std::size_t other = i + kTimelineFields;
      EXPECT_EQ(all[other], 10);
      EXPECT_NE(all[other + 2], all[i + 2]);  // of another chunk
      EXPECT_EQ(all[other + 3], all[i + 3]);
      EXPECT_EQ(all[other + 4], all[i + 4]);
    }
    EXPECT_EQ(pairs, 3);
  }
}

TEST(ReportTimeline, LeavesOutTheMiddleOfLongSteps) {
  Timeline timeline;
  fill(timeline);
  const Value whole = timeline_value(timeline, 1000);
  const Value cut = timeline_value(timeline, 6);
  const Value* gap = cut.find("left_out");
  ASSERT_NE(gap, nullptr);
  const auto segments = [](const Value& v) {
    return (row(v, 0).size() + row(v, 1).size()) / kTimelineFields;
  };
  EXPECT_EQ(segments(cut), 6U);
  EXPECT_EQ(*gap->find("segments")->as_int(), static_cast<std::int64_t>(segments(whole)) - 6);
  EXPECT_LT(*gap->find("from_s")->as_real(), *gap->find("to_s")->as_real());
  EXPECT_EQ(row(cut, 0).front(), row(whole, 0).front());
  EXPECT_EQ(row(cut, 0).back(), row(whole, 0).back());
}

}  // namespace
}  // namespace nest::report
