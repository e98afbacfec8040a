#include "nest/frameworks/accelerate/accelerate_import.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

// As `accelerate config` writes it.
constexpr const char* kHybrid = R"(compute_environment: LOCAL_MACHINE
debug: false
distributed_type: FSDP
downcast_bf16: 'no'
fsdp_config:
  fsdp_activation_checkpointing: true
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_offload_params: false
  fsdp_reshard_after_forward: true
  fsdp_version: 2
machine_rank: 0
mixed_precision: bf16
num_machines: 2
num_processes: 16
parallelism_config:
  parallelism_config_cp_size: 1
  parallelism_config_dp_replicate_size: 2
  parallelism_config_dp_shard_size: 4
  parallelism_config_tp_size: 2
)";

ImportQuestion some(const std::string& text) {
  ImportQuestion question{
      .file = "x.yaml", .text = text, .model = "llama3.1-8b", .cluster = "h100-spine-leaf"};
  question.given.sequence = 4096;
  question.given.micro_batch = 1;
  return question;
}

OpenPlan imported(const std::string& text, Warnings& warnings) {
  return import_accelerate(some(text), warnings);
}

std::string problem(const std::string& text) {
  return message_of([&] {
    Warnings warnings;
    static_cast<void>(imported(text, warnings));
  });
}

std::string without(std::string text, const std::string& words) {
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words))
    text.erase(at, words.size());
  return text;
}

TEST(AccelerateImport, ReadsAMesh) {
  Warnings warnings;
  const OpenPlan open = imported(kHybrid, warnings);
  EXPECT_TRUE(warnings.empty());
  const Parallelism& p = open.plan.parallelism;
  EXPECT_EQ(std::tuple(p.strategy.tensor, p.strategy.context, p.data, p.zero.number(), p.zero_shards),
            std::tuple(2, 1, 8, 3, 4));
  EXPECT_EQ(open.plan.training.global_batch, 8);
  EXPECT_EQ(open.plan.stages[0].recompute.policy, RecomputePolicy::full);
  EXPECT_FALSE(open.inputs.recipe.compiled);
}

TEST(AccelerateImport, KeysMayHaveNoPrefix) {
  Warnings warnings;
  const OpenPlan with = imported(kHybrid, warnings);
  const OpenPlan plain = imported(without(without(kHybrid, "parallelism_config_"), "fsdp_a"), warnings);
  EXPECT_EQ(with.plan.parallelism, plain.plan.parallelism);
  EXPECT_TRUE(warnings.empty());
}

TEST(AccelerateImport, KnowsTheFirstFsdp) {
  const auto zero = [](const std::string& strategy) {
    Warnings warnings;
    const Parallelism p = imported(
                              "distributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 2\n"
                              "num_processes: 16\nfsdp_config:\n  fsdp_sharding_strategy: " +
                                  strategy + "\n",
                              warnings)
                              .plan.parallelism;
    return std::pair(spell(p.zero), p.zero.shards_anything() ? p.zero_shards : 0);
  };
  EXPECT_EQ(zero("FULL_SHARD"), std::pair(std::string("ZeRO 3"), std::int64_t{16}));
  EXPECT_EQ(zero("1"), std::pair(std::string("ZeRO 3"), std::int64_t{16}));
  EXPECT_EQ(zero("SHARD_GRAD_OP"), std::pair(std::string("ZeRO 3, reshard never"), std::int64_t{16}));
  EXPECT_EQ(zero("NO_SHARD"), std::pair(std::string("ZeRO 0"), std::int64_t{0}));
  EXPECT_EQ(zero("HYBRID_SHARD"), std::pair(std::string("ZeRO 3"), std::int64_t{8}));
  EXPECT_EQ(
      problem("distributed_type: FSDP\nmixed_precision: bf16\nfsdp_config: {fsdp_sharding_strategy: SOME}\n"
              "num_processes: 8\n"),
      "x.yaml: line 3, fsdp_config.fsdp_sharding_strategy: there is no sharding strategy 'SOME'");
}

