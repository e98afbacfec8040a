#include "nest/frameworks/maxtext/maxtext_adapters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_key_table.hpp"

namespace nest::frameworks {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ExportQuestion question_of(const std::string& model, std::string_view train, std::string_view bits = "16",
                           std::int64_t pipeline = 1) {
  test::Planner planner(model, "maxtext");
  Plan plan = test::degrees({}, pipeline, 8);
  plan.training.sequence = 1024;
  if (pipeline > 1) plan.parallelism.schedule = Schedule::gpipe;
  ExportQuestion question = planner.question(std::move(plan));
  EXPECT_EQ(read_train(train, question.plan.training.tuning), "");
  EXPECT_EQ(read_frozen_bits(bits, question.plan.training.tuning), "");
  return question;
}

TEST(MaxTextAdapters, AreAPatternOfModules) {
  const test::Exported out = test::exported("maxtext", question_of("llama3.1-8b", "lora:16"));
  ASSERT_EQ(out.result.rule, "") << out.result.sentence;
  EXPECT_THAT(out.files.at("maxtext.yml"), HasSubstr("base_config: post_train/sft.yml\n"));
  EXPECT_THAT(out.files.at("maxtext.yml"),
              HasSubstr("lora:\n  enable_lora: true\n  lora_rank: 16\n  lora_alpha: 32\n  lora_module_path: "
                        "\"decoder/.*/(query|key|value|wq_a|wq_b|wkv_a|wkv_b|out)\"\n"));
  EXPECT_THAT(out.files.at("maxtext.sh"), HasSubstr("-m maxtext.trainers.post_train.sft.train_sft \""));
  EXPECT_THAT(out.result.lost,
              Contains("queries, keys and values have an adapter each, the plan one for all of them"));
  EXPECT_THAT(out.result.lost, Contains(StartsWith("adapters and their optimizer states are whole")));
}

// The command that compiles ahead would compile the training of all weights.
TEST(MaxTextAdapters, AreNotCompiledAhead) {
  test::Planner planner("llama2-70b", "maxtext", "tpu-v5p-128");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 1, 32);
  plan.parallelism.zero = 3;
  ExportQuestion question = planner.question(std::move(plan));
  EXPECT_TRUE(test::exported("maxtext", question).files.contains("compile.sh"));
  ASSERT_EQ(read_train("lora:16", question.plan.training.tuning), "");
  EXPECT_FALSE(test::exported("maxtext", question).files.contains("compile.sh"));
}

TEST(MaxTextAdapters, FewBitsAreOfWhatHasAdapters) {
  const auto yaml = [](std::string_view bits) {
    return test::exported("maxtext", question_of("llama3.1-8b", "lora:8:all-linear", bits))
        .files.at("maxtext.yml");
  };
  EXPECT_THAT(yaml("4"), HasSubstr("  lora_weight_qtype: nf4\n  lora_tile_size: 64\n"));
  EXPECT_THAT(yaml("8"), HasSubstr("  lora_weight_qtype: int8\n"));
  EXPECT_EQ(yaml("16").find("qtype"), std::string::npos);
  EXPECT_EQ(test::exported("maxtext", question_of("llama3.1-8b", "lora:8", "4")).result.sentence,
            "MaxText holds only weights that adapters stand beside in 4 bits, and not all do: all-linear has "
            "them; deepspeed and accelerate take it");
}

TEST(MaxTextAdapters, SayWhatIsMissing) {
  const auto sentence = [](const ExportQuestion& question) {
    const test::Exported out = test::exported("maxtext", question);
    EXPECT_EQ(out.result.rule, "trained-part");
    EXPECT_TRUE(out.files.empty());
    return out.result.sentence;
  };
  EXPECT_EQ(
      sentence(question_of("llama3.1-8b", "lora:16", "16", 4)),
      "MaxText makes adapters without a pipeline only; chakra, slurm, kubernetes and placement take it");
  EXPECT_EQ(sentence(question_of("mixtral-8x7b", "lora:16:linear_fc1")),
            "MaxText's experts are no modules that adapters stand beside; deepspeed, accelerate, "
            "megatron-bridge and ms-swift take it");
  EXPECT_EQ(sentence(question_of("gpt2-xl", "lora:16:q_proj")),
            "MaxText's models have no module that q_proj could be; deepspeed, accelerate, megatron-bridge "
            "and verl take it");
  EXPECT_EQ(sentence(question_of("llama3.1-8b", "lora:16:qkv")),
            "MaxText's models have no module that qkv could be; deepspeed and accelerate take it");
}

TEST(MaxTextAdapters, SettingsAreKnown) {
  const test::KeyTable table("maxtext");
  for (const auto& [train, bits] :
       {std::pair{"lora:16", "16"}, {"lora:8:all-linear", "4"}, {"lora:8:all-linear", "8"}}) {
    const test::Exported out = test::exported("maxtext", question_of("llama3.1-8b", train, bits));
    const Value settings = parse_yaml("maxtext.yml", out.files.at("maxtext.yml")).root;
    EXPECT_EQ(table.problem("main", settings), "") << train;
  }
}

TEST(MaxTextAdapters, RandomPlansAreTaken) {
  const test::KeyTable table("maxtext");
  int taken = 0;
  test::for_random_questions(
      "maxtext", 100,
      [&](const ExportQuestion& random, unsigned seed) {
        ExportQuestion question = random;
        ASSERT_EQ(read_train("lora:16", question.plan.training.tuning), "");
        const test::Exported out = test::exported("maxtext", question);
        ASSERT_EQ(out.result.rule, question.plan.parallelism.pipeline > 1 ? "trained-part" : "") << seed;
        if (!out.result.rule.empty()) return;
        ++taken;
        const Value settings = parse_yaml("maxtext.yml", out.files.at("maxtext.yml")).root;
        ASSERT_EQ(table.problem("main", settings), "") << seed;
      },
      {"llama3.2-1b", "gpt2-xl", "mixtral-8x7b", "deepseek-v2-lite", "qwen2.5-7b"});
  EXPECT_GT(taken, 30);
}

}  // namespace
}  // namespace nest::frameworks
