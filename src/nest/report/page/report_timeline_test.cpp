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
