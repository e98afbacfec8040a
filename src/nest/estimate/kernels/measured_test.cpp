#include "nest/estimate/kernels/measured.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::estimate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* const kSmall = R"({"format": "nest-accelerator-profile", "version": 1, "accelerator": "x",
 "device_name": "X", "date": "2026-11-15T00:00:00Z", "clocks": {"a": null},
 "points": {
  "matmul": {"columns": ["layout", "m", "n", "k", "dtype", "time_s", "samples", "graph", "split"], "rows": [
   ["forward", 256, 768, 512, "bf16", 6.3e-06, 3, 1, "fit"],
   ["weight", 256, 768, 512, "bf16", 7.3e-06, 3, 1, "test"]]},
  "optimizer": {"columns": ["variant", "dtype", "parameters", "tensors", "time_s", "split"], "rows": [
   ["fused", "fp32", 1000, 1, 7.6e-05, "fit"],
   ["fused", "bf16", 1000, 1, 4.4e-05, "fit"]]},
  "grouped_matmul": {"columns": ["layout", "experts", "load", "method", "time_s", "split"], "rows": [
   ["forward", 8, "uneven", "grouped", 1e-3, "fit"]]}},
 "layers": [{"model": "m"}], "failed": []}
)";

TEST(MeasuredProfile, RowsGoToSeriesByTheirWords) {
  const MeasuredProfile p = read_profile("x.json", kSmall);
  EXPECT_EQ(p.accelerator, "x");
  EXPECT_EQ(p.rows(), 5U);
  const MeasuredSeries* forward = p.series("matmul/forward");
  ASSERT_NE(forward, nullptr);
  EXPECT_THAT(forward->columns, ElementsAre("m", "n", "k"));
  ASSERT_EQ(forward->points.size(), 1U);
  EXPECT_THAT(forward->points[0].sizes, ElementsAre(256, 768, 512, 0, 0, 0, 0, 0));
  EXPECT_DOUBLE_EQ(forward->points[0].seconds, 6.3e-6);
  EXPECT_FALSE(forward->points[0].held_out);
  EXPECT_TRUE(p.series("matmul/weight")->points[0].held_out);
  EXPECT_NE(p.series("optimizer/fused"), nullptr);
  EXPECT_NE(p.series("optimizer/fused/fp32"), nullptr);
  EXPECT_EQ(p.series("grouped_matmul/forward")->points[0].sizes[1], 1);
  EXPECT_EQ(p.series("matmul/sideways"), nullptr);
}

void expect_refused(std::string text, const std::string& part, const std::string& by, const char* message) {
  text.replace(text.find(part), part.size(), by);
  try {
    static_cast<void>(read_profile("x.json", text));
    FAIL() << message;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(MeasuredProfile, BadFilesAreRefusedWithTheirLine) {
  expect_refused(kSmall, "nest-accelerator-profile", "something", "this is not an accelerator profile");
  expect_refused(kSmall, "7.3e-06", "-1", "x.json: line 6: a time above 0 is expected");
  expect_refused(kSmall, "256, 768, 512, \"bf16\", 6.3e-06", "256, 768, \"bf16\"",
                 "a number is expected here");
  expect_refused(kSmall, ", 3, 1, \"fit\"", "", "a row is shorter than its table has columns");
  expect_refused(kSmall, "3, 1, \"fit\"", "3, 1, \"fit\", 9", "a row is longer than its table has columns");
}

TEST(ShippedProfile, ThatOfTheH200IsThere) {
  const MeasuredProfile* p = shipped_profile("h200");
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->device_name, "NVIDIA H200");
  EXPECT_GT(p->rows(), 5000U);
  EXPECT_GT(p->series("matmul/forward")->points.size(), 1000U);
  EXPECT_EQ(shipped_profile("h200"), p);
  EXPECT_EQ(shipped_profile("abacus"), nullptr);
}

}  // namespace
}  // namespace nest::estimate
