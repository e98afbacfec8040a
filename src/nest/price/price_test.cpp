#include "nest/price/price.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::price {
namespace {

using test::example_inputs;
using test::example_plan;

constexpr double kExact = 1e-12;

PricedPlan price(const Plan& plan) {
  Pricer pricer(example_inputs());
  return pricer.price(plan);
}

TEST(Example, TwoStagesCopiesInDifferentNodes) {
  const PricedPlan p = price(example_plan({{0, 1}, {2}}, 2, 1));
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  EXPECT_NEAR(p.stages[0].f().value, 3e-3, kExact);
  EXPECT_NEAR(p.stages[0].b().value, 6.501e-3, kExact);
  EXPECT_NEAR(p.stages[1].f().value, 1.501e-3, kExact);
  EXPECT_NEAR(p.stages[1].b().value, 2e-3, kExact);
  EXPECT_NEAR(p.pipeline.value, 38.505e-3, kExact);
  EXPECT_NEAR(p.stages[0].reduce.value, 40.010e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 78.515e-3, kExact);
  EXPECT_NEAR(p.predicted.breakdown.total().value, p.predicted.step.value, kExact);
}

TEST(Example, SameCutCopiesSideBySide) {
  const PricedPlan p = price(example_plan({{0, 1}, {2}}, 2, 2));
  EXPECT_NEAR(p.stages[0].b().value, 11.005e-3, kExact);
  EXPECT_NEAR(p.stages[1].f().value, 6.005e-3, kExact);
  EXPECT_NEAR(p.pipeline.value, 61.025e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 65.027e-3, kExact);
}

TEST(Example, OtherCut) {
  const PricedPlan p = price(example_plan({{0}, {1, 2}}, 2, 2));
  EXPECT_NEAR(p.pipeline.value, 64.025e-3, kExact);
  EXPECT_NEAR(p.stages[1].reduce.value, 4.002e-3, kExact);  // hidden behind stage 0's 7.005 ms
  EXPECT_NEAR(p.predicted.step.value, 66.027e-3, kExact);
}

TEST(Example, FourCopies) {
  const PricedPlan p = price(example_plan({{0, 1, 2}}, 4, 4));
  EXPECT_NEAR(p.pipeline.value, 24e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 60.012e-3, kExact);
  EXPECT_EQ(p.predicted.breakdown.bubble.value, 0);
}

TEST(Example, TwoCopiesTwoIdle) {
  const PricedPlan p = price(example_plan({{0, 1, 2}}, 2, 2));
  EXPECT_NEAR(p.predicted.step.value, 54.002e-3, kExact);
  EXPECT_EQ(p.stages[0].memory.total(), Bytes{1'500'000'000});
  EXPECT_EQ(p.stages[0].memory.activations, Bytes{300'000'000});
}

TEST(Example, ThreeStages) {
  const PricedPlan p = price(example_plan({{0}, {1}, {2}}, 1, 1));
  EXPECT_NEAR(p.stages[0].b().value, 7.005e-3, kExact);
  EXPECT_NEAR(p.stages[1].f().value, 7.005e-3, kExact);
  EXPECT_NEAR(p.stages[1].b().value, 4.501e-3, kExact);
  EXPECT_NEAR(p.stages[2].f().value, 1.501e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 100.053e-3, kExact);
}

TEST(Example, MemoryOfTwoStages) {
  const PricedPlan p = price(example_plan({{0, 1}, {2}}, 2, 1));
  EXPECT_EQ(p.stages[0].memory.total(), Bytes{1'200'000'000});
  EXPECT_EQ(p.stages[1].memory.total(), Bytes{500'000'000});
}

TEST(Example, DevicesAsTheyStandOrByTheRule) {
  Pricer pricer(example_inputs());
  const Plan rule = example_plan({{0, 1}, {2}}, 2, 1);
  const Plan placed = pricer.place(rule);
  EXPECT_EQ(placed.stages[0].devices, (std::vector<Cell>{{DeviceId{1}}, {DeviceId{3}}}));
  EXPECT_EQ(placed.stages[1].devices, (std::vector<Cell>{{DeviceId{0}}, {DeviceId{2}}}));
  EXPECT_EQ(pricer.price(placed).predicted.step, pricer.price(rule).predicted.step);
  // A silly placement is priced as silly: the pipeline crosses nodes, and so do the gradients.
  Plan silly = placed;
  silly.stages[0].devices = {{DeviceId{1}}, {DeviceId{2}}};
  silly.stages[1].devices = {{DeviceId{3}}, {DeviceId{0}}};
  EXPECT_GT(pricer.price(silly).predicted.step.value, 1.2 * pricer.price(rule).predicted.step.value);
}

// ZeRO-1: 400 MB (and 200 MB) are reduce-scattered in a node, half of them over each link: 2 ms + 1 us. The
// gather before the next step takes as long; that of stage 1 hides behind f of stage 0.
TEST(ByHand, ZeroOneScattersAndGathersOnceAStep) {
  Plan plan = example_plan({{0, 1}, {2}}, 2, 2);
  plan.parallelism.zero = 1;
  const PricedPlan p = price(plan);
  ASSERT_EQ(p.stages[0].reduces.size(), 1U);
  EXPECT_EQ(p.stages[0].reduces[0].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(p.stages[0].reduces[0].bytes, Bytes{400'000'000});
  EXPECT_NEAR(p.stages[0].reduce.value, 2.001e-3, kExact);
  EXPECT_NEAR(p.stages[0].gather.value, 2.001e-3, kExact);
  EXPECT_NEAR(p.stages[1].gather.value, 1.001e-3, kExact);
  EXPECT_NEAR(p.predicted.breakdown.data.value, 2.001e-3, kExact);
  EXPECT_NEAR(p.predicted.breakdown.zero.value, 2.001e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, (61.025 + 2.001 + 2.001) * 1e-3, kExact);
}

// ZeRO-2: 200 MB of each of three layers are scattered in every micro-batch (1.001 ms), 600 MB are gathered
// once a step (3.001 ms). Four micro-batches of 12 ms.
TEST(ByHand, ZeroTwoScattersEveryMicroBatch) {
  Plan plan = example_plan({{0, 1, 2}}, 2, 2);
  plan.parallelism.zero = 2;
  const PricedPlan p = price(plan);
  EXPECT_NEAR(p.stages[0].time().zero.value, 3 * 1.001e-3, kExact);
  EXPECT_TRUE(p.stages[0].reduces.empty());
  EXPECT_NEAR(p.predicted.step.value, (4 * (12 + 3.003) + 3.001) * 1e-3, kExact);
  EXPECT_EQ(p.stages[0].memory.weights, Bytes{600'000'000});
  EXPECT_EQ(p.stages[0].memory.gradients, Bytes{300'000'000});
}

// ZeRO-3: gathered forward, gathered backward, scattered; nothing at the end of the step.
TEST(ByHand, ZeroThreeTalksInEveryPass) {
  Plan plan = example_plan({{0, 1, 2}}, 2, 2);
  plan.parallelism.zero = 3;
  const PricedPlan p = price(plan);
  EXPECT_NEAR(p.stages[0].f().value, (4 + 3.003) * 1e-3, kExact);
  EXPECT_NEAR(p.stages[0].b().value, (8 + 6.006) * 1e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 4 * 21.009e-3, kExact);
  EXPECT_EQ(p.predicted.breakdown.data.value, 0);
  EXPECT_EQ(p.stages[0].memory.weights, Bytes{300'000'000});
  // Two gathered layers, and gradients of the one that is reduced.
  EXPECT_EQ(p.stages[0].memory.workspace, Bytes{600'000'000});
}

// Overlapped: the first layer's gather of each pass has nothing to hide behind, and the last scatter nothing
// left; the other two thirds hide (4 ms and 8 ms of compute are enough).
TEST(ByHand, ZeroThreeOverlapped) {
  PlanInputs inputs = example_inputs();
  inputs.recipe.overlap.prefetch = 1;
  inputs.recipe.overlap.gradient_reduce = 1;
  Plan plan = example_plan({{0, 1, 2}}, 2, 2);
  plan.parallelism.zero = 3;
  const PricedPlan p = Pricer(std::move(inputs)).price(plan);
  EXPECT_NEAR(p.stages[0].f().value, (4 + 1.001) * 1e-3, kExact);
  EXPECT_NEAR(p.stages[0].b().value, (8 + 2.002) * 1e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 4 * 15.003e-3, kExact);
}

// zero_shards 2 of 4 ranks: states are split in a node and summed across the rack, 300 MB of each device.
TEST(ByHand, HybridShardsStayInTheNode) {
  Plan plan = example_plan({{0, 1, 2}}, 4, 4);
  plan.parallelism.zero = 1;
  plan.parallelism.zero_shards = 2;
  const PricedPlan one = price(plan);
  EXPECT_NEAR(one.stages[0].reduce.value, (3.001 + 30.010) * 1e-3, kExact);
  EXPECT_NEAR(one.stages[0].gather.value, 3.001e-3, kExact);
  EXPECT_NEAR(one.predicted.step.value, (24 + 36.012) * 1e-3, kExact);
  plan.parallelism.zero = 3;
  const PricedPlan three = price(plan);
  EXPECT_NEAR(three.predicted.step.value, (2 * 21.009 + 30.010) * 1e-3, kExact);
  EXPECT_EQ(three.stages[0].memory.weights, Bytes{300'000'000});
}

// A weight of 80 MB that layers 0 and 2 use: the last stage has a copy, and both add up their gradients, 2 *
// 40 MB over 100 GB/s and two latencies, after those of the copies (400 MB across the rack).
TEST(ByHand, TiedWeightIsCopiedAndSummedOverThePair) {
  PlanInputs inputs = example_inputs();
  std::get<LayerProfile>(inputs.source).shared = {{{LayerId{0}, LayerId{2}}, Bytes{80'000'000}}};
  Pricer pricer(std::move(inputs));
  const PricedPlan alone = pricer.price(example_plan({{0, 1}, {2}}, 1, 1));
  EXPECT_EQ(alone.stages[0].memory.weights, Bytes{400'000'000});
  EXPECT_EQ(alone.stages[1].memory.weights, Bytes{280'000'000});
  EXPECT_NEAR(alone.stages[0].reduce.value, 0.802e-3, kExact);
  EXPECT_NEAR(alone.stages[1].reduce.value, 0.802e-3, kExact);
  EXPECT_NEAR(alone.predicted.step.value, (8 * 9.501 + 0.501 + 0.802) * 1e-3, kExact);
  const PricedPlan copies = pricer.price(example_plan({{0, 1}, {2}}, 2, 1));
  EXPECT_NEAR(copies.stages[1].reduce.value, (28.010 + 0.802) * 1e-3, kExact);
  EXPECT_NEAR(copies.predicted.step.value, (38.505 + 40.010 + 0.802) * 1e-3, kExact);
  const PricedPlan together = pricer.price(example_plan({{0, 1, 2}}, 2, 2));
  EXPECT_NEAR(together.predicted.step.value, 54.002e-3, kExact);
}

// Expert 2: cells of two that run two micro-batches side by side. 80 MB of each layer are dense, over four
// ranks (node, rack, node: 1.201 + 12.010 + 1.201); 120 MB are experts', over ranks {0, 2} and {1, 3}.
TEST(ByHand, ExpertParametersHaveTheirOwnGroup) {
  PlanInputs inputs = example_inputs();
  ProfileStrategy& own = std::get<LayerProfile>(inputs.source).strategies.front();
  own.expert = 2;
  for (ProfileLayer& layer : own.layers) layer.expert_parameters = Bytes{120'000'000};
  Plan plan = example_plan({{0, 1, 2}}, 4, 2);
  plan.parallelism.strategy.expert = 2;
  plan.stages[0].strategy = plan.parallelism.strategy;
  const PricedPlan p = Pricer(std::move(inputs)).price(plan);
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  ASSERT_EQ(p.stages[0].reduces.size(), 2U);
  EXPECT_NEAR(p.stages[0].reduces[0].time.value, 14.412e-3, kExact);
  EXPECT_EQ(p.stages[0].reduces[1].group, StepCollective::Group::expert);
  EXPECT_NEAR(p.stages[0].reduces[1].time.value, 36.010e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, (2 * 12 + 14.412 + 36.010) * 1e-3, kExact);
}

// Under ZeRO-3 the experts are divided by two ranks, the dense parameters by four.
TEST(ByHand, ExpertsAreShardedOverTheirOwnGroup) {
  PlanInputs inputs = example_inputs();
  ProfileStrategy& own = std::get<LayerProfile>(inputs.source).strategies.front();
  own.expert = 2;
  for (ProfileLayer& layer : own.layers) layer.expert_parameters = Bytes{120'000'000};
  Plan plan = example_plan({{0, 1, 2}}, 4, 2);
  plan.parallelism.strategy.expert = 2;
  plan.stages[0].strategy = plan.parallelism.strategy;
  plan.parallelism.zero = 3;
  const PricedPlan p = Pricer(std::move(inputs)).price(plan);
  EXPECT_EQ(p.stages[0].memory.weights, Bytes{3 * (80'000'000 / 4 + 120'000'000 / 2)});
}

// GPipe runs all eight forward passes first, and keeps all their stashes.
TEST(ByHand, GPipeKeepsEveryMicroBatch) {
  Plan plan = example_plan({{0, 1}, {2}}, 1, 1);
  plan.parallelism.schedule = Schedule::gpipe;
  const PricedPlan p = price(plan);
  EXPECT_EQ(p.stages[0].memory.activations, Bytes{8 * 200'000'000LL});
  EXPECT_EQ(p.stages[1].memory.activations, Bytes{8 * 100'000'000LL});
  EXPECT_NEAR(p.predicted.step.value, (9.501 + 3.501 + 7 * (3 + 6.501)) * 1e-3, kExact);
}

TEST(Price, InvalidPlansAreAStatus) {
  Pricer pricer(example_inputs());
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  plan.stages[1].layers = {LayerId{1}};
  const PricedPlan p = pricer.price(plan);
  EXPECT_EQ(p.status, PriceStatus::invalid);
  EXPECT_EQ(p.reason, "stage 1: layer 1 is also in stage 0");
}

// TinyLlama 1.1B: 22 layers of hidden 2048, 32 heads and 4 key-value heads of 64, ffn 5632, vocabulary 32,000.
PricedPlan price_tuned(const char* train, const char* bits, std::int64_t pipeline, std::int64_t data,
                       int zero) {
  Warnings warnings;
  Pricer pricer(load_inputs("tinyllama-1.1b", "h100-spine-leaf", "plain", warnings));
  Plan plan;
  // So many tokens at once that the processor issues kernels faster than the device runs them.
  plan.training.global_batch = 32;
  plan.training.sequence = 2048;
  plan.training.micro_batch = 4;
  plan.training.micro_batches = 8 / data;
  EXPECT_EQ(read_train(train, plan.training.tuning), "");
  EXPECT_EQ(read_frozen_bits(bits, plan.training.tuning), "");
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.data = data;
  plan.parallelism.zero = zero;
  plan.parallelism.zero_shards = 0;
  return pricer.price(pricer.complete(plan));
}

constexpr std::int64_t kBlock = 2048 * (2048 + 512) + 2048 * 2048 + 3 * 2048 * 5632;
constexpr std::int64_t kTinyLlama = 22 * (kBlock + 2 * 2048) + 2048 + 2 * 32'000 * 2048;
// Rank 16 beside 2048 x 2560 and 2048 x 2048.
constexpr std::int64_t kTinyAdapters = 22 * 16 * (2048 + 2560 + 2048 + 2048);

TEST(TrainedInPart, FrozenWeightsHaveNoGradientsAndStates) {
  const PricedPlan p = price_tuned("lora:16", "16", 1, 1, 0);
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  const StageMemory& m = p.stages[0].memory;
  EXPECT_EQ(m.weights.value, 2 * (kTinyLlama + kTinyAdapters));
  EXPECT_EQ(m.gradients.value, 2 * kTinyAdapters);
  EXPECT_LT(m.optimizer.value, 16 * kTinyAdapters);
  const PricedPlan whole = price_tuned("all", "16", 1, 1, 0);
  EXPECT_LT(m.activations, whole.stages[0].memory.activations);
  EXPECT_LT(p.stages[0].b(), 0.8 * whole.stages[0].b());
}

TEST(TrainedInPart, FewBitsTakeLessMemoryAndMoreTime) {
  const PricedPlan wide = price_tuned("lora:16", "16", 1, 1, 0);
  const PricedPlan packed = price_tuned("lora:16", "8", 1, 1, 0);
  EXPECT_EQ((wide.stages[0].memory.weights - packed.stages[0].memory.weights).value, 22 * kBlock);
  EXPECT_GT(packed.predicted.step, wide.predicted.step);
}

TEST(TrainedInPart, NothingRunsBackBeforeTheFirstTrainedLayer) {
  const PricedPlan p = price_tuned("layers 11..", "16", 2, 1, 0);
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  EXPECT_EQ(p.stages[0].chunks[0].backward_work().value, 0);
  EXPECT_EQ(p.stages[0].chunks[0].backward_bytes.value, 0);
  EXPECT_GT(p.stages[1].chunks[0].forward_bytes.value, 0);
  EXPECT_EQ(p.stages[0].memory.activations.value, 0);
  EXPECT_EQ(p.stages[0].memory.gradients.value, 0);
  EXPECT_TRUE(p.stages[0].reduces.empty());
}

TEST(TrainedInPart, Zero3ShardsAndGathersFrozenWeights) {
  const PricedPlan p = price_tuned("lora:16", "16", 1, 4, 3);
  EXPECT_EQ(p.stages[0].memory.weights.value, 2 * (kTinyLlama + kTinyAdapters) / 4);
  // Of a layer, gathered and at work: its weights twice, on top of what ZeRO-2 needs.
  EXPECT_GT(p.stages[0].chunks[0].forward_zero.value, 0);
  EXPECT_GT(p.stages[0].memory.workspace,
            price_tuned("lora:16", "16", 1, 4, 2).stages[0].memory.workspace + Bytes{2 * 2 * kBlock});
}

TEST(TrainedInPart, FlopsAreThoseThatAreComputed) {
  const auto flops = [](const PricedPlan& p) {
    return p.predicted.flops_per_device.value * p.predicted.step.value;
  };
  const double whole = flops(price_tuned("all", "16", 1, 1, 0));
  // Six FLOPs a weight and token become four; attention, 8.4 MFLOP a layer and token beside 88 of products, keeps all
  // three passes, and adapters add 0.8: (22 (2 88 + 3 8.4 + 0.8) + 2 131) / (22 3 (88 + 8.4) + 3 131).
  EXPECT_NEAR(flops(price_tuned("lora:16", "16", 1, 1, 0)) / whole, 0.697, 0.003);
}

}  // namespace
}  // namespace nest::price
