#include "nest/report/page/pass_traffic.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::report {
namespace {

PlanInputs model_inputs(const std::string& model) {
  PlanInputs inputs = test::example_inputs();
  Warnings warnings;
  set_model(inputs, model, warnings);
  return inputs;
}

std::vector<PassTraffic> traffic_of(Plan plan, const PlanInputs& inputs) {
  Pricer pricer(inputs);
  return pass_traffic(pricer.place(pricer.complete(std::move(plan))), inputs);
}

Plan open_plan_of(std::int64_t tensor, std::int64_t pipeline, std::int64_t data) {
  Plan plan;
  plan.training.global_batch = 8;
  plan.training.sequence = 512;
  plan.training.micro_batches = 8 / data;
  plan.parallelism.strategy.tensor = tensor;
  plan.parallelism.strategy.sequence_parallel = tensor > 1;
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.data = data;
  plan.parallelism.data_inner = data;
  return plan;
}

TEST(PassTraffic, ZeroMovesParametersForEveryMicroBatch) {
  const PlanInputs inputs = test::example_inputs();
  Plan plan = test::example_plan({{0, 1, 2}}, 2, 2);  // 600 MB of weights, 4 micro-batches
  EXPECT_EQ(traffic_of(plan, inputs)[0].gradients, 0);
  plan.parallelism.zero = 2;
  // Of two devices each sends the other half of 16-bit gradients.
  EXPECT_NEAR(traffic_of(plan, inputs)[0].gradients, 4 * 600e6, 10);
  EXPECT_EQ(traffic_of(plan, inputs)[0].parameters, 0);
  plan.parallelism.zero = 3;
  // Gathered before both passes.
  EXPECT_NEAR(traffic_of(plan, inputs)[0].parameters, 2 * 4 * 600e6, 10);
  EXPECT_EQ(traffic_of(plan, inputs)[1].parameters, 0);
}

TEST(PassTraffic, TensorGroupsStayWhereTheirCellsAre) {
  const PlanInputs inputs = model_inputs("llama3.2-1b");
  const std::vector<PassTraffic> traffic = traffic_of(open_plan_of(2, 1, 2), inputs);
  // 2 MiB (512 x 2,048 x 2 bytes) at a time, of which each of two devices sends the other half. 16 blocks
  // gather and scatter twice in each pass, and gather twice more what the backward pass needs again: 10. The
  // embedding takes part with 2, the head with 3, and the loss with a few bytes for each token.
  constexpr double kOnce = 512 * 2048 * 2;
  const double times = traffic[0].tensor / (kOnce * 2 * 4);  // copies, micro-batches
  EXPECT_NEAR(times, 16 * 10 + 2 + 3, 0.01);
  EXPECT_EQ(traffic[1].tensor, 0);
  EXPECT_EQ(traffic[0].expert, 0);
}

TEST(PassTraffic, RecomputationRepeatsCollectives) {
  const PlanInputs inputs = model_inputs("llama3.2-1b");
  Plan plan = open_plan_of(2, 1, 2);
  const double none = traffic_of(plan, inputs)[0].tensor;
  plan.default_recompute = {RecomputePolicy::full, 0};
  EXPECT_GT(traffic_of(plan, inputs)[0].tensor, 1.1 * none);
}

TEST(PassTraffic, ARingSendsKeysAndValuesRound) {
  const PlanInputs inputs = model_inputs("llama3.2-1b");
  Plan plan = open_plan_of(1, 1, 2);
  plan.parallelism.strategy.context = 2;
  const std::vector<PassTraffic> traffic = traffic_of(plan, inputs);
  // Keys and values of 256 tokens, 8 heads of 64: one hop of 16 layers in the forward pass, and in the
  // backward pass they and their gradients; two ranks of two copies, four micro-batches.
  constexpr double kOnce = 2.0 * 256 * 8 * 64 * 2;
  EXPECT_DOUBLE_EQ(traffic[0].context, 3 * kOnce * 16 * 2 * 2 * 4);
}

TEST(PassTraffic, ExpertsTalkAcrossTheirGroup) {
  const PlanInputs inputs = model_inputs("mixtral-8x7b");
  Plan plan = open_plan_of(1, 1, 4);
  plan.parallelism.strategy.expert = 4;
  plan.parallelism.strategy.expert_tensor = 1;
  plan.parallelism.data_inner = 1;
  const std::vector<PassTraffic> traffic = traffic_of(plan, inputs);
  EXPECT_GT(traffic[0].expert + traffic[1].expert, 0);
  EXPECT_GT(traffic[1].expert, 0);  // four devices are two nodes
  EXPECT_EQ(traffic[0].tensor, 0);
}

}  // namespace
}  // namespace nest::report
