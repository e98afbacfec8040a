// The optimizer in host memory: what it adds to the simulated step, against what it adds to the price, over random
// plans of real models. The parts of its update run one by one on the device's link and its share of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

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
  std::int64_t workers = 0;
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
  return {run.step.value, priced.predicted.step.value, run.workers};
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

// Passes that wait for copies are longer in both, and stages then differ more: what holds of the schedules' formulas for
// stages that differ holds here.
TEST(OffloadAgreement, PassesWaitForTheirCopies) {
  struct Band {
    int plans = 0;
    double least = 0;
    double most = 0;
  };
  Draws draws(kSeed + 1);
  std::map<std::string, Band> bands;
  int shown = 0;
  for (int n = 0; n < kPlans; ++n) {
    const RealPlan r = draws.next();
    const Parallelism& p = r.plan.parallelism;
    const Steps far = steps_of(r, r.plan, {.activations = true});
    shown += far.priced > r.priced.predicted.step.value * (1 + 1e-9) ? 1 : 0;
    const std::string unlike = far.workers == p.pipeline ? "" : ", copies unlike";
    Band& band = bands[(p.pipeline == 1 ? "one stage" : std::string(name_of(p.schedule))) + unlike];
    const double error = far.simulated / far.priced - 1;
    ++band.plans;
    band.least = std::min(band.least, error);
    band.most = std::max(band.most, error);
  }
  for (const auto& [name, band] : bands)
    std::printf("seed %u, %3d plans, %-28s simulated over priced %.2g to %.2f %%\n", kSeed + 1, band.plans,
                name.c_str(), band.least, 100 * band.most);
  EXPECT_GT(shown, 100);
  EXPECT_GT(bands["one stage"].least, -1e-9);
  EXPECT_LT(bands["one stage"].most, 1e-9);
  // Networks of all kinds are drawn: on grids and oversubscribed ones the price may be above the simulation.
  EXPECT_GT(bands["1f1b"].least, -0.05);
  EXPECT_LT(bands["1f1b"].most, 0.10);
  EXPECT_GT(bands["gpipe"].least, -0.05);
  EXPECT_LT(bands["gpipe"].most, 0.001);
}

}  // namespace
}  // namespace nest::simulate