TEST(AccelerateImport, ReadsDeepSpeedsWords) {
  ImportQuestion question = some(
      "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\n"
      "deepspeed_config:\n  zero_stage: 2\n  gradient_accumulation_steps: 4\n  offload_optimizer_device: "
      "none\n");
  Warnings warnings;
  OpenPlan open = import_accelerate(question, warnings);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(open.plan.parallelism.zero.number(), 2);
  EXPECT_EQ(open.plan.training.global_batch, 32);
  EXPECT_EQ(open.inputs.recipe.framework, "deepspeed");
  EXPECT_FALSE(open.plan.training.states.offload.any());
  question.text.replace(question.text.rfind("none"), 4, "cpu");
  EXPECT_TRUE(import_accelerate(question, warnings).plan.training.states.offload.optimizer);
  question.text =
      "distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n  deepspeed_config_file: "
      "sub/ds.json\n";
  question.beside = [](const std::string& name) -> std::optional<std::string> {
    if (name != "sub/ds.json") return std::nullopt;
    return R"({"bf16": {"enabled": true}, "zero_optimization": {"stage": 3}, "sequence_parallel_size": 4,
               "train_micro_batch_size_per_gpu": 1})";
  };
  open = import_accelerate(question, warnings);
  EXPECT_EQ(open.plan.parallelism.zero.number(), 3);
  EXPECT_EQ(open.plan.parallelism.data, 2);
  question.beside = nullptr;
  EXPECT_EQ(message_of([&] { static_cast<void>(import_accelerate(question, warnings)); }),
            "x.yaml: line 4, deepspeed_config.deepspeed_config_file: 'sub/ds.json' cannot be read");
}

TEST(AccelerateImport, ReadsPlainCopies) {
  Warnings warnings;
  const OpenPlan open = imported(
      "distributed_type: MULTI_GPU\nmixed_precision: fp16\nnum_processes: 8\ndynamo_backend: INDUCTOR\n",
      warnings);
  EXPECT_EQ(open.plan.parallelism.data, 8);
  EXPECT_FALSE(open.plan.parallelism.zero.shards_anything());
  EXPECT_EQ(open.plan.training.precision, Precision::fp16);
  EXPECT_TRUE(open.inputs.recipe.compiled);
}

TEST(AccelerateImport, RefusesAndWarns) {
  EXPECT_EQ(
      problem("distributed_type: MEGATRON_LM\n"),
      "x.yaml: distributed_type: Accelerate's Megatron-LM is not read here; give Megatron-LM's own flags");
  EXPECT_EQ(problem("distributed_type: XLA\n"),
            "x.yaml: line 1, distributed_type: FSDP, DEEPSPEED, MULTI_GPU or NO is expected, not 'XLA'");
  EXPECT_EQ(problem("distributed_type: MULTI_GPU\nmixed_precision: 'no'\n"),
            "x.yaml: mixed_precision: it is not on: a plan has no training in 32 bits; --precision sets one");
  EXPECT_EQ(problem("distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 16\n"
                    "parallelism_config: {cp_size: 2, sp_size: 2}\n"),
            "x.yaml: line 4, parallelism_config.sp_size: context and sequence ranks exclude each other");
  EXPECT_EQ(problem("distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 16\n"
                    "parallelism_config: {dp_replicate_size: 2, dp_shard_size: 4, tp_size: 4}\n"),
            "x.yaml: 16 ranks leave 4 for data parallelism, and the file says 8");
  Warnings warnings;
  static_cast<void>(imported(std::string(kHybrid) + "  parallelism_config_pp_size: 2\n", warnings));
  EXPECT_EQ(warnings,
            Warnings{"x.yaml: line 20, parallelism_config.parallelism_config_pp_size: it is not understood: "
                     "the plan does not have it"});
}

}  // namespace
}  // namespace nest::frameworks
