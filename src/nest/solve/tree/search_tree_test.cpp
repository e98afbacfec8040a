#include "nest/solve/tree/search_tree.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "nest/solve/tree/test_problem.hpp"

namespace nest::solve {
namespace {

struct Ran {
  SearchStats stats;
  Seconds step;
  Seconds left_out;
  bool stopped = false;
};

// A tree over all degrees of an instance.
Ran run(const test::Instance& instance, const SearchOptions& options, std::size_t threads) {
  test::TestProblem problem(instance);
  problem.add_degrees(instance);
  Workers workers(threads);
  BestPlans best(options.objective, 1, Seconds::most());
  SearchTree tree(problem.problem, options, best, workers);
  tree.run();
  Ran ran;
  tree.count(ran.stats);
  ran.step = best.best() == nullptr ? Seconds{} : best.best()->step;
  ran.left_out = tree.left_out();
  ran.stopped = tree.stopped();
  return ran;
}

test::Instance feasible_instance() {
  for (unsigned seed = 71'000;; ++seed) {
    test::Instance instance = test::random_instance(seed, 1000);
    const bool plain = !instance.space.mixed && instance.options.objective == Objective::step_time;
    if (plain && brute_force(instance.inputs, instance.training, instance.space, instance.options, 1000).best)
      return instance;
  }
}

TEST(SearchTree, OpensTheSameNodesWithAnyNumberOfThreads) {
  const test::Instance instance = feasible_instance();
  const Ran one = run(instance, instance.options, 1);
  const Ran three = run(instance, instance.options, 3);
  EXPECT_EQ(one.step, three.step);
  EXPECT_EQ(one.stats.configurations, three.stats.configurations);
  EXPECT_EQ(one.stats.work, three.stats.work);
  EXPECT_EQ(one.stats.pruned, three.stats.pruned);
  EXPECT_FALSE(one.stopped);
  EXPECT_GE(one.left_out, one.step);
}

TEST(SearchTree, StopsAtTheLimitOfWorkWithABound) {
  const test::Instance instance = feasible_instance();
  const Ran whole = run(instance, instance.options, 1);
  SearchOptions options = instance.options;
  options.work_limit = 0;
  const Ran none = run(instance, options, 1);
  EXPECT_TRUE(none.stopped);
  EXPECT_EQ(none.step, Seconds{0});
  EXPECT_LE(none.left_out, whole.step);
}

// Nodes that a cancelled round did not open stay open: the bound is one.
TEST(SearchTree, StopsWhenCancelledWithABound) {
  const test::Instance instance = feasible_instance();
  const Ran whole = run(instance, instance.options, 1);
  SearchOptions options = instance.options;
  options.deadline = Deadline();
  options.deadline.cancel();
  const Ran none = run(instance, options, 2);
  EXPECT_TRUE(none.stopped);
  EXPECT_EQ(none.step, Seconds{0});
  EXPECT_EQ(none.stats.fills, 0);
  EXPECT_LE(none.left_out, whole.step);
}

// Cancelled from another thread at any moment.
TEST(SearchTree, ABoundWheneverItIsCancelled) {
  const test::Instance instance = feasible_instance();
  const Ran whole = run(instance, instance.options, 1);
  for (const int microseconds : {0, 50, 200, 1000}) {
    SearchOptions options = instance.options;
    options.deadline = Deadline();
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      options.deadline.cancel();
    });
    const Ran ran = run(instance, options, 2);
    other.join();
    if (ran.stopped) {
      EXPECT_LE(ran.left_out, whole.step);
    } else {
      EXPECT_EQ(ran.step, whole.step);
    }
  }
}

// Without memory for a node it stops after the first plans; the nodes that it leaves are its bound.
TEST(SearchTree, StopsWithoutMemory) {
  const test::Instance instance = feasible_instance();
  const Ran whole = run(instance, instance.options, 1);
  SearchOptions options = instance.options;
  options.memory_limit = Bytes{0};
  const Ran one = run(instance, options, 1);
  const Ran three = run(instance, options, 3);
  EXPECT_TRUE(one.stopped);
  EXPECT_LE(one.left_out, whole.step);
  EXPECT_EQ(one.step, three.step);
  EXPECT_EQ(one.left_out, three.left_out);
  EXPECT_EQ(one.stats.work, three.stats.work);
}

}  // namespace
}  // namespace nest::solve
