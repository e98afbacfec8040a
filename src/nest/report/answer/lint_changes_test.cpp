#include "nest/report/answer/lint_changes.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/resize.hpp"

namespace nest::report {
namespace {

PlanInputs some_inputs() {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama2-7b", "h100-spine-leaf", "megatron", warnings);
  inputs.cluster = with_devices(inputs.cluster, 16);
  return inputs;
}

TEST(LintChanges, FreeFlagsAreThoseThatAreOff) {
  PlanInputs inputs = some_inputs();
  EXPECT_TRUE(with_free_flags(inputs).flags.empty());
  inputs.recipe.overlap.gradient_reduce = 0;
  const FreeFlags free = with_free_flags(inputs);
  EXPECT_EQ(free.flags, (std::vector<std::string>{"--overlap-grad-reduce"}));
  EXPECT_EQ(free.inputs.recipe.overlap, some_inputs().recipe.overlap);
}

// Full recomputation that nothing needs is the flag to drop.
TEST(LintChanges, TheBestOfOneFlag) {
  const PlanInputs inputs = some_inputs();
  Plan plan;
  plan.training = {.global_batch = 64, .sequence = 4096, .micro_batch = 1, .micro_batches = 0};
  plan.parallelism.strategy.tensor = 4;
  plan.parallelism.strategy.sequence_parallel = true;
  plan.parallelism.data = plan.parallelism.data_inner = 4;
  Pricer pricer(inputs);
  plan = pricer.place(pricer.complete(plan));
  for (Stage& stage : plan.stages) stage.recompute = {RecomputePolicy::full, 0};
  const auto best = best_single_change(plan, inputs);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->flag, "no --recompute-granularity");
  EXPECT_LT(best->step, pricer.price(plan).predicted.step);
  EXPECT_GT(best->memory, 0);
  EXPECT_LT(best->memory, 1);
  EXPECT_EQ(broken_rule(best->plan, inputs), "");
}

}  // namespace
}  // namespace nest::report
