#include "nest/estimate/operators/operator_time.hpp"

#include <gtest/gtest.h>

#include "nest/estimate/operators/test_operator_layers.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::estimate {
namespace {

LayerType llama_block(std::int64_t t, std::int64_t batch, std::int64_t sequence) {
  return test::shard_block(test::test_model("llama3-70b"), t, batch, sequence);
}

TEST(OperatorTimes, ALayerIsTheSumOfItsOperatorsAndGradientSums) {
  const OperatorTimes times(find_accelerator("h200"));
  const LayerType layer = llama_block(4, 1, 4096);
  OperatorTime sum;
  for (const Operator& op : layer.operators) sum += times.time(layer, op);
  const LayerTime whole = times.layer(layer);
  EXPECT_DOUBLE_EQ(whole.device.forward.value, sum.forward.value);
  EXPECT_DOUBLE_EQ(whole.device.backward_weight.value, sum.backward_weight.value);
  EXPECT_GT(whole.device.backward_input.value, sum.backward_input.value);
  EXPECT_EQ(whole.device.source, TimeSource::interpolated);
  EXPECT_FALSE(whole.launch_bound);
  EXPECT_EQ(whole.forward().value, whole.device.forward.value);
}

TEST(OperatorTimes, BackwardIsAboutTwiceForward) {
  const OperatorTimes times(find_accelerator("h200"));
  const LayerTime time = times.layer(llama_block(1, 1, 4096));
  EXPECT_NEAR(time.backward().value / time.forward().value, 2.1, 0.15);
}

TEST(OperatorTimes, TinyLayersAreBoundByLaunches) {
  const OperatorTimes times(find_accelerator("h200"));
  const LayerTime time = times.layer(test::shard_block(test::test_model("bert-large"), 8, 1, 128));
  EXPECT_TRUE(time.launch_bound);
  EXPECT_EQ(time.forward().value, time.forward_issue.value);
  EXPECT_GT(time.forward().value, time.device.forward.value);
}

// Both passes together take as long as the device or the host: nothing jumps where the one overtakes the other, and
// more work for the device never makes a layer faster.
TEST(LayerTime, TheHostRunsAhead) {
  double last = 0;
  for (double more = 0; more < 3e-3; more += 1e-5) {
    LayerTime time;
    time.device = {.forward = Seconds{1e-3}, .backward_input = Seconds{1e-3 + more}};
    time.forward_issue = Seconds{2e-3};
    time.backward_issue = Seconds{1.5e-3};
    time.launch_bound =
        time.forward_issue + time.backward_issue > time.device.forward + time.device.backward();
    const double both = (time.forward() + time.backward()).value;
    EXPECT_NEAR(both, std::max(3.5e-3, 2e-3 + more), 1e-12);
    EXPECT_GE(both, last);
    last = both - 1e-12;
  }
}

// Half of the launches of a layer that issuing holds back are issued in half of its time.
TEST(LayerTime, WhatRunsAgainIsIssuedAgain) {
  LayerTime time;
  time.device = {.forward = Seconds{2e-3}, .forward_launches = 20};
  time.forward_issue = Seconds{1e-3};
  const OperatorTime half{.forward = Seconds{1e-3}, .forward_launches = 10};
  EXPECT_DOUBLE_EQ(time.again(half).value, 1e-3);
  time.forward_issue = Seconds{5e-3};
  EXPECT_DOUBLE_EQ(time.again(half).value, 2.5e-3);
  EXPECT_EQ(time.again({}).value, 0);
}

TEST(OperatorTimes, SettingsChangeWhatTheyShould) {
  const OperatorTimes plain(find_accelerator("h200"));
  const LayerType layer = llama_block(8, 1, 8192);
  const OperatorTimes compiled(plain.shared_kernels(), {.compiled = true});
  EXPECT_LT(compiled.layer(layer).forward(), plain.layer(layer).forward());
  const OperatorTimes eight(plain.shared_kernels(), {.precision = Precision::fp8, .cast_each_use = false});
  const LayerType wide = llama_block(1, 1, 8192);
  EXPECT_LT(eight.layer(wide).forward().value, 0.8 * plain.layer(wide).forward().value);
  const OperatorTimes joined(plain.shared_kernels(), {.fused_projections = true});
  EXPECT_NEAR(joined.layer(wide).forward().value / plain.layer(wide).forward().value, 1, 0.04);
}

TEST(OperatorTimes, GraphsTakeTheIssueTimeAwayAndLeaveAGapBetweenKernels) {
  const Model model = build_model(zoo_model("qwen3-30b-a3b"), {.sequence = 512});
  const LayerType& layer = model.type_of(LayerId(1));
  const OperatorTimes eager(find_accelerator("h100-sxm"), {.fused_passes = true});
  const OperatorTimes parts(eager.shared_kernels(), {.fused_passes = true, .graphs = CudaGraphs::parts});
  const OperatorTimes whole(eager.shared_kernels(), {.fused_passes = true, .graphs = CudaGraphs::whole});
  EXPECT_TRUE(eager.layer(layer).launch_bound);
  EXPECT_FALSE(whole.layer(layer).launch_bound);
  EXPECT_LT(parts.layer(layer).forward_issue, eager.layer(layer).forward_issue);
  EXPECT_GT(parts.layer(layer).forward_issue.value, 0);
  EXPECT_LT(whole.layer(layer).forward(), parts.layer(layer).forward());
  const OperatorTimes slow(eager.shared_kernels(), {.fused_passes = true, .host_time = 2});
  EXPECT_DOUBLE_EQ(slow.layer(layer).forward_issue.value, 2 * eager.layer(layer).forward_issue.value);
}

TEST(OperatorTimes, OtherAcceleratorsRunTheSameLayerAtASensibleShareOfTheirPeak) {
  const LayerType layer = llama_block(1, 1, 4096);
  for (const char* name :
       {"v100", "a100-80", "h100-sxm", "h100-96-500w", "b200", "gb200", "mi300x", "tpu-v5p"}) {
    const Accelerator& accelerator = find_accelerator(name);
    const OperatorTimes times(accelerator);
    const LayerTime time = times.layer(layer);
    const auto peak = accelerator.peak(MathType::bf16) ? accelerator.peak(MathType::bf16)
                                                       : accelerator.peak(MathType::fp16);
    const double share =
        3 * layer.forward_flops().value / (time.forward() + time.backward()).value / peak->value;
    EXPECT_GT(share, 0.3) << name;
    EXPECT_LT(share, 0.85) << name;
  }
}

// Only attention gets slower, and by the factor.
TEST(OperatorTimes, OlderAttentionKernelsMultiplyAttentionAlone) {
  const Model model = build_model(zoo_model("llama3.1-8b"), {.sequence = 8192});
  const LayerType& block = model.type_of(LayerId{1});
  const OperatorTimes newest(find_accelerator("h100-sxm"));
  const OperatorTimes old(newest.shared_kernels(), {.attention_time = 1.6});
  for (const Operator& op : block.operators) {
    const double factor = op.kind == OperatorKind::attention ? 1.6 : 1;
    EXPECT_NEAR(old.time(block, op).forward.value, factor * newest.time(block, op).forward.value, 1e-12)
        << op.name;
  }
}

}  // namespace
}  // namespace nest::estimate
