#include "nest/plan/schedules/schedules.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {
namespace {

// What every row of the table must have.
TEST(Schedules, EveryRowIsWhole) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kSchedules.size(); ++i) {
    const PipelineSchedule& s = *kSchedules[i];
    SCOPED_TRACE(s.name);
    EXPECT_EQ(static_cast<std::size_t>(s.id), i);
    EXPECT_TRUE(names.insert(s.name).second);
    EXPECT_EQ(find_schedule(s.name), s.id);
    EXPECT_EQ(name_of(s.id), s.name);
    EXPECT_NE(s.order, nullptr);
    EXPECT_NE(s.in_flight, nullptr);
    // Labels that grow stage by stage, or splits that are tried one by one.
    EXPECT_NE(s.form != nullptr, s.chunked());
    EXPECT_EQ(s.time != nullptr, s.chunked());
    EXPECT_EQ(s.bound != nullptr, s.chunked());
    EXPECT_EQ(s.peak_stash != nullptr, s.chunked());
    EXPECT_EQ(s.least_chunks > 1, s.chunked());
  }
  EXPECT_FALSE(find_schedule("gpip").has_value());
}

TEST(Schedules, ThoseOfTheDefaultComeFirst) {
  const std::vector<Schedule> usual = default_schedules();
  EXPECT_EQ(usual, (std::vector<Schedule>{Schedule::one_f_one_b, Schedule::interleaved}));
  const std::vector<Schedule> all = all_schedules();
  ASSERT_EQ(all.size(), kSchedules.size());
  EXPECT_TRUE(std::equal(usual.begin(), usual.end(), all.begin()));
}

TEST(Schedules, FrameworksKnowThemByTheirWords) {
  EXPECT_EQ(schedules_of("megatron"), (std::vector<Schedule>{Schedule::one_f_one_b, Schedule::interleaved}));
  EXPECT_EQ(schedules_of("deepspeed"), (std::vector<Schedule>{Schedule::one_f_one_b}));
  EXPECT_EQ(schedules_of("torchtitan").size(), kSchedules.size());
  EXPECT_EQ(word_of(Schedule::zb_v, "torchtitan"), "ZBVZeroBubble");
  EXPECT_EQ(word_of(Schedule::zb_h1, "torchtitan"), "");
}

}  // namespace
}  // namespace nest::plan
