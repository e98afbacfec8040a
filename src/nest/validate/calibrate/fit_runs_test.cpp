#include "nest/validate/calibrate/fit_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/validate/runs/run_predictor.hpp"
#include "nest/validate/runs/test_runs.hpp"
#include "support/message_of.hpp"

namespace nest::validate {
namespace {

MeasuredRun measured(const RunRow& row, double times) {
  MeasuredRun out{.name = row.id, .run = *run_case(row).run};
  out.step = times * price_run(out.run).step;
  return out;
}

TEST(FitRuns, TwoRunsThatAreSlowerAlikeMoveKernels) {
  RunRow other = made_up_run();
  other.global_batch = 128;
  const std::vector<MeasuredRun> runs{measured(made_up_run(), 1.2), measured(other, 1.2)};
  const RunsFit fit = fit_runs(runs);
  EXPECT_GT(fit.calibration.kernel_time.value, 1.1);
  EXPECT_FALSE(fit.calibration.network_time.moved());
  EXPECT_EQ(fit.calibration.framework, "megatron");
  EXPECT_EQ(fit.calibration.accelerator, "h100-sxm");
  ASSERT_EQ(fit.rows.size(), 2U);
  for (const MeasuredFigure& row : fit.rows) {
    EXPECT_NEAR(row.measured / row.predicted, 1.2, 1e-9);
    EXPECT_LT(row.measured / row.calibrated, 1.06);  // most of it is explained
  }
}

TEST(FitRuns, WhatIsPredictedRightlyMovesNothing) {
  const std::vector<MeasuredRun> runs{measured(made_up_run(), 1.01), measured(made_up_run(), 0.99)};
  const RunsFit fit = fit_runs(runs);
  EXPECT_EQ(spell_calibration(fit.calibration), "");
  EXPECT_EQ(
      fit.calibration.unknown.front(),
      "whether any constant is off: what was measured lies within what is expected of the shipped ones");
}

TEST(FitRuns, AStepInTheWrongUnitIsNamed) {
  const MeasuredRun run = measured(made_up_run(), 1000);
  EXPECT_TRUE(fit_runs({&run, 1}).calibration.unknown.front().starts_with("why the step of made-up is "));
}

TEST(FitRuns, AProfilerTellsKernelsFromTheNetwork) {
  MeasuredRun run = measured(made_up_run(), 1.0);
  const RunPrediction shipped = price_run(run.run);
  run.step.reset();
  run.compute = 1.5 * (shipped.compute() - shipped.breakdown.bubble);
  EXPECT_GT(fit_runs({&run, 1}).calibration.kernel_time.value, 1.02);
  run.compute.reset();
  run.alone = 3 * (shipped.step - shipped.compute());
  EXPECT_GT(fit_runs({&run, 1}).calibration.network_time.value, 1.2);
}

TEST(FitRuns, MemoryHasAConstantOfItsOwn) {
  MeasuredRun run = measured(made_up_run(), 1.0);
  const auto fit = [&](MemoryKind kind, double ratio) {
    const Bytes predicted = predicted_bytes(kind, run.run, price_run(run.run));
    run.memory = MemoryFigure{kind, round_up_bytes(ratio * static_cast<double>(predicted.value))};
    return fit_runs({&run, 1}).calibration;
  };
  const Calibration needed = fit(MemoryKind::allocated, 1.3);
  EXPECT_GT(needed.memory.value, 1.05);
  EXPECT_LT(needed.memory.value, 1.3);
  EXPECT_FALSE(needed.kernel_time.moved());
  // An allocator reserves what it can get: more than is predicted tells nothing, less does.
  const Calibration more = fit(MemoryKind::reserved, 1.3);
  EXPECT_FALSE(more.memory.moved());
  EXPECT_THAT(more.unknown,
              testing::Contains(testing::StartsWith("whether made-up needs more memory than the ")));
  EXPECT_LT(fit(MemoryKind::reserved, 0.7).memory.value, 0.95);
}

TEST(FitRuns, RunsOfSeveralFrameworksAreRefused) {
  RunRow other = made_up_run();
  other.id = "other";
  other.accelerator = "h200";
  const std::vector<MeasuredRun> runs{measured(made_up_run(), 1), measured(other, 1)};
  EXPECT_EQ(
      message_of([&] { static_cast<void>(fit_runs(runs)); }),
      "other: this is of h200 and others are of h100-sxm: their accelerators differ; calibrate them apart");
}

TEST(FitRuns, APlanThatCannotBePricedIsSaid) {
  MeasuredRun run = measured(made_up_run(), 1);
  run.run.plan.parallelism.strategy.tensor = 3;
  EXPECT_TRUE(message_of([&] { static_cast<void>(fit_runs({&run, 1})); }).starts_with("made-up: no "));
}

}  // namespace
}  // namespace nest::validate
