#include <gtest/gtest.h>

#include "nest/solve/tree/search_tree.hpp"
#include "nest/solve/tree/test_problem.hpp"

namespace nest::solve {
namespace {

TEST(SearchReport, CountsWhatTheTreeDid) {
  const test::Instance instance = test::random_instance(71'000, 1000);
  test::TestProblem problem(instance);
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    static_cast<void>(problem.configuration(plan));
    return true;
  });
  Workers workers(1);
  BestPlans best(instance.options.objective, 1, Seconds::most());
  SearchTree tree(problem.problem, instance.options, best, workers);
  SearchStats before;
  tree.count(before);
  EXPECT_EQ(before.configurations, 0);
  EXPECT_EQ(before.work, 0);
  tree.run();
  SearchStats after;
  tree.count(after);
  EXPECT_GT(after.work, 0);
  EXPECT_TRUE(best.best() == nullptr || after.fills > 0) << "a plan comes from a table";
  for (const auto& [name, count] : after.pruned) EXPECT_GT(count, 0) << name;
}

}  // namespace
}  // namespace nest::solve
