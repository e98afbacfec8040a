#include "nest/solve/baselines/manual/manual.hpp"

#include <gtest/gtest.h>

#include "nest/solve/baselines/common/test_never_better.hpp"
#include "nest/solve/baselines/common/test_questions.hpp"

namespace nest::solve {
namespace {

// Eight layers of 200 MB of weights and gradients and 1 GB kept: 1.6 GB and 8 GB in all.
PlanQuestion chain(double memory) {
  return test::chain_question({.cluster = {.memory = memory}, .activation_bytes = 1e9});
}

TEST(Manual, HasOneStageWhereItFits) {
  const BaselineResult manual = find_manual(chain(80e9), {});
  ASSERT_EQ(manual.status, PlanStatus::feasible) << manual.reason;
  EXPECT_EQ(manual.plan->parallelism.pipeline, 1);
  EXPECT_EQ(manual.plan->parallelism.data, 8);
  EXPECT_EQ(manual.plan->stages[0].recompute.policy, RecomputePolicy::none);
  EXPECT_EQ(manual.plan->parallelism.zero.number(), 0);  // no states to distribute
  EXPECT_EQ(*manual.believed, manual.plan->predicted->step);
  EXPECT_GT(manual.evaluations, 0);
}

// 1F1B keeps as many micro-batches as stages follow, so that the first of p stages always keeps 8 GB: 1.6 GB
// / p and 8 GB.
TEST(Manual, HasTheFewestStagesThatFit) {
  const BaselineResult two = find_manual(chain(9.2e9), {});
  ASSERT_EQ(two.status, PlanStatus::feasible) << two.reason;
  EXPECT_EQ(two.plan->parallelism.pipeline, 2);
  EXPECT_EQ(two.plan->parallelism.data, 4);
  EXPECT_EQ(two.plan->stages[0].layers.size(), 4U);
  EXPECT_EQ(two.plan->stages[0].recompute.policy, RecomputePolicy::none);
  const BaselineResult four = find_manual(chain(8.6e9), {});
  ASSERT_EQ(four.status, PlanStatus::feasible) << four.reason;
  EXPECT_EQ(four.plan->parallelism.pipeline, 4);
}

TEST(Manual, RecomputesOnlyWhereNothingFitsWithout) {
  const BaselineResult manual = find_manual(chain(5e9), {});
  ASSERT_EQ(manual.status, PlanStatus::feasible) << manual.reason;
  EXPECT_EQ(manual.plan->parallelism.pipeline, 1);
  EXPECT_EQ(manual.plan->stages[0].recompute, (Recompute{RecomputePolicy::full, 0}));
}

TEST(Manual, SaysWhyNothingFits) {
  const BaselineResult manual = find_manual(chain(1e8), {});
  EXPECT_EQ(manual.status, PlanStatus::infeasible);
  ASSERT_TRUE(manual.plan);
  EXPECT_EQ(manual.plan->parallelism.pipeline, 1);
  EXPECT_NE(manual.reason.find("a device has"), std::string::npos) << manual.reason;
}

TEST(Manual, LiesAsMegatronNumbersItsRanks) {
  const BaselineResult manual = find_manual(chain(9.2e9), {});
  ASSERT_TRUE(manual.plan);
  // Four copies of the first stage, then four of the second.
  EXPECT_EQ(manual.plan->stages[0].devices[3][0], DeviceId(3));
  EXPECT_EQ(manual.plan->stages[1].devices[0][0], DeviceId(4));
}

// Where it fits on one device, nothing is split; where stages are asked for, tensor groups come first.
TEST(Manual, TensorIsAsWideAsTheModelNeeds) {
  PlanQuestion question = test::config_question(test::llama_config(16, 8), {});
  const BaselineResult roomy = find_manual(question, {});
  ASSERT_EQ(roomy.status, PlanStatus::feasible) << roomy.reason;
  EXPECT_EQ(roomy.plan->parallelism.strategy.tensor, 1);
  EXPECT_EQ(roomy.plan->parallelism.data, 8);
  EXPECT_EQ(roomy.plan->parallelism.zero.number(), 1);  // Adam's states are distributed
  question.space.pipeline = Choice(2);
  const BaselineResult staged = find_manual(question, {});
  ASSERT_EQ(staged.status, PlanStatus::feasible) << staged.reason;
  EXPECT_EQ(staged.plan->parallelism.strategy.tensor, 4);
  EXPECT_TRUE(staged.plan->parallelism.strategy.sequence_parallel);
}

TEST(Manual, TensorIsAtMostAsWideAsTheHeadsAllow) {
  const auto tensor = [](std::int64_t heads, std::int64_t key_value_heads) {
    PlanQuestion question = test::config_question(test::llama_config(heads, key_value_heads), {.node = 8});
    question.space.pipeline = Choice(2);
    const BaselineResult manual = find_manual(question, {});
    return manual.plan ? manual.plan->parallelism.strategy.tensor : 0;
  };
  EXPECT_EQ(tensor(16, 16), 8);
  EXPECT_EQ(tensor(12, 12), 4);
  EXPECT_EQ(tensor(6, 6), 2);
  EXPECT_EQ(tensor(16, 2), 8);  // two ranks share a key and value head
  EXPECT_EQ(tensor(24, 6), 2);  // neither of 6 and 4, nor of 6 and 8, divides the other
}

// NVIDIA's guide: experts apart within the node, hardly any tensor parallelism.
TEST(Manual, ExpertsStayWithinTheNode) {
  const std::string config = R"({"model_type": "mixtral", "vocab_size": 32768, "hidden_size": 1024,
    "intermediate_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 8,
    "num_local_experts": 8, "num_experts_per_tok": 2, "max_position_embeddings": 4096})";
  const BaselineResult manual = find_manual(test::config_question(config, {}), {});
  ASSERT_EQ(manual.status, PlanStatus::feasible) << manual.reason;
  const Strategy& strategy = manual.plan->parallelism.strategy;
  EXPECT_EQ(strategy.expert, 4);
  EXPECT_EQ(strategy.expert_tensor_degree(), 1);
  EXPECT_EQ(strategy.tensor, 1);
  EXPECT_EQ(strategy.cell(), 4);
}

