// Evaluator::quick_bound and what it is made of.
#include <gtest/gtest.h>

#include "nest/solve/tree/configuration.hpp"
#include "nest/solve/tree/test_fastest.hpp"

namespace nest::solve {
namespace {

using test::Fastest;
using test::for_fastest;
using test::TestProblem;

constexpr double kRounding = 1 + 1e-9;

TEST(QuickBounds, NoPlanBeatsTheQuickBound) {
  for_fastest(40'001, 300, degree_key,
              [](TestProblem& problem, Evaluator& evaluator, const Configuration& c, const Fastest& fastest) {
                const Seconds bound = evaluator.quick_bound(problem.degrees(c), c.schedule, c.interleave);
                EXPECT_GT(bound, Seconds{0});
                EXPECT_LE(bound, fastest.step * kRounding);
              });
}

}  // namespace
}  // namespace nest::solve
