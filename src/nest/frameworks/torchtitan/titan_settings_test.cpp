#include "nest/frameworks/torchtitan/titan_settings.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/torchtitan/test_titan_options.hpp"

namespace nest::frameworks {
namespace {

TEST(TitanSettings, TheTableHasOurReleases) {
  const test::TitanOptions table;
  for (const Release& release : find_releases("torchtitan")->releases)
    EXPECT_EQ(table.days().at(std::string(release.name)), release.released);
  EXPECT_EQ(table.days().size(), find_releases("torchtitan")->releases.size());
}

TEST(TitanSettings, TheTableSeesWhatIsWrong) {
  const test::TitanOptions table;
  EXPECT_EQ(table.problem("main", {{"parallelism.tensor_parallel_degree", "8"}}), "");
  EXPECT_EQ(table.problem("main", {{"training.seq_len", "8"}}), "training.seq_len is not known");
  EXPECT_EQ(table.problem("v0.2.2", {{"training.seq_len", "\"8\""}}), "training.seq_len does not take \"8\"");
  EXPECT_EQ(table.problem("v0.2.2", {{"training.mixed_precision_reduce", "\"bfloat16\""}}),
            "training.mixed_precision_reduce does not take \"bfloat16\"");
  EXPECT_EQ(table.problem("main", {{"parallelism.module_fqns_per_model_part", "[\"a\",\"b\"]"}}),
            "parallelism.module_fqns_per_model_part does not take [\"a\",\"b\"]");
  EXPECT_EQ(table.problem("main", {{"compile.enable", "1"}}), "compile.enable does not take 1");
}

// No option of 200 random plans is unknown to its release, or has a value of another type.
TEST(TitanSettings, EveryReleaseTakesWhatIsWrittenForIt) {
  const test::TitanOptions table;
  for (const Release& release : find_releases("torchtitan")->releases) {
    int files = 0;
    test::for_random_questions(
        "torchtitan@" + std::string(release.name), 200, [&](const ExportQuestion& asked, unsigned seed) {
          ExportQuestion question = asked;
          question.release = &release;
          if (seed % 3 == 0) question.inputs.recipe = named_recipe("torchtitan");
          const test::Exported out = test::exported("torchtitan", question);
          if (!out.result.rule.empty()) {
            ASSERT_EQ(out.result.rule, "experts-in-shards") << seed << ": " << out.result.sentence;
            return;
          }
          ++files;
          const test::TitanSettings settings = release.name == "main"
                                                   ? test::read_titan_python(out.files.at("nest_plan.py"))
                                                   : test::read_titan_toml(out.files.at("train.toml"));
          ASSERT_GE(settings.size(), 11U);
          ASSERT_EQ(table.problem(release.name, settings), "") << release.name << " seed " << seed;
        });
    EXPECT_GT(files, 120) << release.name;
  }
}

TEST(TitanSettings, PythonForAModelOfTheRegistry) {
  test::Planner planner("qwen3-4b", "torchtitan");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 1, 4, 2);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 4;
  plan.default_recompute = {RecomputePolicy::full, 0};
  const ExportQuestion question = planner.question(plan);
  EXPECT_EQ(
      titan_python(export_facts(question, "torchtitan")),
      R"(# A plan by nest for torchtitan's main branch of 2026-08-21 (b5bcd76c6), as a function of a config registry:
# torchrun .. -m torchtitan.train --module nest_plan --config plan, with this folder in PYTHONPATH
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.common.config_utils import decoder_vocab_size
from torchtitan.models.qwen3 import model_registry
from torchtitan.models.qwen3.config_registry import qwen3_14b


def plan():
    config = qwen3_14b()
    config.model_spec = model_registry("4B")
    config.loss.loss_fn.global_vocab_size = decoder_vocab_size(config.model_spec)
    config.training.num_tokens_per_microbatch_per_dp_rank = 2048
    config.training.num_tokens_per_train_step = 16384
    config.training.max_context_length = 2048
    config.training.mixed_precision_param = "bfloat16"
    config.training.mixed_precision_reduce = "float32"
    config.parallelism.data_parallel_replicate_degree = 1
    config.parallelism.data_parallel_shard_degree = 4
    config.parallelism.fsdp_reshard_after_forward = "always"
    config.parallelism.tensor_parallel_degree = 2
    config.parallelism.enable_sequence_parallel = True
    config.parallelism.context_parallel_degree = 1
    config.parallelism.pipeline_parallel_degree = 1
    config.compile.enable = True
    config.activation_checkpoint = FullAC.Config()
    return config
)");
}

// The main branch calls the head lm_head, and counts micro-batches of tokens.
TEST(TitanSettings, PipelinesHaveTheirModules) {
  test::Planner planner("llama3.1-8b", "torchtitan");
  Plan plan = test::degrees({}, 2, 2, 4);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 2;
  const ExportQuestion question = planner.question(plan);
  const ExportFacts facts = export_facts(question, "torchtitan");
  const test::TitanSettings main = test::read_titan_python(titan_python(facts));
  EXPECT_TRUE(main.at("parallelism.module_fqns_per_model_part").ends_with("\"norm\",\"lm_head\"]]"));
  EXPECT_EQ(main.at("parallelism.num_pp_microbatches"), "4");
  EXPECT_EQ(main.at("training.disable_cuda_graphs"), "True");
  const test::TitanSettings release = test::read_titan_toml(titan_toml(facts));
  EXPECT_TRUE(release.at("parallelism.module_fqns_per_model_part").ends_with("\"norm\",\"output\"]]"));
  EXPECT_EQ(release.at("training.local_batch_size"), "4");
}

}  // namespace
}  // namespace nest::frameworks
