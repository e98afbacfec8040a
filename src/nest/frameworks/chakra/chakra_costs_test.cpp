#include "nest/frameworks/chakra/chakra_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/cluster/resize.hpp"
#include "nest/price/layers/cost_book.hpp"

namespace nest::frameworks {
namespace {

struct Made {
  Plan plan;
  PricedPlan priced;
  std::vector<ChakraStage> stages;
};

Made make(const std::string& model, const std::string& recipe, Plan plan, std::int64_t devices) {
  Warnings warnings;
  PlanInputs inputs = load_inputs(model, "h100-spine-leaf", recipe, warnings);
  inputs.cluster = with_devices(inputs.cluster, devices);
  Pricer pricer(inputs);
  Made out;
  out.plan = pricer.place(pricer.complete(std::move(plan)));
  out.priced = pricer.price(out.plan);
  EXPECT_NE(out.priced.status, PriceStatus::invalid) << out.priced.reason;
  out.stages = chakra_stages(out.plan, out.priced, inputs);
  return out;
}

Plan plan_of(std::int64_t tensor, std::int64_t pipeline, std::int64_t data, std::int64_t zero) {
  Plan plan;
  plan.parallelism.strategy.tensor = tensor;
  plan.parallelism.strategy.sequence_parallel = tensor > 1;
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.data = data;
  plan.parallelism.zero = zero;
  plan.training.sequence = 4096;
  plan.training.micro_batches = 8;
  plan.training.global_batch = 8 * data;
  return plan;
}

double bytes_of(const ChakraPass& pass, ChakraCollective kind, const std::string& name) {
  double sum = 0;
  for (const ChakraSum& s : pass.collectives) sum += s.kind == kind && s.name == name ? s.bytes : 0;
  return sum;
}

// 16 layers, each with two all-gathers and two reduce-scatters of 4,096 x 2,048 16-bit values; the embedding
// adds a reduce-scatter, and the head an all-gather.
TEST(ChakraCosts, TensorCollectivesAddUp) {
  const Made made = make("llama3.2-1b", "plain", plan_of(8, 1, 1, 0), 8);
  const ChakraPass& forward = made.stages[0].chunks[0].forward;
  const double tensor = 4096.0 * 2048 * 2;
  EXPECT_NEAR(bytes_of(forward, ChakraCollective::all_gather, "tensor"), 33 * tensor, 1);
  EXPECT_NEAR(bytes_of(forward, ChakraCollective::reduce_scatter, "tensor"), 33 * tensor, 1);
  for (const ChakraSum& s : forward.collectives) EXPECT_EQ(s.hidden, 0);
  EXPECT_EQ(made.priced.stages[0].chunks[0].forward, forward.work.time);
}

// Two operations for each parameter and token, forward; twice that backward.
TEST(ChakraCosts, OperationsOfOneDevice) {
  const Made made = make("llama3.2-1b", "plain", plan_of(1, 1, 1, 0), 8);
  const ChakraChunk& chunk = made.stages[0].chunks[0];
  const double products = 2 * 1.236e9 * 4096;
  EXPECT_GT(chunk.forward.work.operations, products);
  EXPECT_LT(chunk.forward.work.operations, 1.3 * products);  // attention besides
  EXPECT_NEAR(chunk.backward.work.operations, 2 * chunk.forward.work.operations, 1e6);
  EXPECT_GT(chunk.forward.work.bytes, 2 * 1.236e9);
}

// ZeRO-3 over 4 ranks: parameters are gathered in both passes, gradients scattered in the backward pass.
TEST(ChakraCosts, ZeroTrafficOfEveryMicroBatch) {
  const Made made = make("llama3.2-1b", "plain", plan_of(1, 1, 4, 3), 8);
  const ChakraChunk& chunk = made.stages[0].chunks[0];
  const double gathered = bytes_of(chunk.forward, ChakraCollective::all_gather, "zero");
  EXPECT_NEAR(gathered, 2 * 1.2358e9, 1e6);
  EXPECT_EQ(bytes_of(chunk.backward, ChakraCollective::all_gather, "zero"), gathered);
  EXPECT_EQ(bytes_of(chunk.backward, ChakraCollective::reduce_scatter, "zero"), gathered);
  EXPECT_TRUE(made.stages[0].gathers.empty());
}

// What price hides: Megatron overlaps reductions of gradients, and the tied embedding of two stages nowhere.
TEST(ChakraCosts, EndOfTheStep) {
  const Made made = make("llama3.2-1b", "megatron", plan_of(1, 2, 4, 1), 8);
  for (const ChakraStage& stage : made.stages) {
    ASSERT_EQ(stage.reduces.size(), 1U);
    EXPECT_EQ(stage.reduces[0].kind, ChakraCollective::reduce_scatter);
    EXPECT_GT(stage.reduces[0].hidden, 0.3);
    EXPECT_LT(stage.reduces[0].hidden, 1);
    ASSERT_EQ(stage.gathers.size(), 1U);
    EXPECT_GT(stage.tied_bytes, 128256.0 * 2048 * 4 - 1);
    EXPECT_GT(stage.optimizer.time.value, 0);
  }
}

Plan tuned_plan(Plan plan, std::string_view train, std::string_view bits = "16") {
  EXPECT_EQ(read_train(train, plan.training.tuning), "");
  EXPECT_EQ(read_frozen_bits(bits, plan.training.tuning), "");
  return plan;
}

// What the price counts: no products for gradients of frozen weights, and the same forward pass.
TEST(ChakraCosts, OperationsOfATunedModel) {
  for (const char* train : {"lora:16", "lora:8:all-linear", "layers 12..", "layers 3..5"}) {
    const Plan plan = tuned_plan(plan_of(1, 1, 1, 0), train);
    const Made made = make("llama3.2-1b", "plain", plan, 8);
    Warnings warnings;
    const PlanInputs inputs = load_inputs("llama3.2-1b", "h100-spine-leaf", "plain", warnings);
    CostBook book(inputs);
    const BuiltModel& model = book.model(1, made.plan.training);
    const ChakraChunk& chunk = made.stages[0].chunks[0];
    EXPECT_NEAR(chunk.forward.work.operations, model.forward_flops.value, 1e6) << train;
    EXPECT_NEAR(chunk.backward.work.operations, 2 * model.forward_flops.value - model.saved_flops.value, 1e6)
        << train;
    EXPECT_LT(chunk.backward.work.operations, 1.7 * chunk.forward.work.operations) << train;
  }
}

// Of 16 blocks, rank 16 beside the joined product of queries, keys and values and beside the attention's result:
// 16 x (2048 + 3072 + 2048 + 2048) weights each are reduced, in 16 bits, and nothing else.
TEST(ChakraCosts, OnlyAdaptersAreReduced) {
  const double adapters = 16.0 * 16 * (2048 + 3072 + 2048 + 2048);
  const Made made = make("llama3.2-1b", "plain", tuned_plan(plan_of(1, 1, 4, 1), "lora:16"), 8);
  ASSERT_EQ(made.stages[0].reduces.size(), 1U);
  EXPECT_NEAR(made.stages[0].reduces[0].bytes, 2 * adapters, 2);
  EXPECT_EQ(made.stages[0].tied_bytes, 0);
}

// ZeRO-3 gathers frozen weights in the bits in which they are held, and scatters gradients of adapters alone.
TEST(ChakraCosts, ZeroGathersFrozenWeights) {
  const double adapters = 16.0 * 16 * (2048 + 3072 + 2048 + 2048);
  const Made wide = make("llama3.2-1b", "plain", tuned_plan(plan_of(1, 1, 4, 3), "lora:16"), 8);
  const Made few = make("llama3.2-1b", "plain", tuned_plan(plan_of(1, 1, 4, 3), "lora:16", "4"), 8);
  const auto gathered = [](const ChakraPass& pass) {
    return bytes_of(pass, ChakraCollective::all_gather, "zero");
  };
  const ChakraChunk& chunk = wide.stages[0].chunks[0];
  EXPECT_NEAR(gathered(chunk.forward), 2 * (1.2358e9 + adapters), 1e6);
  EXPECT_NEAR(bytes_of(chunk.backward, ChakraCollective::reduce_scatter, "zero"), 2 * adapters, 4);
  // The embedding, which is the head too, stays in 16 bits: 0.973 billion weights are held in 0.516 bytes each.
  const double packed = 16.0 * (2048.0 * (3072 + 2048) + 3 * 2048.0 * 8192);
  EXPECT_NEAR(gathered(chunk.forward) - gathered(few.stages[0].chunks[0].forward), packed * (2 - 0.515625),
              packed * 0.001);
}

// Nothing is trained in the first half: its stage has no backward pass and waits for no gradient.
TEST(ChakraCosts, NoBackwardPassBeforeWhatIsTrained) {
  const Made made = make("llama3.2-1b", "plain", tuned_plan(plan_of(1, 2, 1, 0), "layers 12.."), 8);
  EXPECT_TRUE(made.stages[0].chunks[0].backward.nothing());
  EXPECT_FALSE(made.stages[0].chunks[0].forward.nothing());
  EXPECT_FALSE(made.stages[1].chunks[0].backward.nothing());
  EXPECT_EQ(made.priced.stages[0].chunks[0].backward_bytes.value, 0);
}

TEST(ChakraCosts, ExpertAndContextCollectives) {
  Plan plan = plan_of(1, 1, 8, 0);
  plan.parallelism.strategy.expert = 8;
  const Made moe = make("mixtral-8x7b", "plain", plan, 8);
  EXPECT_GT(bytes_of(moe.stages[0].chunks[0].forward, ChakraCollective::all_to_all, "expert"), 0);
  plan = plan_of(1, 1, 1, 0);
  plan.parallelism.strategy.context = 4;
  const Made ring = make("llama3.2-1b", "plain", plan, 8);
  // 16 layers of keys and values of 1,024 of the 4,096 positions, 512 each, 16 bits: three hops, as an
  // all-gather of four parts.
  EXPECT_NEAR(bytes_of(ring.stages[0].chunks[0].forward, ChakraCollective::all_gather, "context"),
              16 * 4 * (1024.0 * 2 * 512 * 2), 1);
}

}  // namespace
}  // namespace nest::frameworks
