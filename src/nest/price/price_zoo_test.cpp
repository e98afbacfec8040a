// Prices of models from the zoo on clusters of the catalogue.
#include <gtest/gtest.h>

#include "nest/price/price.hpp"
#include "support/message_of.hpp"

namespace nest::price {
namespace {

Plan open_plan(const Strategy& strategy, std::int64_t pipeline, std::int64_t data, std::int64_t batch) {
  Plan plan;
  plan.training.global_batch = batch;
  plan.training.micro_batches = 0;
  plan.parallelism.strategy = strategy;
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.data = data;
  plan.parallelism.data_inner = 0;
  return plan;
}

PricedPlan zoo_price(const std::string& model, const std::string& cluster, const Plan& plan) {
  Warnings warnings;
  Pricer pricer(load_inputs(model, cluster, "megatron", warnings));
  return pricer.price(pricer.complete(plan));
}

TEST(Zoo, AModelTooLargeForItsDevices) {
  const PricedPlan p = zoo_price("llama3.1-405b", "h100-spine-leaf", open_plan({}, 1, 1, 8));
  EXPECT_EQ(p.status, PriceStatus::infeasible);
  EXPECT_TRUE(p.reason.starts_with("stage 0 needs ")) << p.reason;
  EXPECT_GT(p.predicted.step.value, 0);
}

TEST(Zoo, EightBitProductsWhereTheAcceleratorHasThem) {
  Plan plan = open_plan({.tensor = 8, .sequence_parallel = true}, 1, 1, 8);
  plan.training.precision = Precision::fp8;
  EXPECT_EQ(zoo_price("llama3.1-8b", "dgx-a100-superpod", plan).reason,
            "a100-80 has no 8-bit matrix products");
  const PricedPlan fp8 = zoo_price("llama3.1-8b", "h100-spine-leaf", plan);
  EXPECT_EQ(fp8.status, PriceStatus::feasible) << fp8.reason;
  plan.training.precision = Precision::bf16;
  const PricedPlan bf16 = zoo_price("llama3.1-8b", "h100-spine-leaf", plan);
  EXPECT_LT(fp8.predicted.step.value, bf16.predicted.step.value);
  // Against the 8-bit peak, which is twice the other.
  EXPECT_NEAR(fp8.predicted.mfu * fp8.predicted.step.value,
              bf16.predicted.mfu * bf16.predicted.step.value / 2, 1e-3 * bf16.predicted.step.value);
}

// Six blocks a stage: the boundary carries the encoder's result, and where it lies inside the decoder, the
// decoder's own besides.
TEST(Zoo, AnEncoderDecoderPipeline) {
  Plan plan = open_plan({}, 4, 1, 8);
  const PricedPlan p = zoo_price("t5-small", "h100-spine-leaf", plan);
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  const Bytes hidden{512 * 512 * 2};
  EXPECT_EQ(p.stages[1].chunks[0].forward_bytes, hidden);
  EXPECT_EQ(p.stages[2].chunks[0].forward_bytes, hidden);
  EXPECT_EQ(p.stages[3].chunks[0].forward_bytes, Bytes{2 * hidden.value});
  EXPECT_EQ(p.stages[2].chunks[0].backward_bytes, Bytes{2 * hidden.value});
}

TEST(Zoo, ExpertsOfQwen) {
  const Strategy experts{.expert = 8};
  const PricedPlan p = zoo_price("qwen3-30b-a3b", "h100-spine-leaf", open_plan(experts, 4, 64, 1024));
  ASSERT_NE(p.status, PriceStatus::invalid) << p.reason;
  EXPECT_GT(p.stages[1].time().expert.value, 0);
  ASSERT_EQ(p.stages[1].reduces.size(), 2U);
  EXPECT_EQ(p.stages[1].reduces[1].group, StepCollective::Group::expert);
  EXPECT_EQ(zoo_price("qwen3-30b-a3b", "h100-spine-leaf", open_plan(experts, 1, 12, 1024)).reason,
            "data 12 is no multiple of the 8 micro-batches that a cell of 8 devices runs side by side");
}

TEST(Zoo, AllOf131072Devices) {
  Plan plan = open_plan({.tensor = 8, .sequence_parallel = true}, 16, 1024, 131'072);
  plan.parallelism.data_inner = 32;
  plan.parallelism.zero = 1;
  plan.default_recompute.policy = RecomputePolicy::full;
  const PricedPlan p = zoo_price("llama3.1-405b", "mega-131072", plan);
  EXPECT_EQ(p.status, PriceStatus::feasible) << p.reason;
  EXPECT_NEAR(p.predicted.breakdown.total().value, p.predicted.step.value, 1e-12 * p.predicted.step.value);
  EXPECT_GT(p.predicted.mfu, 0.1);
  EXPECT_LT(p.predicted.mfu, 0.8);
}

// Bad plans are a status, whatever is bad about them.
TEST(Zoo, ASequenceBeyondTheModelIsAStatus) {
  Warnings warnings;
  Pricer pricer(load_inputs("gpt2", "h100-spine-leaf", "megatron", warnings));
  Plan plan = pricer.complete(open_plan({}, 1, 1, 8));
  plan.training.sequence = 2048;
  EXPECT_EQ(message_of([&] { EXPECT_EQ(pricer.price(plan).status, PriceStatus::invalid); }), "(no error)");
  plan.training.sequence = 512;
  plan.training.micro_batch = 0;
  EXPECT_EQ(message_of([&] { EXPECT_EQ(pricer.price(plan).status, PriceStatus::invalid); }), "(no error)");
}

}  // namespace
}  // namespace nest::price
