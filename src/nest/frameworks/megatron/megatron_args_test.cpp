#include "nest/frameworks/megatron/megatron_args.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_validators.hpp"

namespace nest::frameworks {
namespace {

test::Args args_of(const ExportQuestion& question, std::vector<std::string>* lost = nullptr) {
  const test::Exported out = test::exported("megatron", question);
  EXPECT_EQ(out.result.rule, "") << out.result.sentence;
  if (lost != nullptr) *lost = out.result.lost;
  return test::read_args(out.files.at("megatron_args.txt"));
}

TEST(MegatronArgs, ZeroIsTheOptimizersOrFsdp) {
  test::Planner planner("llama3.1-8b");
  for (const std::int64_t zero : {0, 1, 2, 3}) {
    Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 2, 8);
    plan.parallelism.zero = zero;
    plan.parallelism.zero_shards = zero > 0 ? 4 : 0;
    const test::Args args = args_of(planner.question(plan));
    EXPECT_EQ(args.has("use-distributed-optimizer"), zero > 0);
    EXPECT_EQ(args.text("num-distributed-optimizer-instances"), zero > 0 ? "2" : "");
    EXPECT_EQ(args.text("data-parallel-sharding-strategy"), zero == 3   ? "optim_grads_params"
                                                            : zero == 2 ? "optim_grads"
                                                                        : "");
    EXPECT_EQ(args.has("overlap-param-gather"), zero > 0);
    EXPECT_EQ(args.has("init-model-with-meta-device"), zero > 1);
  }
}

// Gradients of Megatron-FSDP are the model's since core_v0.17; the recipe prices 32 bits.
TEST(MegatronArgs, FsdpsGradientsAreThoseThatWerePriced) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 1, 8);
  plan.parallelism.zero = 3;
  ExportQuestion question = planner.question(plan);
  for (const auto& [release, dtype] :
       {std::pair("core_v0.16", ""), {"core_v0.17", "fp32"}, {"main", "fp32"}}) {
    question.release = find_releases("megatron")->find(release);
    const test::Args args = args_of(question);
    EXPECT_EQ(args.text("megatron-fsdp-main-grads-dtype"), dtype) << release;
    EXPECT_EQ(args.text("megatron-fsdp-grad-comm-dtype"), dtype) << release;
  }
  question.inputs.recipe.gradient_dtype = question.inputs.recipe.reduce_dtype = StateDType::bf16;
  EXPECT_EQ(args_of(question).text("megatron-fsdp-main-grads-dtype"), "bf16");
  EXPECT_EQ(args_of(question).text("megatron-fsdp-grad-comm-dtype"), "bf16");
}

// What a plan chooses has flags; what the recipe alone says of moments is lost.
TEST(MegatronArgs, SmallStatesAreThePrecisionAwareOptimizers) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 1, 8);
  plan.parallelism.zero = 1;
  ExportQuestion question = planner.question(plan);
  EXPECT_FALSE(args_of(question).has("use-precision-aware-optimizer"));
  question.inputs.recipe.optimizer_dtype = StateDType::bf16;
  std::vector<std::string> lost;
  EXPECT_FALSE(args_of(question, &lost).has("use-precision-aware-optimizer"));
  EXPECT_FALSE(lost.empty());
  question.plan.training.states = {StateDType::bf16, StateDType::bf16, StateDType::fp8, true};
  const test::Args args = args_of(question, &lost);
  EXPECT_TRUE(args.has("use-precision-aware-optimizer"));
  EXPECT_EQ(args.text("exp-avg-dtype"), "fp8");
  EXPECT_EQ(args.text("exp-avg-sq-dtype"), "fp8");
  EXPECT_TRUE(args.has("grad-reduce-in-bf16"));
  EXPECT_TRUE(lost.empty());
  question.plan.parallelism.zero = 0;
  EXPECT_EQ(
      test::exported("megatron", question).result.sentence,
      "Megatron-LM's optimizer with states in fewer than 32 bits is the distributed one: it needs ZeRO and "
      "Adam");
}

// The hybrid optimizer takes the code path of the precision-aware one, which is distributed.
TEST(MegatronArgs, AnOptimizerInHostMemory) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 1, 8);
  plan.parallelism.zero = 1;
  EXPECT_FALSE(args_of(planner.question(plan)).has("optimizer-cpu-offload"));
  plan.training.states.offload.optimizer = true;
  const test::Args args = args_of(planner.question(plan));
  for (const char* flag :
       {"optimizer-cpu-offload", "use-precision-aware-optimizer", "overlap-cpu-optimizer-d2h-h2d"})
    EXPECT_TRUE(args.has(flag)) << flag;
  EXPECT_EQ(args.text("optimizer-offload-fraction"), "1.0");
  EXPECT_FALSE(args.has("exp-avg-dtype"));
  plan.parallelism.zero = 0;
  EXPECT_EQ(test::exported("megatron", planner.question(plan)).result.sentence,
            "Megatron-LM offloads Adam's states of 32 bits, and its distributed optimizer: ZeRO 1");
  plan.training.states.offload = {.activations = true};
  EXPECT_EQ(test::exported("megatron", planner.question(plan)).result.sentence,
            "NEST's export for Megatron-LM has no words for activations in host memory");
}

