#include "nest/solve/tree/least_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/solve/tree/test_problem.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

// What the fullest device of the plan that needs least holds; the most where there is none.
Bytes least_of_all(const test::Instance& instance) {
  Bytes least = Bytes::most();
  Pricer pricer(instance.inputs);
  PricedPlan priced;
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    pricer.price(plan, priced);
    Bytes fullest;
    for (const StageCost& stage : priced.stages) fullest = std::max(fullest, stage.memory.total());
    if (priced.status != PriceStatus::invalid) least = std::min(least, fullest);
    return true;
  });
  return least;
}

TEST(LeastMemory, NoPlanNeedsLess) {
  constexpr unsigned kFirst = 61'000;
  int exact = 0;
  int compared = 0;
  for (unsigned seed = kFirst; seed < kFirst + 200; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 300);
    if (instance.space.mixed) continue;
    const Bytes all = least_of_all(instance);
    if (all == Bytes::most()) continue;
    test::TestProblem problem(instance);
    problem.add_degrees(instance);
    const Bytes least = least_memory(problem.problem);
    EXPECT_LE(least, all) << instance.text;
    ++compared;
    exact += least == all ? 1 : 0;
  }
  EXPECT_GT(test::often(compared), 100);
  EXPECT_GT(exact, compared / 3);
}

// Nodes of three devices have room for one cell of two each, and so twelve devices for four cells, not six: five stages
// would need less memory and have no place.
TEST(LeastMemory, CellsWithoutAPlaceDoNotCount) {
  const auto least = [](std::int32_t node) {
    test::Instance instance = test::random_instance(61'000, 300);
    LayerProfile profile;
    profile.name = "five";
    profile.micro_batch = 1;
    profile.sequence = 512;
    profile.parameter_dtype_bytes = 2;
    ProfileStrategy& s = profile.strategies.emplace_back();
    s.tensor = 2;
    for (std::int32_t i = 0; i < 5; ++i) {
      s.layers.push_back(
          {.forward = Seconds{1e-3}, .backward = Seconds{2e-3}, .parameters = Bytes{1'000'000}});
      if (i > 0) s.edges.push_back({LayerId{i - 1}, LayerId{i}, "", Bytes{1000}});
    }
    ClusterParts parts{.name = "nodes", .accelerator = find_accelerator("h100-sxm")};
    for (const std::int32_t size : {node, 12 / node}) {
      parts.levels.push_back({.name = "l" + std::to_string(size), .bandwidth = BytesPerSecond{1e10}});
      parts.levels.back().fan_out.size = size;
    }
    instance.inputs.source = profile;
    instance.inputs.cluster = Cluster(std::move(parts));
    instance.inputs.recipe = named_recipe("plain");
    instance.training = {.global_batch = 4, .sequence = 512};
    instance.space = {};
    instance.space.tensor = Choice(2);
    instance.space.zero = Choice(0);
    test::TestProblem problem(instance);
    for (std::int64_t p = 1; p <= 5; ++p) {
      Plan plan;
      plan.training = instance.training;
      plan.training.micro_batch = 1;
      plan.training.micro_batches = 4;
      plan.parallelism.strategy = problem.problem.strategies.front();
      plan.parallelism.pipeline = p;
      static_cast<void>(problem.configuration(plan));
    }
    return least_memory(problem.problem);
  };
  EXPECT_GT(least(3), least(4));
}

TEST(LeastMemory, NothingWithoutGroups) {
  const test::Instance instance = test::random_instance(61'000, 300);
  const test::TestProblem problem(instance);
  EXPECT_EQ(least_memory(problem.problem), Bytes{0});
}

TEST(LeastMemory, StopsAtTheDeadline) {
  const Deadline deadline;
  deadline.cancel();
  const test::Instance instance = test::random_instance(61'000, 300);
  test::TestProblem problem(instance);
  problem.add_degrees(instance);
  ASSERT_FALSE(problem.problem.degrees.empty());
  EXPECT_THROW((void)least_memory(problem.problem, deadline), Stopped);
}

}  // namespace
}  // namespace nest::solve
