#include "nest/report/page/report_others.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::report {
namespace {

Value others(const std::string& text) {
  return other_plans(parse_json("plan.json", text));
}

TEST(ReportOthers, ReadsRunnersUp) {
  const Value list = others(R"({"runners_up": [{"step_s": 8.7, "micro_batch": 2,
    "parallelism": {"tensor": 8, "pipeline": 4, "data": 32, "zero": 1, "recompute": "full", "new_key": 5},
    "loses_most_by": {"name": "tensor", "change_s": 0.4}}]})");
  ASSERT_EQ(list.as_array()->size(), 1U);
  EXPECT_EQ(
      to_json_line(list),
      R"([{"step_s": 8.7, "micro_batch": 2, "devices": 1024, "parallelism": {"tensor": 8, "context": 1, "expert": 1, )"
      R"("expert_tensor": 1, "pipeline": 4, "interleave": 1, "data": 32, "data_inner": 1, "zero": 1, )"
      R"("recompute": "full"}, "loses_most_by": {"name": "tensor", "change_s": 0.4}}])");
}

TEST(ReportOthers, ReadsWholePlansWhereThereAreNoRunnersUp) {
  const Value list = others(R"({"alternatives": [{"predicted": {"step_s": 3}, "training": {"micro_batch": 4},
    "parallelism": {"data": 2}}]})");
  ASSERT_EQ(list.as_array()->size(), 1U);
  EXPECT_EQ(*(*list.as_array())[0].find("micro_batch")->as_int(), 4);
}

// 2 % are the noise of prediction.
TEST(ReportOthers, MarksTheStrictOptimumAndNearTies) {
  const Value list = others(R"({"predicted": {"step_s": 10.04},
    "strict": {"step_s": 10, "parallelism": {"pipeline": 8}, "taken_loses_most_by": {"name": "bubble", "change_s": 0.1}},
    "runners_up": [{"step_s": 10.2, "parallelism": {}}, {"step_s": 10.21, "parallelism": {}}, {"step_s": 9, "parallelism": {}}]})");
  const Value::Array& rows = *list.as_array();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(*rows[0].find("strict")->as_bool());
  EXPECT_EQ(to_json_line(*rows[0].find("taken_loses_most_by")), R"({"name": "bubble", "change_s": 0.1})");
  EXPECT_NE(rows[0].find("near_tie"), nullptr);
  EXPECT_NE(rows[1].find("near_tie"), nullptr);
  EXPECT_EQ(rows[1].find("strict"), nullptr);
  EXPECT_EQ(rows[2].find("near_tie"), nullptr);
  EXPECT_EQ(rows[3].find("near_tie"), nullptr);  // of another objective: steps are not what it is about
}

TEST(ReportOthers, MostFilesTellOfNone) {
  EXPECT_TRUE(others("{}").as_array()->empty());
}

TEST(ReportOthers, BrokenEntriesAreRefused) {
  EXPECT_EQ(message_of([] { static_cast<void>(others(R"({"runners_up": [{"step_s": "fast"}]})")); }),
            "plan.json: line 1, runners_up[0].step_s: a number is expected, not 'fast'");
}

}  // namespace
}  // namespace nest::report
