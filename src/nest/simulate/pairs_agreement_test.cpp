// dualpipe-v with the real Pricer: mixtures of experts of the zoo, whose exchanges hide in pairs. The price is the task
// order's longest path, so that the simulation with sends as priced takes exactly as long, whatever the stages.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "nest/plan/schedules/schedule.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/price/price.hpp"
#include "nest/simulate/simulate.hpp"

namespace nest::simulate {
namespace {

constexpr unsigned kSeed = 20261119;
constexpr int kPlans = 60;

TEST(PairsAgreement, OfMixturesOfExperts) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  test::Dice dice(kSeed);
  Warnings warnings;
  double most = 0;
  int hidden = 0;
  for (int n = 0; n < kPlans; ++n) {
    const auto model = dice.one_of<std::string>({"mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite"});
    const auto recipe = dice.one_of<std::string>({"plain", "megatron", "torchtitan"});
    Pricer pricer(load_inputs(model, "h800-rail", recipe, warnings));
    Plan plan;
    Parallelism& p = plan.parallelism;
    p.pipeline = dice.one_of<std::int64_t>({2, 3, 4});
    p.schedule = Schedule::dualpipe_v;
    p.interleave = 2;
    p.strategy = {.tensor = dice.one_of<std::int64_t>({1, 1, 2}),
                  .sequence_parallel = true,
                  .expert = dice.one_of<std::int64_t>({2, 4, 8}),
                  .expert_tensor = 1,
                  .dispatcher = dice.once_in(2) ? Dispatcher::alltoall : Dispatcher::deepep,
                  .expert_overlap = !dice.once_in(5)};
    p.data = p.strategy.side() * dice.pick(1, 2);
    p.zero = dice.pick(0, 3);
    plan.training = {.sequence = 2048, .micro_batch = 1, .micro_batches = 2 * p.pipeline + dice.pick(0, 9)};
    plan.training.global_batch = p.data * plan.training.micro_batches;
    plan.default_recompute = {dice.one_of<RecomputePolicy>(
                                  {RecomputePolicy::none, RecomputePolicy::selective, RecomputePolicy::full}),
                              0};
    plan = pricer.place(pricer.complete(plan));
    const PricedPlan priced = pricer.price(plan);
    ASSERT_NE(priced.status, PriceStatus::invalid) << priced.reason;
    const SimulationResult run = run_simulation(plan, priced, pricer.inputs(), {.contention = false});
    ASSERT_EQ(run.causes.front().part, Difference::Part::order);
    ASSERT_NEAR(run.causes.front().time.value, 0, 1e-9 * priced.pipeline.value) << n;
    most = std::max(most, std::abs(run.step.value / priced.predicted.step.value - 1));
    EXPECT_NEAR(priced.predicted.breakdown.total().value, priced.predicted.step.value, 1e-12);
    Seconds saved;
    for (std::size_t i = 0; i < run.stages.size(); ++i) {
      EXPECT_EQ(run.stages[i].peak, priced.stages[i].memory.total()) << n << ", stage " << i;
      saved += priced.stages[i].saved();
    }
    // Small layers wait for their kernels to be issued, and their exchanges hide there already.
    EXPECT_TRUE(saved.value <= 0 || p.strategy.expert_overlap) << n;
    hidden += saved.value > 0 ? 1 : 0;
  }
  std::printf(
      "seed %u: %d plans with dualpipe-v, %d hide exchanges in pairs, simulated within %.2f %% of the "
      "price\n",
      kSeed, kPlans, hidden, 100 * most);
  EXPECT_LT(most, 0.1);
  EXPECT_GT(hidden, kPlans / 4);
}

}  // namespace
}  // namespace nest::simulate
