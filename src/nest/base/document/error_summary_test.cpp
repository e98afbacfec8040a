#include "nest/base/document/error_summary.hpp"

#include <gtest/gtest.h>

namespace nest::base {
namespace {

TEST(ErrorSummary, MediansAndTheNinetiethPercentile) {
  const ErrorSummary s = summarize_errors("x", {0.02, -0.10, 0.04});
  EXPECT_EQ(s.rows, 3);
  EXPECT_DOUBLE_EQ(s.median, 0.04);
  EXPECT_DOUBLE_EQ(s.p90, 0.10);
  EXPECT_DOUBLE_EQ(s.signed_median, 0.02);
  EXPECT_DOUBLE_EQ(median_of({1, 2, 3, 10}), 2.5);
  // Of ten rows the ninth counts, not the worst.
  EXPECT_DOUBLE_EQ(summarize_errors("", {1, 2, 3, 4, 5, 6, 7, 8, 9, 100}).p90, 9);
}

TEST(ErrorSummary, NothingHasNoFigures) {
  const Value v = to_value(summarize_errors("none", {}));
  EXPECT_EQ(*v.find("rows")->as_int(), 0);
  EXPECT_TRUE(v.find("median_abs_error")->is_null());
}

}  // namespace
}  // namespace nest::base
