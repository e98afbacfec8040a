// For tests of bounds: the fastest plans of random instances, each with the problem that it belongs to.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/tree/evaluator.hpp"
#include "nest/solve/tree/test_problem.hpp"
#include "support/stride.hpp"

namespace nest::test {

// Calls `look` with a problem, its evaluator and the fastest plan of each kind that it has.
template <class KeyOf, class Look>
void for_fastest(unsigned first, std::int64_t most_plans, KeyOf key, Look look) {
  for (unsigned seed = first; seed < first + 300; seed += stride()) {
    const Instance instance = random_instance(seed, most_plans);
    TestProblem problem(instance);
    Evaluator evaluator(problem.problem);
    for (const auto& [kind, fastest] : fastest_by(instance, key)) {
      const Configuration c = problem.configuration(fastest.plan);
      look(problem, evaluator, c, fastest);
      ASSERT_FALSE(testing::Test::HasFailure()) << instance.text << in_words(fastest.plan);
    }
  }
}

}  // namespace nest::test