TEST(MegatronArgs, MuonSharesItsMatricesByItself) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 1, 8);
  plan.training.optimizer = Optimizer::muon;
  EXPECT_EQ(args_of(planner.question(plan)).text("optimizer"), "muon");
  plan.parallelism.zero = 1;
  const test::Args args = args_of(planner.question(plan));
  EXPECT_EQ(args.text("optimizer"), "dist_muon");
  EXPECT_FALSE(args.has("use-distributed-optimizer"));
  ExportQuestion old = planner.question(plan);
  old.release = find_releases("megatron")->find("core_v0.15");
  EXPECT_EQ(test::exported("megatron", old).result.sentence, "Megatron-LM has Muon from core_v0.16 on");
}

TEST(MegatronArgs, AttentionIsLeftToTheLibraryAndHasNoMaskInMemory) {
  test::Planner planner("deepseek-v2-lite");
  const test::Args args = args_of(planner.question(test::degrees({}, 1, 8)));
  EXPECT_EQ(args.text("attention-backend"), "auto");
  EXPECT_TRUE(args.has("no-create-attention-mask-in-dataloader"));
}

// Smoke runs say how long each step takes and at which rate.
TEST(MegatronArgs, SmokeRunsAreMeasured) {
  test::Planner planner("llama3.1-8b");
  const test::Exported out = test::exported("megatron", planner.question(test::degrees({}, 1, 8)));
  EXPECT_NE(out.files.at("megatron.sh").find("--log-interval 1 --log-throughput"), std::string::npos);
}

std::string refused(const ExportQuestion& question, const char* release = "core_v0.19") {
  ExportQuestion of = question;
  of.release = find_releases("megatron")->find(release);
  const test::Exported out = test::exported("megatron", of);
  return out.result.rule;
}

TEST(MegatronArgs, RefusesWhatWouldStopAtTheStart) {
  test::Planner dense("llama3.1-8b");
  Plan sgd = test::degrees({}, 1, 8);
  sgd.training.optimizer = Optimizer::sgd;
  EXPECT_EQ(refused(dense.question(sgd)), "");
  sgd.parallelism.zero = 1;
  EXPECT_EQ(refused(dense.question(sgd)), "zero-needs-adam");
  test::Planner experts("mixtral-8x7b");
  EXPECT_EQ(refused(experts.question(test::degrees({.tensor = 2}, 1, 8))), "experts-need-sequence-parallel");
  EXPECT_EQ(refused(experts.question(test::degrees({.tensor = 2, .sequence_parallel = true}, 1, 8))), "");
  for (const char* model : {"t5-small", "bert-base"}) {
    test::Planner old(model);
    Plan plan = test::degrees({}, 1, 8);
    plan.training.sequence = 512;
    EXPECT_EQ(refused(old.question(plan)), "no-t5-and-bert");
    EXPECT_EQ(refused(old.question(plan), "main"), "no-t5-and-bert");
    EXPECT_EQ(refused(old.question(plan), "core_v0.17"), "");
  }
}

TEST(MegatronArgs, RefusesOtherDevices) {
  for (const auto& [cluster, rule] : {std::pair("tpu-v5p-128", "gpu-devices"),
                                      {"aws-trn2", "gpu-devices"},
                                      {"gaudi2-ethernet", "gpu-devices"},
                                      {"dgx2-v100", "bf16-devices"},
                                      {"dgx-a100-superpod", ""},
                                      {"mi300x-roce", ""}}) {
    test::Planner planner("gpt2", "megatron", cluster);
    Plan plan = test::degrees({}, 1, 8);
    plan.training.sequence = 1024;
    EXPECT_EQ(refused(planner.question(plan)), rule) << cluster;
    plan.training.precision = Precision::fp16;
    EXPECT_EQ(refused(planner.question(plan)), std::string_view(rule) == "bf16-devices" ? "" : rule)
        << cluster;
  }
}

TEST(MegatronArgs, RecomputationIsOfBlocksOrOfAll) {
  test::Planner planner("llama3.1-8b");
  const auto of = [&](const Recompute& r) {
    Plan plan = test::degrees({}, 2, 8);
    plan.default_recompute = r;
    const test::Args a = args_of(planner.question(plan));
    return a.text("recompute-granularity") + " " + a.text("recompute-method") + " " +
           a.text("recompute-num-layers");
  };
  EXPECT_EQ(of({}), "  ");
  EXPECT_EQ(of({RecomputePolicy::selective, 0}), "selective  ");
  EXPECT_EQ(of({RecomputePolicy::full, 0}), "full uniform 1");
  EXPECT_EQ(of({RecomputePolicy::full, 3}), "full block 3");
  const RecomputeModules two{RecomputeModule::mlp, RecomputeModule::layernorm};
  EXPECT_EQ(of({RecomputePolicy::modules, 0, two}), "selective  ");
  Plan plan = test::degrees({}, 2, 8);
  plan.default_recompute = {RecomputePolicy::modules, 0, two};
  EXPECT_NE(test::exported("megatron", planner.question(plan))
                .files.at("megatron_args.txt")
                .find("\n--recompute-modules layernorm mlp\n"),
            std::string::npos);
  plan.default_recompute.layers = 2;
  EXPECT_EQ(test::exported("megatron", planner.question(plan)).result.sentence,
            "Megatron-LM runs modules of all layers of a stage again or of none: modules layernorm, mlp on 2 "
            "layers");
}

