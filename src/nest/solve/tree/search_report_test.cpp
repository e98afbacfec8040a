#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "nest/solve/tree/search_tree.hpp"
#include "nest/solve/tree/test_problem.hpp"

namespace nest::solve {
namespace {

TEST(SearchReport, CountsWhatTheTreeDid) {
  const test::Instance instance = test::random_instance(71'000, 1000);
  test::TestProblem problem(instance);
  problem.add_degrees(instance);
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

// What is told last is what the answer says: one bound, and with it one gap.
TEST(SearchReport, TellsTheBoundOfTheAnswer) {
  int told = 0;
  for (unsigned seed = 71'001; seed < 71'021; ++seed) {
    const test::Instance instance = test::random_instance(seed, 1000);
    test::TestProblem problem(instance);
    problem.add_degrees(instance);
    Workers workers(1);
    BestPlans best(instance.options.objective, 1, Seconds::most());
    SearchOptions options = instance.options;
    options.work_limit = 1;  // one round at most
    std::optional<Seconds> bound;
    options.progress = [&](const SearchProgress& progress) { bound = progress.bound; };
    SearchTree tree(problem.problem, options, best, workers);
    tree.run();
    tree.tell();
    if (!bound) continue;
    Seconds least = tree.left_out();
    if (best.best() != nullptr) least = std::min(least, best.best()->step);
    EXPECT_EQ(*bound, least) << seed;
    ++told;
  }
  EXPECT_GT(told, 10);
}

}  // namespace
}  // namespace nest::solve
