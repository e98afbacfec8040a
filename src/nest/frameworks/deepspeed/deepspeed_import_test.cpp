#include "nest/frameworks/deepspeed/deepspeed_import.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_imports.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

ImportQuestion some(const std::string& text) {
  ImportQuestion question{
      .file = "ds.json", .text = text, .model = "llama3.1-8b", .cluster = "h100-spine-leaf"};
  question.devices = 16;
  question.given.sequence = 4096;
  return question;
}

std::string problem(const std::string& text) {
  return message_of([&] {
    Warnings warnings;
    static_cast<void>(import_deepspeed(some(text), warnings));
  });
}

TEST(DeepSpeedImport, ReadsAConfiguration) {
  Warnings warnings;
  const OpenPlan open = import_deepspeed(
      some(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true},
               "optimizer": {"type": "FusedAdam"}, "data_types": {"grad_accum_dtype": "fp32"},
               "zero_optimization": {"stage": 3, "mics_shard_size": 8, "reduce_bucket_size": 5e7},
               "sequence_parallel_size": 2, "activation_checkpointing": {"partition_activations": true}})"),
      warnings);
  EXPECT_TRUE(warnings.empty());
  const Parallelism& p = open.plan.parallelism;
  EXPECT_EQ(std::tuple(p.data, p.zero.number(), p.zero_shards, p.strategy.context), std::tuple(8, 3, 8, 2));
  EXPECT_EQ(p.strategy.context_method, ContextMethod::all_to_all);
  EXPECT_EQ(open.plan.training.micro_batches, 4);
  EXPECT_EQ(open.plan.stages[0].recompute.policy, RecomputePolicy::full);
  EXPECT_EQ(open.inputs.recipe.gradient_dtype, StateDType::fp32);
  EXPECT_EQ(open.inputs.recipe.buckets, Bytes(1'100'000'000));
  EXPECT_EQ(open.inputs.recipe.overlap.gradient_reduce, 1) << "on by default with stage 3";
}

// Hugging Face's "auto" is known to its trainer only.
TEST(DeepSpeedImport, SaysWhatAutoIsTakenFor) {
  ImportQuestion question = some(R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
"gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2}})");
  Warnings warnings;
  OpenPlan open = import_deepspeed(question, warnings);
  EXPECT_EQ(
      warnings,
      (Warnings{
          "ds.json: line 2, bf16.enabled: \"auto\" is not known here: bf16 is assumed, --precision sets "
          "another",
          "ds.json: line 1, train_micro_batch_size_per_gpu: \"auto\" is not known here: 1 is assumed, "
          "--micro-batch sets another",
          "ds.json: line 1, train_batch_size: \"auto\" is not known here: 16 is assumed, --global-batch "
          "sets another"}));
  EXPECT_EQ(open.inputs.recipe.overlap.gradient_reduce, 0) << "off by default below stage 3";
  question.given.micro_batch = 2;
  question.given.global_batch = 64;
  question.given.precision = Precision::fp16;
  warnings.clear();
  open = import_deepspeed(question, warnings);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(open.plan.training.micro_batches, 2);
}

TEST(DeepSpeedImport, DerivesTheBatchAsDeepSpeedDoes) {
  const auto training = [](const std::string& sizes) {
    Warnings warnings;
    return import_deepspeed(some(R"({"bf16": {"enabled": true}, )" + sizes + "}"), warnings).plan.training;
  };
  EXPECT_EQ(training(R"("train_batch_size": 64)").micro_batch, 4);
  EXPECT_EQ(training(R"("train_batch_size": 64, "gradient_accumulation_steps": 4)").micro_batch, 1);
  EXPECT_EQ(training(R"("train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3)").global_batch,
            96);
}

TEST(DeepSpeedImport, Refuses) {
  EXPECT_EQ(
      problem(R"({"train_batch_size": 24, "train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}})"),
      "ds.json: train_batch_size: 24 is not a multiple of micro-batch 1 x data 16");
  EXPECT_EQ(problem(R"({"train_batch_size": 32, "train_micro_batch_size_per_gpu": 1,
"gradient_accumulation_steps": 4, "bf16": {"enabled": true}})"),
            "ds.json: 16 ranks leave 16 for data parallelism, and the file says 8");
  EXPECT_EQ(
      problem(R"({"train_batch_size": 32})"),
      "ds.json: bf16: neither bf16 nor fp16 is on: a plan has no training in 32 bits; --precision sets one");
  EXPECT_EQ(problem(R"({"bf16": {"enabled": true},
"optimizer": {"type": "Lion"}})"),
            "ds.json: line 2, optimizer.type: Adam, AdamW or SGD is expected, not 'Lion'");
  EXPECT_EQ(problem(R"({"bf16": {"enabled": true}, "zero_optimization": {"stage": 5}})"),
            "ds.json: line 1, zero_optimization.stage: 0 to 3 is expected, not 5");
  ImportQuestion question = some(R"({"bf16": {"enabled": true}})");
  question.model.reset();
  Warnings warnings;
  EXPECT_EQ(message_of([&] { static_cast<void>(import_deepspeed(question, warnings)); }),
            "ds.json: it names no model; name one with --model");
}

