#include "nest/validate/runs/run_predictor.hpp"

#include <gtest/gtest.h>

#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

TEST(PriceRun, AStepWithItsMemory) {
  const RunPrediction p = price_run(*run_case(made_up_run()).run);
  ASSERT_EQ(p.why_not, "");
  EXPECT_GT(p.step.value, 0);
  EXPECT_NEAR(p.breakdown.total().value / p.step.value, 1, 1e-9);
  EXPECT_EQ(p.stages.size(), 2U);
  EXPECT_TRUE(p.fits);
  EXPECT_LT(p.compute(), p.step + Seconds{1e-12});
}

TEST(PriceRun, ASmallerLastMicroBatchTakesItsShare) {
  RunRow row = made_up_run();
  row.pipeline = 1;
  row.data = 8;
  const auto step = [&](std::int64_t batch) {
    row.global_batch = batch;
    const RunPrediction p = price_run(*run_case(row).run);
    EXPECT_EQ(p.why_not, "");
    EXPECT_NEAR(p.breakdown.total().value / p.step.value, 1, 1e-9);
    return p.step.value;
  };
  EXPECT_NEAR(step(40), (step(32) + step(48)) / 2, 1e-9);
}

TEST(PriceRun, WhatCannotBeSplitIsAReason) {
  RunRow row = made_up_run();
  row.layers = 1;
  const RunPrediction p = price_run(*run_case(row).run);
  EXPECT_NE(p.why_not, "");
}

}  // namespace
}  // namespace nest::validate
