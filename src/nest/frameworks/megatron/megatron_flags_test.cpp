#include <gtest/gtest.h>

#include "nest/frameworks/megatron/megatron_import.hpp"
#include "nest/frameworks/megatron/test_megatron_flags.hpp"
#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

// Models whose flags differ: windows, gates, latent attention, learned positions, routers, sinks, multipliers.
const std::vector<const char*> kModels{"llama3.2-1b", "gpt2-xl",    "mixtral-8x7b",  "deepseek-v2-lite",
                                       "qwen2.5-7b",  "gemma2-9b",  "mistral-7b",    "phi-2",
                                       "pythia-410m", "qwen3-0.6b", "opt-1.3b",      "qwen1.5-moe-a2.7b",
                                       "gpt-oss-20b", "smollm3-3b", "granite-3.3-8b"};

TEST(MegatronFlags, TheTableHasOurReleases) {
  const test::FlagTable table;
  for (const Release& release : find_releases("megatron")->releases)
    EXPECT_EQ(table.days().at(std::string(release.name)), release.released);
  EXPECT_EQ(table.days().size(), find_releases("megatron")->releases.size());
}

TEST(MegatronFlags, TheTableSeesWhatIsWrong) {
  const test::FlagTable table;
  const auto problem = [&](const char* text, const char* release = "core_v0.19") {
    return table.problem(release, read_flags(text));
  };
  EXPECT_EQ(problem("--num-layers 4 --bf16 --cp-comm-type p2p"), "");
  EXPECT_EQ(problem("--num-layer 4"), "--num-layer is not known");
  EXPECT_EQ(problem("--num-layers four"), "--num-layers does not take four");
  EXPECT_EQ(problem("--num-layers"), "--num-layers takes 1 values");
  EXPECT_EQ(problem("--bf16 1"), "--bf16 takes 0 values");
  EXPECT_EQ(problem("--attention-backend fast"), "--attention-backend does not take fast");
  EXPECT_EQ(problem("--rotary-base 1e4"), "--rotary-base does not take 1e4");
  EXPECT_EQ(problem("--quick-geglu", "core_v0.14"), "--quick-geglu is not known");
}

// Every release knows every flag and value that is written for it, smoke run included; the releases that an export
// names are those that take it; and the arguments read back as the same plan.
TEST(MegatronFlags, EveryReleaseTakesWhatIsWrittenForIt) {
  const test::FlagTable table;
  const ReleaseTable& releases = *find_releases("megatron");
  test::for_random_questions(
      "megatron", 200,
      [&](const ExportQuestion& asked, unsigned seed) {
        ExportQuestion question = asked;
        question.release = &releases.releases[seed % releases.releases.size()];
        const test::Exported out = test::exported("megatron", question);
        ASSERT_EQ(out.result.rule, "") << seed << out.result.sentence;
        const std::string& text = out.files.at("megatron_args.txt");
        const auto& named = out.result.releases;
        EXPECT_NE(std::find(named.begin(), named.end(), question.release), named.end()) << seed;
        for (const Release* release : named)
          ASSERT_EQ(table.problem(release->name, read_flags(text)), "") << release->name << " seed " << seed;
        const std::string& script = out.files.at("megatron.sh");
        for (const char* variable : {"DATA_ARGS:-", "TRAIN_ARGS:-"}) {
          const std::size_t begin = script.find(variable) + std::string(variable).size();
          const std::string words = script.substr(begin, script.find('}', begin) - begin);
          ASSERT_EQ(table.problem(question.release->name, read_flags(words)), "") << seed;
        }
        Warnings warnings;
        const OpenPlan back = import_megatron({.file = "args",
                                               .text = text,
                                               .model = question.inputs.model_name(),
                                               .cluster = "h100-spine-leaf",
                                               .rank_map_file = "rank_map.csv",
                                               .rank_map = out.files.at("placement/rank_map.csv")},
                                              warnings);
        EXPECT_TRUE(warnings.empty()) << warnings.front();
        EXPECT_EQ(back.plan.training, question.plan.training) << seed;
        ExportQuestion again{back.plan, back.inputs, {}, 0, question.release};
        const test::Exported twice = test::exported("megatron", again);
        ASSERT_EQ(twice.result.rule, "") << seed << twice.result.sentence;
        EXPECT_EQ(twice.files.at("megatron_args.txt"), text) << seed;
      },
      kModels);
}

}  // namespace
}  // namespace nest::frameworks