TEST(DeepSpeedImport, WarnsOfWhatIsNotPriced) {
  Warnings warnings;
  static_cast<void>(
      import_deepspeed(some(R"({"train_batch_size": 16, "bf16": {"enabled": true}, "pipeline": {"magic": 1},
"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "nvme"}, "offload_param": {"device": "cpu"},
"zero_hpz_partition_size": 8, "zero_quantized_weights": false}})"),
                       warnings));
  EXPECT_EQ(
      warnings,
      (Warnings{
          "ds.json: line 2, zero_optimization.offload_param: parameters are priced as kept on the device",
          "ds.json: line 2, zero_optimization.offload_optimizer: the optimizer is priced as kept in host "
          "memory",
          "ds.json: line 3, zero_optimization.zero_hpz_partition_size: parameters are priced as gathered "
          "from all ranks",
          "ds.json: line 1, pipeline.magic: it is not understood: the plan does not have it"}));
}

TEST(DeepSpeedImport, AnOptimizerInHostMemory) {
  const auto offload = [](const std::string& zero) {
    Warnings warnings;
    const OpenPlan open = import_deepspeed(
        some(R"({"train_batch_size": 16, "bf16": {"enabled": true}, "zero_optimization": )" + zero + "}"),
        warnings);
    EXPECT_TRUE(warnings.empty());
    return open.plan.training.states.offload;
  };
  const Offload optimizer{.optimizer = true};
  EXPECT_EQ(offload(R"({"stage": 2, "offload_optimizer": {"device": "cpu", "pin_memory": true}})"),
            optimizer);
  EXPECT_EQ(offload(R"({"stage": 2, "cpu_offload": true})"), optimizer);
  EXPECT_EQ(offload(R"({"stage": 2, "offload_optimizer": {"device": "none"}})"), Offload{});
}

// What export writes, import reads back as the same plan, if options say what the file cannot.
TEST(DeepSpeedImport, ReadsBackWhatExportWrites) {
  test::for_random_questions("deepspeed", 200, [](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("deepspeed", question);
    if (!out.result.rule.empty()) return;
    ImportQuestion back{.file = "ds_config.json",
                        .text = out.files.at("ds_config.json"),
                        .model = question.inputs.model_name(),
                        .cluster = "h100-spine-leaf",
                        .rank_map_file = "rank_map.csv",
                        .rank_map = out.files.at("placement/rank_map.csv"),
                        .beside = [&](const std::string& name) -> std::optional<std::string> {
                          const auto at = out.files.find(name);
                          return at == out.files.end() ? std::nullopt : std::optional(at->second);
                        }};
    back.given.sequence = question.plan.training.sequence;
    back.given.expert = question.plan.parallelism.strategy.expert;
    Warnings warnings;
    const OpenPlan read = import_deepspeed(back, warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    test::expect_same_plan(question.plan, read.plan, seed);
  });
}

}  // namespace
}  // namespace nest::frameworks
