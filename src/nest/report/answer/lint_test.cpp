#include "nest/report/answer/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/cluster/resize.hpp"
#include "nest/frameworks/torchtitan/titan_dialect.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;

PlanInputs inputs_on(const std::string& model, std::int64_t devices) {
  Warnings warnings;
  PlanInputs inputs = load_inputs(model, "h100-spine-leaf", "megatron", warnings);
  inputs.cluster = with_devices(inputs.cluster, devices);
  return inputs;
}

Plan plan_of(const PlanInputs& inputs, std::int64_t tensor, std::int64_t pipeline, std::int64_t batch) {
  Plan plan;
  plan.training = {.global_batch = batch, .sequence = 4096, .micro_batch = 1, .micro_batches = 0};
  plan.parallelism.strategy.tensor = tensor;
  plan.parallelism.strategy.sequence_parallel = tensor > 1;
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.data = inputs.cluster.devices() / tensor / pipeline;
  plan.parallelism.data_inner = plan.parallelism.data;
  Pricer pricer(inputs);
  return pricer.place(pricer.complete(plan));
}

const LintFinding* find(const LintReport& report, std::string_view rule) {
  for (const LintFinding& finding : report.findings)
    if (finding.rule == rule) return &finding;
  return nullptr;
}

TEST(Lint, SaysWhatIsOverAndWhichFlagsWouldFit) {
  const PlanInputs inputs = inputs_on("llama2-13b", 16);
  const Plan plan = plan_of(inputs, 1, 1, 64);
  const LintReport report = lint(plan, inputs, {});
  EXPECT_EQ(report.priced.status, PriceStatus::infeasible);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings.front().rule, "memory");
  EXPECT_EQ(report.findings.front().kind, LintKind::wrong);
  EXPECT_THAT(report.findings.front().sentence, HasSubstr("over on rank 0"));
  ASSERT_TRUE(report.best);
  EXPECT_FALSE(report.changes.empty());
  ASSERT_NE(find(report, "best-plan"), nullptr);
  EXPECT_THAT(find(report, "best-plan")->sentence, HasSubstr("fits (it takes "));
  EXPECT_THAT(lint_text(report, plan, inputs), HasSubstr("wrong  stage 0 is "));
}

TEST(Lint, FindsGroupsThatStraddleNodesAndLongBubbles) {
  const PlanInputs inputs = inputs_on("llama2-7b", 32);
  Plan plan = plan_of(inputs, 8, 4, 8);
  // The tensor groups of two cells mixed over two nodes.
  std::swap(plan.stages[0].devices[0][0], plan.stages[1].devices[0][0]);
  const LintReport report = lint(plan, inputs, {});
  ASSERT_NE(find(report, "tensor-across-nodes"), nullptr);
  EXPECT_THAT(find(report, "tensor-across-nodes")->sentence, HasSubstr("tensor groups straddle nodes: "));
  EXPECT_GT(find(report, "tensor-across-nodes")->share, 0.05);
  EXPECT_GT(report.speedup, 1);
  const LintReport idle = lint(plan_of(inputs, 8, 4, 8), inputs, {});
  EXPECT_EQ(find(idle, "tensor-across-nodes"), nullptr);
  ASSERT_NE(find(idle, "bubble"), nullptr);
  EXPECT_GT(find(idle, "bubble")->share, 0.2);  // 3 / 11
}

TEST(Lint, HasNothingToSayOfTheBestPlan) {
  const PlanInputs inputs = inputs_on("llama2-7b", 32);
  const LintReport first = lint(plan_of(inputs, 8, 4, 64), inputs, {});
  ASSERT_TRUE(first.best);
  const LintReport best = lint(*first.best, inputs, {});
  EXPECT_NEAR(best.speedup, 1, 1e-9);
  EXPECT_EQ(find(best, "best-plan"), nullptr);
  EXPECT_TRUE(best.changes.empty());
}

// Sixteen ranks on a cluster of 1,024 devices are set beside the best plan of sixteen.
TEST(Lint, TheBestPlanHasNoMoreDevices) {
  const PlanInputs small = inputs_on("llama2-7b", 16);
  const Plan plan = plan_of(small, 8, 2, 64);
  Warnings warnings;
  const LintReport report = lint(plan, load_inputs("llama2-7b", "h100-spine-leaf", "megatron", warnings), {});
  ASSERT_TRUE(report.best);
  EXPECT_LE(report.best->parallelism.devices(), 16);
}

