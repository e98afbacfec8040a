#include "nest/frameworks/torchtitan/titan_import.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_imports.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

constexpr const char* kLlama = R"([model]
name = "llama3"
flavor = "70B"
[training]
local_batch_size = 8
seq_len = 8192
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 8
)";

OpenPlan imported(const std::string& text, Warnings& warnings, std::int64_t devices = 64) {
  return import_torchtitan({.file = "x.toml", .text = text, .cluster = "h100-spine-leaf", .devices = devices},
                           warnings);
}

std::string problem(const std::string& more) {
  return message_of([&] {
    Warnings warnings;
    static_cast<void>(imported(kLlama + more, warnings));
  });
}

TEST(TitanImport, ReadsSettings) {
  Warnings warnings;
  const OpenPlan open = imported(std::string(kLlama) +
                                     "[activation_checkpoint]\nmode = \"full\"\n[compile]\nenable = "
                                     "true\n[optimizer]\nname = \"AdamW\"\n",
                                 warnings);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(open.inputs.model_name(), "llama3.1-70b");
  const Parallelism& p = open.plan.parallelism;
  EXPECT_EQ(std::tuple(p.strategy.tensor, p.data, p.zero.number(), p.zero_shards), std::tuple(8, 8, 3, 8));
  EXPECT_TRUE(p.strategy.sequence_parallel);
  EXPECT_EQ(open.plan.training.global_batch, 64);
  EXPECT_EQ(open.plan.training.micro_batch, 8);
  EXPECT_EQ(open.plan.stages[0].recompute, (Recompute{RecomputePolicy::full, 0}));
  EXPECT_TRUE(open.inputs.recipe.compiled);
}

// Where the file is silent, torchtitan's defaults hold: not compiled, every second layer recomputed.
TEST(TitanImport, KnowsTheDefaults) {
  Warnings warnings;
  const OpenPlan open = imported("[model]\nname = \"llama3\"\nflavor = \"8B\"\n", warnings, 8);
  EXPECT_FALSE(open.inputs.recipe.compiled);
  EXPECT_EQ(open.plan.training.sequence, 2048);
  EXPECT_EQ(open.plan.training.micro_batch, 8);
  EXPECT_EQ(open.plan.stages[0].recompute, (Recompute{RecomputePolicy::full, 16}));
  EXPECT_EQ(open.plan.parallelism.zero.number(), 3);
}

TEST(TitanImport, CutsPipelinesAsTorchtitanDoes) {
  Warnings warnings;
  const OpenPlan open =
      imported(std::string(kLlama) +
                   "pipeline_parallel_degree = 4\npipeline_parallel_schedule = \"interleaved1f1b\"\n"
                   "pipeline_parallel_microbatch_size = 2\n",
               warnings);
  const Parallelism& p = open.plan.parallelism;
  EXPECT_EQ(std::tuple(p.pipeline, p.interleave, p.schedule, p.data),
            std::tuple(4, 2, Schedule::interleaved, 2));
  EXPECT_EQ(spell(p.zero), "ZeRO 3, reshard never") << "by default a pipeline keeps parameters gathered";
  EXPECT_EQ(open.plan.training.micro_batches, 4);
  // 82 slots over 8 parts: 11, 11, then 10 each; the first part has the embedding in one of them.
  EXPECT_EQ(open.plan.stages[0].chunks[0].size(), 11U);
  EXPECT_EQ(open.plan.stages[3].chunks[1].size(), 10U);
}

// torchtitan hides exchanges with experts in pairs unless it is told not to.
TEST(TitanImport, ReadsDualPipeV) {
  const auto read = [](const char* more) {
    Warnings warnings;
    return imported(std::string(
                        "[model]\nname = \"qwen3\"\nflavor = \"30B-A3B\"\n[training]\nlocal_batch_size = 8\n"
                        "[parallelism]\nexpert_parallel_degree = 4\npipeline_parallel_degree = 4\n"
                        "pipeline_parallel_schedule = \"dualpipev\"\n") +
                        more,
                    warnings)
        .plan.parallelism;
  };
  const Parallelism p = read("");
  EXPECT_EQ(std::tuple(p.schedule, p.interleave, p.pipeline), std::tuple(Schedule::dualpipe_v, 2, 4));
  EXPECT_TRUE(p.strategy.overlaps_experts());
  EXPECT_FALSE(read("pipeline_parallel_expert_parallel_overlap = false\n").strategy.overlaps_experts());
}

TEST(TitanImport, RefusesAndWarns) {
  EXPECT_EQ(problem("pipeline_parallel_degree = 3\n"),
            "x.toml: 64 ranks are not a multiple of tensor x context x pipeline = 24");
  EXPECT_EQ(problem("pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"Round\"\n"),
            "x.toml: line 12, parallelism.pipeline_parallel_schedule: a plan has no schedule 'Round'");
  EXPECT_EQ(problem("pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 3\n"),
            "x.toml: line 12, parallelism.pipeline_parallel_microbatch_size: 3 does not divide the local "
            "batch of 8");
  EXPECT_EQ(problem("[optimizer]\nname = \"Muon\"\n"),
            "x.toml: line 12, optimizer.name: Adam or AdamW is expected, not 'Muon'");
  EXPECT_EQ(
      problem("[activation_checkpoint]\nmode = \"some\"\n"),
      "x.toml: line 12, activation_checkpoint.mode: none, selective, full or memory_budget is expected, not "
      "'some'");
  EXPECT_EQ(problem("fsdp_reshard_after_forward = 1\n"),
            "x.toml: line 11, parallelism.fsdp_reshard_after_forward: default, always or never is expected, "
            "not '1'");
  EXPECT_EQ(problem("[training.more]\n[x\n"), "x.toml: line 12: not valid TOML: ']' is expected");
  Warnings warnings;
  EXPECT_EQ(
      message_of([&] { static_cast<void>(imported("[model]\nname=\"flux\"\nflavor=\"dev\"", warnings)); }),
      "x.toml: model: torchtitan's flux dev is not among the known models; name a model with --model");
  EXPECT_EQ(message_of([&] { static_cast<void>(imported("[model]\n", warnings)); }),
            "x.toml: it names no model; name one with --model");
  static_cast<void>(imported(std::string(kLlama) + "magic_degree = 2\n", warnings));
  EXPECT_EQ(warnings,
            Warnings{"x.toml: line 11, parallelism.magic_degree: it is not understood: the plan does not "
                     "have it"});
}

// What export writes, import reads back as the same plan, devices included.
TEST(TitanImport, ReadsBackWhatExportWrites) {
  int read = 0;
  test::for_random_questions("torchtitan", 400, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("torchtitan", question);
    if (!out.files.contains("train.toml")) return;  // for the main branch alone
    Warnings warnings;
    const OpenPlan back = import_torchtitan(
        {.file = "train.toml",
         .text = out.files.at("train.toml"),
         .model = question.inputs.model_name(),
         .cluster = "h100-spine-leaf",
         .rank_map_file = "rank_map.csv",
         .rank_map = out.files.at("placement/rank_map.csv"),
         .beside = [&](const std::string& name) -> std::optional<std::string> { return out.files.at(name); }},
        warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    test::expect_same_plan(question.plan, back.plan, seed);
    ++read;
  });
  EXPECT_GE(read, 200);
}

}  // namespace
}  // namespace nest::frameworks
