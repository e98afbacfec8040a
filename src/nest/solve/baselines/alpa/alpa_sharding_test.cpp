#include "nest/solve/baselines/alpa/alpa_sharding.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_plans.hpp"
#include "support/stride.hpp"

namespace nest::solve::alpa {
namespace {

using test::Dice;

const MeshAxis kAxis{4, {BytesPerSecond{1e9}, Seconds{1e-6}}};

Way random_way(Dice& dice, std::size_t inputs) {
  const std::vector<Layout> stored{Layout::whole, Layout::rows, Layout::features};
  Way way;
  way.output = {static_cast<Layout>(dice.pick(0, 3)), dice.one_of(stored)};
  for (std::size_t k = 0; k < inputs; ++k)
    way.inputs.push_back({dice.one_of(stored), static_cast<Layout>(dice.pick(0, 3))});
  way.time = Seconds{1e-4 * static_cast<double>(dice.pick(1, 100))};
  return way;
}

// A chain, with one or two tensors that skip operators.
ShardProblem random_problem(Dice& dice, std::size_t operators) {
  ShardProblem problem{kAxis, dice.once_in(2) ? 2.0 : 1.0, {}};
  problem.operators.resize(operators);
  const auto bytes = [&] { return 1e5 * static_cast<double>(dice.pick(1, 100)); };
  for (std::size_t i = 1; i < operators; ++i) problem.operators[i].inputs.push_back({i - 1, bytes()});
  for (std::int64_t skip = dice.pick(1, 2); skip > 0 && operators > 2; --skip) {
    const std::int64_t to = dice.pick(2, static_cast<std::int64_t>(operators) - 1);
    const auto from = static_cast<std::size_t>(dice.pick(0, to - 2));
    problem.operators[static_cast<std::size_t>(to)].inputs.push_back({from, bytes()});
  }
  for (ShardOperator& op : problem.operators) {
    for (std::int64_t w = dice.pick(1, 4); w > 0; --w) op.ways.push_back(random_way(dice, op.inputs.size()));
  }
  return problem;
}

Seconds least_of_all(const ShardProblem& problem, std::vector<std::size_t>& ways) {
  if (ways.size() == problem.operators.size()) return time_of(problem, ways);
  Seconds least{1e9};
  const std::size_t count = problem.operators[ways.size()].ways.size();
  for (std::size_t w = 0; w < count; ++w) {
    ways.push_back(w);
    least = std::min(least, least_of_all(problem, ways));
    ways.pop_back();
  }
  return least;
}

TEST(AlpaSharding, AgreesWithEnumerationOnUpToSixOperators) {
  for (unsigned seed = 1; seed <= 600; seed += test::stride()) {
    Dice dice(seed);
    const ShardProblem problem = random_problem(dice, static_cast<std::size_t>(dice.pick(1, 6)));
    const ShardChoice choice = solve_sharding(problem);
    std::vector<std::size_t> ways;
    const Seconds least = least_of_all(problem, ways);
    ASSERT_NEAR(choice.time.value, least.value, 1e-12) << "seed " << seed;
    ASSERT_NEAR(time_of(problem, choice.ways).value, choice.time.value, 1e-12) << "seed " << seed;
    ASSERT_GT(choice.transitions, 0);
  }
}

TEST(AlpaSharding, MovesTensorsBetweenLayouts) {
  const double bytes = 4e6;
  const auto from_to = [&](Layout from, Layout to) { return reshard(kAxis, from, to, bytes).value; };
  EXPECT_EQ(from_to(Layout::rows, Layout::rows), 0);
  EXPECT_EQ(from_to(Layout::whole, Layout::features), 0);  // a slice
  EXPECT_DOUBLE_EQ(from_to(Layout::rows, Layout::whole), 3e-6 + 3e-3);
  EXPECT_DOUBLE_EQ(from_to(Layout::partial, Layout::rows), 3e-6 + 3e-3);
  EXPECT_DOUBLE_EQ(from_to(Layout::partial, Layout::whole), 2 * (3e-6 + 3e-3));
  EXPECT_DOUBLE_EQ(from_to(Layout::rows, Layout::features), 3e-6 + 0.75e-3);
}

// Two large products after each other: the column of the first feeds the second's contraction, and only the
// result has to be summed.
TEST(AlpaSharding, PairsColumnsWithContractions) {
  using enum Layout;
  const Seconds whole_time{4e-2};
  const Seconds share{1e-2};
  const std::vector<Way> product{{Spec::replicated, {{whole, whole}}, {whole, whole}, whole_time},
                                 {Spec::column, {{whole, partial}}, {features, features}, share},
                                 {Spec::contract, {{features, features}}, {partial, whole}, share}};
  ShardProblem problem{kAxis, 1, {}};
  problem.operators.push_back({{}, {{Spec::replicated, {}, {whole, whole}, Seconds{0}}}});
  problem.operators.push_back({{{0, 4e6}}, product});
  problem.operators.push_back({{{1, 4e6}}, product});
  problem.operators.push_back({{{2, 4e6}}, {{Spec::replicated, {{whole, whole}}, {}, Seconds{0}}}});
  const ShardChoice choice = solve_sharding(problem);
  EXPECT_EQ(choice.ways, (std::vector<std::size_t>{0, 1, 2, 0}));
  // Forward and backward one all-reduce each.
  EXPECT_NEAR(choice.time.value, 2e-2 + 4 * (3e-6 + 3e-3), 1e-12);
}

}  // namespace
}  // namespace nest::solve::alpa