TEST(MegatronArgs, UnevenStagesAreALayout) {
  test::Planner planner("llama3.1-8b");
  EXPECT_FALSE(args_of(planner.question(test::degrees({}, 4, 8))).has("pipeline-model-parallel-layout"));
  EXPECT_EQ(args_of(planner.question(test::degrees({}, 3, 8))).text("pipeline-model-parallel-layout"),
            "Et*11|t*11|t*10L");
  Plan plan = test::degrees({}, 4, 8);
  plan.parallelism.interleave = 2;
  plan.parallelism.schedule = Schedule::interleaved;
  EXPECT_EQ(args_of(planner.question(plan)).text("num-virtual-stages-per-pipeline-rank"), "2");
}

// GLM-4.5 has one module, which stands before the loss; equal stages need no layout.
TEST(MegatronArgs, ModulesForMultiTokenPrediction) {
  test::Planner planner("glm-4.5");
  Plan plan = test::degrees({.expert = 8}, 3, 8);
  plan.training.mtp = true;
  const test::Args uneven = args_of(planner.question(plan));
  EXPECT_EQ(uneven.text("mtp-num-layers"), "1");
  EXPECT_EQ(uneven.text("pipeline-model-parallel-layout"), "Et*31|t*31|t*30mL");
  plan.parallelism.pipeline = 4;
  const test::Args even = args_of(planner.question(plan));
  EXPECT_EQ(even.text("mtp-num-layers"), "1");
  EXPECT_FALSE(even.has("pipeline-model-parallel-layout"));
  plan.training.mtp = false;
  EXPECT_FALSE(args_of(planner.question(plan)).has("mtp-num-layers"));
}

TEST(MegatronArgs, ContextAndExperts) {
  test::Planner planner("mixtral-8x7b");
  const test::Args a = args_of(planner.question(test::degrees({.tensor = 2,
                                                               .sequence_parallel = true,
                                                               .context = 2,
                                                               .context_method = ContextMethod::all_to_all,
                                                               .expert = 4,
                                                               .expert_tensor = 1},
                                                              2, 8)));
  EXPECT_EQ(a.text("cp-comm-type"), "a2a");
  EXPECT_EQ(a.text("expert-model-parallel-size"), "4");
  EXPECT_EQ(a.text("expert-tensor-parallel-size"), "1");
  EXPECT_TRUE(a.has("moe-grouped-gemm"));
}

// Neighbours trade heads, groups of them form rings: the order of Megatron-LM's sizes.
TEST(MegatronArgs, HybridContextNamesItsGroups) {
  test::Planner planner("llama3.1-8b");
  const Strategy hybrid{.context = 8, .context_method = ContextMethod::hybrid, .context_inner = 4};
  std::vector<std::string> lost;
  const test::Args a = args_of(planner.question(test::degrees(hybrid, 1, 8)), &lost);
  EXPECT_EQ(a.text("cp-comm-type"), "a2a+p2p");
  EXPECT_EQ(a.text("hierarchical-context-parallel-sizes"), "4 2");
  EXPECT_TRUE(lost.empty());
}

// Two stages that interleave overlap their sends whatever the recipe says.
TEST(MegatronArgs, OverlapIsTheRecipes) {
  test::Planner planner("llama3.1-8b", "plain");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 2, 8);
  plan.parallelism.zero = 1;
  plan.parallelism.interleave = 2;
  plan.parallelism.schedule = Schedule::interleaved;
  std::vector<std::string> lost;
  test::Args a = args_of(planner.question(plan), &lost);
  EXPECT_FALSE(a.has("overlap-grad-reduce") || a.has("overlap-param-gather"));
  EXPECT_FALSE(a.has("no-overlap-p2p-communication"));
  EXPECT_NE(std::find(lost.begin(), lost.end(), "two interleaved stages always overlap their sends"),
            lost.end());
  plan.parallelism.pipeline = 4;
  EXPECT_TRUE(args_of(planner.question(plan)).has("no-overlap-p2p-communication"));
}

// Without a decoder and a pipeline, the parallelism is written and the model is the user's.
TEST(MegatronArgs, OtherModelsAreLeftToTheUser) {
  test::Planner planner("t5-small");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 1, 8);
  plan.training.sequence = 512;
  std::vector<std::string> lost;
  ExportQuestion question = planner.question(plan);
  question.release = find_releases("megatron")->find("core_v0.17");  // the last with T5
  const test::Args a = args_of(question, &lost);
  EXPECT_FALSE(a.has("num-layers"));
  EXPECT_EQ(a.text("tensor-model-parallel-size"), "2");
  EXPECT_EQ(lost.front(), "the model's shape: its own flags go into MODEL_ARGS");
}

}  // namespace
}  // namespace nest::frameworks
