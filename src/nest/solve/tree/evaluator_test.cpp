#include "nest/solve/tree/evaluator.hpp"

#include <gtest/gtest.h>

#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/tree/configuration.hpp"
#include "nest/solve/tree/test_fastest.hpp"

namespace nest::solve {
namespace {

using test::Fastest;
using test::for_fastest;
using test::TestProblem;

constexpr Seconds kInfinite = Seconds::most();
constexpr double kRounding = 1 + 1e-9;

using Key = std::vector<std::int64_t>;

// Degrees, and ZeRO's kind of shards.
Key kind_of(const Plan& plan) {
  Key key = degree_key(plan);
  const Parallelism& p = plan.parallelism;
  const std::int64_t ranks = p.copies() * p.strategy.cell() / p.strategy.tensor;
  key.push_back(!p.zero.shards_anything() || p.zero_shards == ranks ? 0 : 1);
  return key;
}

// Everything but the stages.
Key place_of(const Plan& plan) {
  Key key = degree_key(plan);
  const Parallelism& p = plan.parallelism;
  key.insert(key.end(), {p.zero_shards, p.data_inner, p.block_devices, p.first_stage_first ? 1 : 0});
  return key;
}

// Without a limit, and with the plan's own step as one.
void expect_relaxed(Evaluator& evaluator, const Configuration& c, ShardKind kind, const Fastest& fastest) {
  for (const Seconds threshold : {kInfinite, fastest.step * (1 + 1e-12)}) {
    FillCounts counts;
    const auto bound = evaluator.relaxed_bound(c, kind, threshold, counts);
    ASSERT_TRUE(bound) << "the bound has no plan, threshold " << threshold.value;
    EXPECT_LE(*bound, fastest.step * kRounding) << "kind " << static_cast<int>(kind);
    EXPECT_GT(counts.work, 0);
  }
}

TEST(Evaluator, NoPlanBeatsTheRelaxedNetwork) {
  for_fastest(41'001, 300, kind_of,
              [](TestProblem& problem, Evaluator& evaluator, const Configuration& c, const Fastest& fastest) {
                expect_relaxed(evaluator, c, ShardKind::any, fastest);
                expect_relaxed(evaluator, c, problem.shards(c), fastest);
                if (!problem.same_recompute) return;
                Configuration own = c;  // the plan's own recomputation, where all stages must have one
                own.recompute = fastest.plan.stages.front().recompute;
                expect_relaxed(evaluator, own, problem.shards(c), fastest);
              });
}

TEST(Evaluator, NoPlanBeatsTheBoundOfItsPlacement) {
  for_fastest(42'001, 300, place_of,
              [](TestProblem& problem, Evaluator& evaluator, const Configuration& c, const Fastest& fastest) {
                const Placement placement = problem.placement(c, problem.ties(c).front());
                EXPECT_LE(evaluator.network_bound(c, placement), fastest.step * kRounding);
              });
}

// The best stages of a configuration are the best of all its plans, and make a plan that costs as much.
TEST(Evaluator, FindsTheBestStagesOfEveryPlacement) {
  for_fastest(43'001, 1000, place_of,
              [](TestProblem& problem, Evaluator& evaluator, const Configuration& c, const Fastest& fastest) {
                std::optional<Evaluator::Best> best;
                FillCounts counts;
                for (const auto& policy : problem.policies(c)) {
                  Configuration own = c;
                  own.recompute = policy;
                  for (const TieQuestion& ties : problem.ties(c)) {
                    auto found = evaluator.best(own, problem.placement(c, ties), ties, kInfinite, counts);
                    if (found && (!best || found->step < best->step)) best = std::move(found);
                  }
                }
                ASSERT_TRUE(best);
                EXPECT_EQ(counts.cut_short, 0);
                EXPECT_NEAR(best->step.value, fastest.step.value, 1e-9 * fastest.step.value);
                EXPECT_EQ(place_of(best->plan), place_of(fastest.plan));
                Pricer pricer(problem.costs.inputs(), {.pipeline_model = problem.problem.pipeline_model});
                const PricedPlan priced = pricer.price(best->plan);
                EXPECT_EQ(priced.status, PriceStatus::feasible) << priced.reason;
                EXPECT_NEAR(priced.predicted.step.value, best->step.value, 1e-9 * best->step.value);
              });
}

}  // namespace
}  // namespace nest::solve
