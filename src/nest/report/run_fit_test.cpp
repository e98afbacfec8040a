#include "nest/report/run_fit.hpp"

#include <gtest/gtest.h>

namespace nest {
namespace {

FitRow row(const std::string& source, double measured, double compute = 1, double other = 0) {
  return {source, {"x 16bit f", "x 16bit"}, Seconds{measured}, Seconds{compute}, Seconds{other}};
}

TEST(RunFit, FindsTheMultiplierOfCompute) {
  const std::vector<FitRow> rows{row("a", 1.3 * 2 + 1, 2, 1), row("a", 1.3 * 4, 4), row("a", 9, 1)};
  const FittedConstants fit = fit_constants(rows);
  EXPECT_NEAR(fit.of(rows[0]), 1.3, 1e-12);  // the third row is an outlier, which the median ignores
  EXPECT_NEAR(fit.error(rows[1]), 0, 1e-12);
}

TEST(RunFit, KeysFromSpecialToGeneral) {
  FittedConstants fit;
  fit.multipliers["x 16bit"] = 2;
  EXPECT_EQ(fit.of(row("a", 1)), 2);
  fit.multipliers["x 16bit f"] = 3;
  EXPECT_EQ(fit.of(row("a", 1)), 3);
  FitRow other = row("a", 1);
  other.keys = {"y"};
  EXPECT_EQ(fit.of(other), 1);
}

// Source a would be fitted by 1, b by 2: left out, each gets the other's.
TEST(RunFit, LeavesEachSourceOut) {
  const std::vector<FitRow> rows{row("a", 1), row("a", 1), row("b", 2), row("b", 2)};
  const ErrorSummary s = leave_one_out(rows);
  EXPECT_EQ(s.rows, 4);
  EXPECT_NEAR(s.p90, 1, 1e-12);
  EXPECT_NEAR(s.median, 0.75, 1e-12);  // 2/1 - 1 and 1/2 - 1
}

}  // namespace
}  // namespace nest
