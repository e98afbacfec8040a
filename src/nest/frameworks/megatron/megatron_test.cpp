#include "nest/frameworks/megatron/megatron.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/megatron/test_megatron_flags.hpp"
#include "nest/frameworks/megatron/test_megatron_validator.hpp"
#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

TEST(Megatron, PlansThatTheRulesAllowKeepItsArithmetic) {
  int interleaved = 0;
  int layouts = 0;
  int experts = 0;
  test::for_random_questions("megatron", 1000, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("megatron", question);
    ASSERT_EQ(out.result.rule, "") << "seed " << seed << ": " << out.result.sentence;
    ASSERT_EQ(test::check_megatron(out.files), "") << "seed " << seed << "\n"
                                                   << out.files.at("megatron_args.txt");
    interleaved += question.plan.parallelism.interleave > 1 ? 1 : 0;
    experts += question.plan.parallelism.strategy.expert > 1 ? 1 : 0;
    layouts += out.files.at("megatron_args.txt").find("-layout") != std::string::npos ? 1 : 0;
  });
  EXPECT_GT(interleaved, 50);
  EXPECT_GT(layouts, 200);
  EXPECT_GT(experts, 50);
}

// The flags of the language part stand in a file of their own, and the release knows them.
TEST(Megatron, ModelsWithTowers) {
  const test::FlagTable table;
  for (const char* model : {"gemma3-27b", "qwen3-vl-8b", "llama4-scout"}) {
    test::Planner planner(model);
    const test::Exported out = test::exported("megatron", planner.question(test::degrees({}, 1, 8)));
    ASSERT_EQ(out.result.rule, "") << out.result.sentence;
    EXPECT_EQ(out.files.at("megatron_args.txt").find("--num-layers"), std::string::npos);
    const std::string& language = out.files.at("language_args.txt");
    EXPECT_NE(language.find("--num-layers"), std::string::npos);
    EXPECT_EQ(table.problem("core_v0.19", read_flags(language)), "") << model;
    EXPECT_TRUE(std::any_of(out.result.lost.begin(), out.result.lost.end(), [](const std::string& sentence) {
      return sentence.starts_with(
          "the model's shape: its own flags go into MODEL_ARGS, those of its language part are in "
          "language_args.txt");
    })) << model;
  }
}

// State spaces are no blocks of pretrain_gpt.py.
TEST(Megatron, OtherBlocksHaveNoFlags) {
  test::Planner planner("nemotron-h-8b");
  const test::Exported out = test::exported("megatron", planner.question(test::degrees({}, 1, 8)));
  EXPECT_EQ(out.files.at("megatron_args.txt").find("--num-attention-heads"), std::string::npos);
  EXPECT_FALSE(out.files.contains("language_args.txt"));
}

// The validator is no rubber stamp: each of these makes it speak.
TEST(Megatron, TheValidatorSeesWhatIsWrong) {
  test::Planner planner("llama3.1-8b");
  const test::Files good =
      test::exported("megatron",
                     planner.question(test::degrees({.tensor = 2, .sequence_parallel = true}, 3, 4)))
          .files;
  EXPECT_EQ(test::check_megatron(good), "");
  const std::vector<std::array<std::string, 3>> changes{
      {"--tensor-model-parallel-size 2", "--tensor-model-parallel-size 7", "world"},
      {"--global-batch-size 32", "--global-batch-size 33", "batch"},
      {"--num-attention-heads 32", "--num-attention-heads 31", "heads"},
      {"--num-query-groups 8", "--num-query-groups 3", "query groups"},
      {"Et*11|", "Et*12|", "layers of the layout"},
      {"|t*10L", "|t*10|L", "parts of the layout"},
      {"--sequence-parallel\n", "--expert-model-parallel-size 2\n", "no experts"},
      {"--max-position-embeddings 131072", "--max-position-embeddings 131", "positions"},
      {"--bf16", "--bf16\n--fp16", "one of bf16 and fp16"},
      {"--overlap-grad-reduce", "--overlap-param-gather", "overlapped gathers"},
      {"# Communication", "--recompute-granularity full", "recomputation"},
  };
  for (const auto& [from, to, problem] : changes) {
    test::Files files = good;
    std::string& text = files.at("megatron_args.txt");
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    EXPECT_EQ(test::check_megatron(files), problem);
  }
}

// Whole copies on consecutive devices: torchrun needs Megatron-LM's other order of ranks.
TEST(Megatron, ChoosesTheOrderThatTorchrunCanNumber) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 4, 4);
  plan.parallelism.data_inner = 1;
  test::Exported out = test::exported("megatron", planner.question(plan));
  EXPECT_NE(out.files.at("megatron_args.txt").find("--use-tp-pp-dp-mapping"), std::string::npos);
  EXPECT_TRUE(out.files.contains("placement/launch_torchrun.sh"));
  plan.parallelism.zero = 3;  // Megatron-FSDP has the usual order only
  out = test::exported("megatron", planner.question(plan));
  EXPECT_EQ(out.files.at("megatron_args.txt").find("--use-tp-pp-dp-mapping"), std::string::npos);
  EXPECT_FALSE(out.files.contains("placement/launch_torchrun.sh"));
  EXPECT_NE(out.files.at("run_host.sh").find("launch_host.sh python3"), std::string::npos);
}

}  // namespace
}  // namespace nest::frameworks
