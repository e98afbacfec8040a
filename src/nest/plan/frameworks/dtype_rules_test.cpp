// Which dtypes that a plan chooses, and which offloads, each framework has words for.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "nest/plan/frameworks/test_rules.hpp"
#include "nest/plan/inputs.hpp"

namespace nest::plan {
namespace {

constexpr auto kFp32 = StateDType::fp32;
constexpr auto kBf16 = StateDType::bf16;

// The name of the rule on inputs that a choice breaks, with the framework's own recipe.
std::string refused(const std::string& framework, const States& states, const std::string& recipe,
                    Optimizer optimizer = Optimizer::adam) {
  Warnings warnings;
  const PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", recipe, warnings);
  Training training;
  training.sequence = 4096;
  training.states = states;
  training.optimizer = optimizer;
  const InputRule* rule = find_framework_rules(framework)->refusal(inputs, training);
  return rule == nullptr ? "" : std::string(rule->name);
}

TEST(DtypeRules, NothingChosenIsNoMatterOfRules) {
  for (const char* framework : {"megatron", "megatron-bridge", "verl", "ms-swift", "torchtitan", "deepspeed",
                                "accelerate", "maxtext"})
    EXPECT_EQ(refused(framework, {}, "transformers"), "") << framework;
}

TEST(DtypeRules, MegatronHasOneBufferOfGradients) {
  EXPECT_EQ(refused("megatron", {.gradients = kBf16}, "megatron"), "gradients-as-sent");
  EXPECT_EQ(refused("megatron", {.reduction = kBf16}, "megatron"), "gradients-as-sent");
  EXPECT_EQ(refused("megatron", {.gradients = kBf16, .reduction = kBf16}, "megatron"), "");
  EXPECT_EQ(refused("megatron", {.gradients = kBf16}, "megatron-bridge"), "");  // whose reductions are bf16
  EXPECT_EQ(refused("megatron", {.gradients = StateDType::fp16, .reduction = StateDType::fp16}, "megatron"),
            "gradients-as-sent");
  EXPECT_EQ(refused("megatron", {.master_weights = false}, "megatron"), "master-weights");
  EXPECT_EQ(refused("megatron", {.moments = StateDType::fp8, .master_weights = true}, "megatron"), "");
  EXPECT_EQ(refused("ms-swift", {.moments = StateDType::fp8}, "megatron"), "");
  EXPECT_EQ(refused("verl", {.moments = kBf16}, "megatron"), "states-in-32-bits");
  EXPECT_EQ(refused("megatron-bridge", {.gradients = kFp32, .reduction = kFp32}, "megatron-bridge"),
            "reductions-of-precision");
}

TEST(DtypeRules, MegatronsSmallStatesAreTheDistributedOptimizers) {
  PlanDegrees d;
  d.training.states.moments = kBf16;
  EXPECT_EQ(test::broken("megatron", d), "states-need-zero");
  d.parallelism.zero = 1;
  EXPECT_EQ(test::broken("megatron", d), "");
  d.training.states.moments = kFp32;
  d.parallelism.zero = 0;
  EXPECT_EQ(test::broken("megatron", d), "");
}

TEST(DtypeRules, MuonIsAnOptimizerOfSome) {
  for (const char* framework :
       {"megatron@core_v0.15", "megatron-bridge", "verl", "torchtitan", "deepspeed", "accelerate"})
    EXPECT_EQ(refused(framework, {}, "megatron", Optimizer::muon), "no-muon") << framework;
  for (const char* framework : {"megatron", "megatron@core_v0.16", "ms-swift", "maxtext"})
    EXPECT_EQ(refused(framework, {}, "megatron", Optimizer::muon), "") << framework;
}

TEST(DtypeRules, OthersHaveWhatTheyHave) {
  EXPECT_EQ(refused("torchtitan", {kFp32, kFp32, kFp32, false}, "torchtitan"), "");
  for (const States& states : {States{.gradients = kBf16}, States{.reduction = kBf16},
                               States{.moments = kBf16}, States{.master_weights = true}})
    EXPECT_EQ(refused("torchtitan", states, "torchtitan"), "states-in-32-bits") << spell(states);
  EXPECT_EQ(refused("deepspeed", {.gradients = kBf16, .reduction = kFp32}, "deepspeed"), "");
  EXPECT_EQ(refused("deepspeed", {.moments = kBf16}, "deepspeed"), "optimizer-in-32-bits");
  EXPECT_EQ(refused("deepspeed", {.master_weights = false}, "deepspeed"), "optimizer-in-32-bits");
  EXPECT_EQ(refused("maxtext", {.gradients = kBf16, .reduction = kBf16}, "maxtext"), "");
  EXPECT_EQ(refused("maxtext", {.moments = kBf16}, "maxtext"), "dtypes");
  EXPECT_EQ(refused("accelerate", {.gradients = kFp32, .moments = kFp32}, "accelerate"), "");  // fp32 weights
  EXPECT_EQ(refused("accelerate", {.moments = kBf16}, "accelerate"), "dtypes");
  EXPECT_EQ(refused("accelerate", {.moments = kBf16}, "transformers"), "");  // of a model in bf16
}

constexpr Offload kOptimizer{.optimizer = true};

TEST(DtypeRules, OffloadedOptimizersAreThoseThatTheHostUpdates) {
  for (const char* framework : {"megatron", "megatron-bridge", "verl", "ms-swift", "deepspeed", "accelerate"})
    EXPECT_EQ(refused(framework, {.offload = kOptimizer}, "transformers"), "") << framework;
  for (const char* framework : {"torchtitan", "maxtext"})
    EXPECT_EQ(refused(framework, {.offload = kOptimizer}, framework), "no-offload") << framework;
  for (const char* framework : {"megatron", "megatron-bridge", "verl", "ms-swift", "torchtitan", "deepspeed",
                                "accelerate", "maxtext"})
    EXPECT_EQ(refused(framework, {.offload = {.activations = true}}, "transformers"), "activations-on-device")
        << framework;
}

TEST(DtypeRules, OffloadedOptimizersAreShardedOnes) {
  PlanDegrees d;
  d.training.states.offload = kOptimizer;
  d.parallelism.data = 8;
  d.parallelism.zero_shards = 8;
  for (const auto& [framework, rule, most] : {std::tuple{"megatron", "offload-needs-zero-1", 1},
                                              {"deepspeed", "offload-needs-zero", 3},
                                              {"accelerate", "offload-with-deepspeed", 1}}) {
    for (const std::int64_t zero : {0, 1, 2, 3}) {
      d.parallelism.zero = zero;
      EXPECT_EQ(test::broken(framework, d), zero >= 1 && zero <= most ? "" : rule)
          << framework << " " << zero;
    }
  }
  d.parallelism.zero = 1;
  d.training.optimizer = Optimizer::sgd;
  EXPECT_EQ(test::broken("deepspeed", d), "offload-needs-zero");
  d.training.optimizer = Optimizer::adam;
  d.training.states.moments = kBf16;
  EXPECT_EQ(test::broken("megatron", d), "offload-needs-zero-1");
}

}  // namespace
}  // namespace nest::plan