TEST(Manual, FollowsWhatIsPinned) {
  PlanQuestion question = test::config_question(test::llama_config(16, 8), {});
  question.space.tensor = Choice(2);
  question.space.pipeline = Choice(2);
  question.space.data_inner = Choice(1);
  question.space.zero = Choice(3);
  question.space.micro_batch = Choice(4);
  question.space.recompute = {{RecomputePolicy::selective, 0}};
  question.space.first_stage_first = {false};
  const BaselineResult manual = find_manual(question, {});
  ASSERT_EQ(manual.status, PlanStatus::feasible) << manual.reason;
  const Parallelism& p = manual.plan->parallelism;
  EXPECT_EQ(p.strategy.tensor, 2);
  EXPECT_EQ(p.pipeline, 2);
  EXPECT_EQ(p.data, 2);
  EXPECT_EQ(p.data_inner, 1);
  EXPECT_EQ(p.zero.number(), 3);
  EXPECT_FALSE(p.first_stage_first);
  EXPECT_EQ(manual.plan->training.micro_batch, 4);
  EXPECT_EQ(manual.plan->stages[0].recompute.policy, RecomputePolicy::selective);
}

TEST(Manual, InterleavesWhereAsked) {
  PlanQuestion question = test::config_question(test::llama_config(16, 8), {});
  question.space.schedules = {Schedule::interleaved};
  question.space.pipeline = Choice(2);
  const BaselineResult manual = find_manual(question, {});
  ASSERT_EQ(manual.status, PlanStatus::feasible) << manual.reason;
  EXPECT_GT(manual.plan->parallelism.interleave, 1);
}

TEST(Manual, KeepsAFrameworksRules) {
  PlanQuestion question = test::config_question(test::llama_config(16, 8), {});
  question.space.rules = find_framework_rules("torchtitan");  // it has no ZeRO 1
  const BaselineResult manual = find_manual(question, {});
  ASSERT_EQ(manual.status, PlanStatus::feasible) << manual.reason;
  EXPECT_EQ(spell(manual.plan->parallelism.zero),
            "ZeRO 3, reshard never");  // what FSDP has in the place of ZeRO 2
}

TEST(Manual, SaysWhichStrategyIsRefused) {
  PlanQuestion question = test::config_question(test::llama_config(6, 6), {});
  question.space.tensor = Choice(4);
  const BaselineResult manual = find_manual(question, {});
  EXPECT_EQ(manual.status, PlanStatus::infeasible);
  EXPECT_NE(manual.reason.find("heads"), std::string::npos) << manual.reason;
}

TEST(Manual, TakesGivenDegrees) {
  BaselineOptions options;
  options.degrees = GivenDegrees{.pipeline = 4, .data = 2, .tensor = 1};
  const BaselineResult given = find_manual(chain(80e9), options);
  ASSERT_EQ(given.status, PlanStatus::feasible) << given.reason;
  EXPECT_EQ(given.plan->parallelism.pipeline, 4);
  EXPECT_EQ(given.plan->parallelism.data, 2);
}

TEST(Manual, IsNeverBetterThanTheSearch) {
  test::never_better(find_manual, 3001, 200);
}

}  // namespace
}  // namespace nest::solve
