#include "nest/price/run/goodput.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nest::price {
namespace {

Failures failures(double between, double checkpoint, double restart) {
  return {Seconds{between}, Seconds{checkpoint}, Seconds{restart}};
}

// Daly's higher order estimate, for C < 2 M.
double daly(double m, double c) {
  return std::sqrt(2 * c * m) * (1 + std::sqrt(c / (2 * m)) / 3 + c / (2 * m) / 9) - c;
}

TEST(Goodput, NoFailures) {
  EXPECT_EQ(best_goodput({}), 1);
  EXPECT_EQ(best_interval({}), Seconds::most());
  // Checkpoints every 900 s that take 100 s leave 90 %.
  EXPECT_DOUBLE_EQ(goodput({.checkpoint = Seconds{100}}, Seconds{900}), 0.9);
}

TEST(Goodput, ByHand) {
  // M = 1000, t = 100, C = 10, R = 50: exp(-0.05) * 0.1 / (exp(0.11) - 1)
  EXPECT_NEAR(goodput(failures(1000, 10, 50), Seconds{100}), 0.951229 * 0.1 / 0.116278, 1e-5);
}

TEST(Goodput, YoungAndDalyAreNear) {
  for (const double c : {0.01, 1.0, 10.0, 100.0}) {
    const double m = 10'000;
    const double exact = best_interval(failures(m, c, 0)).value;
    EXPECT_NEAR(exact, daly(m, c), 1e-3 * exact) << c;
    EXPECT_NEAR(exact + c, std::sqrt(2 * c * m), 0.06 * exact)
        << c;  // Young leaves the rest of the series out
  }
}

TEST(Goodput, NoOtherIntervalIsBetter) {
  for (const double c : {1e-6, 1.0, 300.0, 5000.0, 1e5}) {
    const Failures f = failures(7200, c, 600);
    const Seconds best = best_interval(f);
    EXPECT_GT(best.value, 0);
    for (const double times : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
      EXPECT_LE(goodput(f, best * times), best_goodput(f)) << c << " " << times;
  }
}

TEST(Goodput, Limits) {
  // Free checkpoints: only restarts cost.
  EXPECT_DOUBLE_EQ(best_goodput(failures(1000, 0, 100)), std::exp(-0.1));
  // Failures so often that nothing is ever done.
  EXPECT_LT(best_goodput(failures(1, 1000, 0)), 1e-300);
  EXPECT_GE(best_goodput(failures(1, 1e9, 1e9)), 0);
}

// Llama 3's report: 419 failures in 54 days of 16,384 devices, that is 50,700 hours of one device between two,
// and more than 90 % of the time spent training.
TEST(Goodput, Llama3) {
  const double between = 54 * 86'400.0 / 419;
  EXPECT_NEAR(between * 16'384 / 3600, 50'700, 100);
  EXPECT_GT(best_goodput(failures(between, 5, 600)), 0.9);
}

}  // namespace
}  // namespace nest::price
