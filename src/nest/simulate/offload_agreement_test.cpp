// The optimizer in host memory: what it adds to the simulated step, against what it adds to the price, over random
// plans of real models. The parts of its update run one by one on the device's link and its share of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "nest/simulate/simulate.hpp"
#include "nest/simulate/test_real_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test;

constexpr unsigned kSeed = 20261119;
constexpr int kPlans = 200;

struct Steps {
  double simulated = 0;
  double priced = 0;
};

Steps steps_of(const RealPlan& r, Plan plan, const Offload& offload) {
  plan.training.states.offload = offload;
  const PricedPlan priced = r.pricer->price(plan);
  EXPECT_NE(priced.status, PriceStatus::invalid) << r.name << priced.reason;
  if (offload.optimizer) {
    EXPECT_EQ(priced.predicted.breakdown.offload.value > 0,
              offload.activations || priced.stages[0].optimizer.value > 0);
  }
  EXPECT_NEAR(priced.predicted.breakdown.total().value, priced.predicted.step.value, 1e-12);
  const SimulationResult run = run_simulation(plan, priced, r.pricer->inputs(), {.contention = false});
  return {run.step.value, priced.predicted.step.value};
}

TEST(OffloadAgreement, AddsToTheStepWhatThePriceSays) {
  Draws draws(kSeed);
  double worst_alone = 0;
  double worst = 0;
  double share = 0;
  for (int n = 0; n < kPlans; ++n) {
    const RealPlan r = draws.next();
    const Steps plain = steps_of(r, r.plan, {});
    const Steps far = steps_of(r, r.plan, {.optimizer = true});
    const double more = (far.simulated - plain.simulated) - (far.priced - plain.priced);
    const double error = std::abs(more) / far.priced;
    // One stage has nobody whose gathers or reductions reach into its update.
    double& most = r.plan.parallelism.pipeline == 1 ? worst_alone : worst;
    most = std::max(most, error);
    share = std::max(share, 1 - plain.priced / far.priced);
  }
  std::printf(
      "seed %u, %d plans: what offloading adds, simulated less priced, of the step: %.2g with one stage, "
      "%.2g "
      "with several; it is up to %.0f %% of the step\n",
      kSeed, kPlans, worst_alone, worst, 100 * share);
  EXPECT_LT(worst_alone, 1e-9);
  EXPECT_LT(worst, 0.02);
  EXPECT_GT(share, 0.1);
}

// Passes that wait for copies are longer in both: a plan is hardly further from its price than with all on the device.
TEST(OffloadAgreement, PassesWaitForTheirCopies) {
  Draws draws(kSeed + 1);
  double below = 0;
  double above = 0;
  int shown = 0;
  for (int n = 0; n < kPlans; ++n) {
    const RealPlan r = draws.next();
    const Steps plain = steps_of(r, r.plan, {});
    const Steps far = steps_of(r, r.plan, {.activations = true});
    shown += far.priced > r.priced.predicted.step.value * (1 + 1e-9) ? 1 : 0;
    const double own = plain.simulated / plain.priced - 1;
    const double error = far.simulated / far.priced - 1;
    below = std::min(below, error - std::min(own, 0.0));
    above = std::max(above, error - std::max(own, 0.0));
  }
  std::printf(
      "seed %u, %d plans with activations in host memory: simulated over priced %.2g below to %.2f %% above "
      "what it is "
      "on the device; copies show in %d\n",
      kSeed + 1, kPlans, -below, 100 * above, shown);
  EXPECT_GT(shown, 100);
  EXPECT_GT(below, -0.005);
  EXPECT_LT(above, 0.15);
}

}  // namespace
}  // namespace nest::simulate
