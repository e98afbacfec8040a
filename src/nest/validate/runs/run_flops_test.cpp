#include "nest/validate/runs/run_flops.hpp"

#include <gtest/gtest.h>

#include "nest/validate/runs/run_model.hpp"
#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

RunRow gpt() {
  RunRow row = made_up_run();
  row.model = "GPT";
  row.layers = 4;
  row.hidden = 1024;
  row.heads = row.kv_heads = 8;
  row.ffn = 4096;
  row.vocab = 50000;
  row.sequence = 2048;
  row.global_batch = 16;
  row.recompute_policy = "full";
  return row;
}

// 96 B s l h^2 (1 + s/6h + V/16lh), equation 3 of Narayanan et al. 2021.
TEST(RunFlops, HardwareCountIsThePapersFormula) {
  const double b = 16, s = 2048, l = 4, h = 1024, v = 50000;
  const double paper = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
  const RunRow row = gpt();
  const ModelSpec spec = *run_model(row).spec;
  EXPECT_NEAR(step_flops(spec, row, FlopCount::hardware).value / paper, 1, 1e-12);
}

TEST(RunFlops, ModelCountsLeaveOutRecomputation) {
  const RunRow row = gpt();
  const ModelSpec spec = *run_model(row).spec;
  const double tokens = 16 * 2048;
  const double products = 6.0 * (4 * 12 * 1024 * 1024 + 50000 * 1024);
  const double scores = 12.0 * 4 * 1024 * 2048;
  EXPECT_NEAR(step_flops(spec, row, FlopCount::model_full).value, tokens * (products + scores), 1);
  EXPECT_NEAR(step_flops(spec, row, FlopCount::model_causal).value, tokens * (products + scores / 2), 1);
}

TEST(RunFlops, DefinitionsByTheirWords) {
  RunRow row = gpt();
  const auto count = [&](const std::string& words) {
    row.flops_definition = words;
    return flop_count(row);
  };
  EXPECT_EQ(count("hardware FLOPs incl. full recompute"), FlopCount::hardware);
  EXPECT_EQ(count("MFU, no recompute; HFU x4/3"), FlopCount::model_full);
  EXPECT_EQ(count("Megatron model FLOPs"), FlopCount::model_causal);
  EXPECT_EQ(count("MaxText model TFLOP/s (attention counted non-causal)"), FlopCount::model_full);
  EXPECT_EQ(count(""), FlopCount::model_causal);
  row.framework = "megatron-deepspeed";
  EXPECT_EQ(count(""), FlopCount::hardware);
}

TEST(RunFlops, EveryMetricGivesTheSameStep) {
  RunRow row = gpt();  // 16 devices, 1 s
  row.flops_definition = "MFU";
  const ModelSpec spec = *run_model(row).spec;
  const double flops = step_flops(spec, row, FlopCount::model_full).value;
  const auto step = [&](const std::string& metric, double value) {
    row.metric = metric;
    row.measured = value;
    return measured_step(row, spec).time.value_or(Seconds{}).value;
  };
  EXPECT_DOUBLE_EQ(step("iteration_s", 2), 2);
  EXPECT_DOUBLE_EQ(step("tokens_per_s_per_gpu", 1024), 2);  // 16 * 2048 tokens, 16 devices
  EXPECT_NEAR(step("tflops_per_gpu", flops / 16 / 2 / 1e12), 2, 1e-12);
  EXPECT_NEAR(step("mfu", flops / 16 / 2 / 989e12), 2, 1e-12);
  EXPECT_NEAR(step("mfu", 100 * 0.4), flops / 16 / 989e12 / 0.4, 1e-12);
  EXPECT_EQ(step("furlongs", 1), 0);
  row.metric = "tokens_per_s_per_gpu";
  row.measured = 1024;
  EXPECT_DOUBLE_EQ(in_metric_of(row, Seconds{2}, Seconds{4}), 512);
}

}  // namespace
}  // namespace nest::validate