// Flags that cost nothing come first, and the best plan has them.
TEST(Lint, FreeFlagsThenOneFlagThenTheBestPlan) {
  PlanInputs inputs = inputs_on("llama2-7b", 32);
  inputs.recipe.overlap.gradient_reduce = inputs.recipe.overlap.parameter_gather = 0;
  Plan plan = plan_of(inputs, 2, 1, 64);
  plan.parallelism.zero = 1;
  plan.parallelism.zero_shards = plan.parallelism.data;
  for (Stage& stage : plan.stages) stage.recompute = {RecomputePolicy::full, 0};
  const LintReport report = lint(plan, inputs, {});
  ASSERT_NE(find(report, "free-flags"), nullptr);
  EXPECT_THAT(find(report, "free-flags")->sentence,
              HasSubstr("--overlap-grad-reduce and --overlap-param-gather cost nothing: 1."));
  ASSERT_NE(find(report, "one-flag"), nullptr);
  EXPECT_THAT(find(report, "one-flag")->sentence, HasSubstr(" of memory)"));
  EXPECT_GT(find(report, "one-flag")->share, find(report, "free-flags")->share);
  ASSERT_TRUE(report.best);
  EXPECT_GE(report.speedup, 1 / (1 - find(report, "one-flag")->share) * (1 - 1e-9));
}

TEST(Lint, OurOwnRulesHoldForTheUsersLine) {
  const PlanInputs inputs = inputs_on("mixtral-8x7b", 16);
  Plan plan = plan_of(inputs, 2, 1, 64);
  plan.parallelism.strategy.sequence_parallel = false;
  for (Stage& stage : plan.stages) stage.strategy.sequence_parallel = false;
  const LintReport report = lint(plan, inputs, {});
  ASSERT_NE(find(report, "rule"), nullptr);
  EXPECT_THAT(find(report, "rule")->sentence, HasSubstr("sequence parallelism"));
}

// 32 blocks of 4,096 x (2 * 4,096 + 11,008 - 4,096) values, a byte of each in doubt.
TEST(Lint, SaysWhatIsInDoubtInFp8) {
  const PlanInputs inputs = inputs_on("llama2-7b", 8);
  Plan plan = plan_of(inputs, 1, 1, 64);
  plan.training.precision = Precision::fp8;
  const LintReport report = lint(plan, inputs, {});
  ASSERT_NE(find(report, "fp8-memory"), nullptr);
  EXPECT_EQ(
      find(report, "fp8-memory")->sentence,
      "1.98 GB of it are in doubt: in fp8 the inputs of products are kept in 8 bits, and 16 are priced");
}

// The same run in the words of torchtitan's file, by the rules of torchtitan.
TEST(Lint, SpeaksTheDialectOfTheFile) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama2-7b", "h100-spine-leaf", "torchtitan", warnings);
  inputs.cluster = with_devices(inputs.cluster, 16);
  inputs.recipe.compiled = false;
  Plan plan = plan_of(inputs, 2, 1, 64);
  plan.parallelism.zero = 1;
  plan.parallelism.zero_shards = plan.parallelism.data;
  const LintReport report = lint(plan, inputs, {}, {}, torchtitan_dialect());
  ASSERT_NE(find(report, "rule"), nullptr);
  EXPECT_THAT(find(report, "rule")->sentence, HasSubstr("torchtitan shards with FSDP"));
  ASSERT_NE(find(report, "free-flags"), nullptr);
  EXPECT_THAT(find(report, "free-flags")->sentence, HasSubstr("compile.enable = true costs nothing"));
  ASSERT_FALSE(report.changes.empty());
  EXPECT_THAT(lint_text(report, plan, inputs), HasSubstr("\nsetting "));
}

TEST(Lint, JsonHasFindingsAndChanges) {
  const PlanInputs inputs = inputs_on("llama2-7b", 32);
  const Plan plan = plan_of(inputs, 8, 4, 64);
  const std::string json = to_json(to_value(lint(plan, inputs, {}), plan));
  for (const char* key : {"\"findings\"", "\"best\"", "\"speedup\"", "\"changes\"", "\"flag\""})
    EXPECT_THAT(json, HasSubstr(key));
}

}  // namespace
}  // namespace nest::report
