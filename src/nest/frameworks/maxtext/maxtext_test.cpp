#include "nest/frameworks/maxtext/maxtext.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_key_table.hpp"

namespace nest::frameworks {
namespace {

using test::degrees;
using test::exported;
using test::whole;
using ::testing::HasSubstr;

TEST(MaxText, TpusGetACommandThatCompilesAhead) {
  test::Planner planner("llama2-70b", "maxtext", "tpu-v5p-128");
  Plan plan = degrees({.tensor = 2, .sequence_parallel = true}, 1, 32);
  plan.parallelism.zero = 3;
  const test::Exported out = exported("maxtext", planner.question(std::move(plan)));
  ASSERT_EQ(out.result.rule, "") << out.result.sentence;
  EXPECT_THAT(out.files.at("maxtext.yml"), HasSubstr("model_name: llama2-70b\n"));
  EXPECT_THAT(out.files.at("maxtext.yml"), HasSubstr("ici_fsdp_parallelism: 32\n"));
  EXPECT_THAT(out.files.at("compile.sh"), HasSubstr("compile_topology=v5p-128"));
  EXPECT_FALSE(out.files.contains("run_host.sh"));
  EXPECT_FALSE(out.files.contains("placement/launch_rank.sh"));
}

TEST(MaxText, GpusGetAScriptForEachHost) {
  test::Planner planner("llama3.1-8b", "maxtext");
  const test::Exported out = exported("maxtext", planner.question(degrees({}, 1, 16)));
  EXPECT_THAT(out.files.at("maxtext.yml"), HasSubstr("hardware: gpu\n"));
  EXPECT_TRUE(out.files.contains("run_host.sh"));
  EXPECT_FALSE(out.files.contains("compile.sh"));
}

TEST(MaxText, BreachesAreNamed) {
  const std::vector<test::Breach> breaches{
      {"no-zero-2", [](ExportQuestion& q) { q.plan.parallelism.zero = 2; }},
      {"batch", [](ExportQuestion& q) { q.plan.training.global_batch = 9; }},
      {"model-family",
       [](ExportQuestion& q) {
         Warnings warnings;
         q.inputs = load_inputs("opt-13b", "h100-spine-leaf", "maxtext", warnings);
       }},
      {"devices",
       [](ExportQuestion& q) {
         Warnings warnings;
         q.inputs = load_inputs("llama3.2-1b", "aws-trn2", "maxtext", warnings);
       }},
  };
  for (const test::Breach& breach : breaches) {
    test::Planner planner("llama3.2-1b", "maxtext");
    ExportQuestion question = planner.question(degrees({}, 1, 8));
    breach.make(question);
    const test::Exported out = exported("maxtext", question);
    EXPECT_EQ(out.result.rule, breach.rule) << out.result.sentence;
    EXPECT_TRUE(out.files.empty());
  }
}

TEST(MaxText, TheTableHasTheReleases) {
  const test::KeyTable table("maxtext");
  for (const Release& release : find_releases("maxtext")->releases)
    EXPECT_EQ(table.days().at(std::string(release.name)), release.released);
  // The slices that we name are in MaxText's table of systems.
  for (const char* name : {"v4-8", "v4-4096", "v5e-4", "v5e-256", "v5p-8", "v5p-8192", "v6e-4", "v6e-256"})
    EXPECT_TRUE(table.takes("main", "compile_topology", name)) << name;
}

// Every key and value is known, every plan that the rules allow is written, and the axes are its degrees.
TEST(MaxText, RandomPlansAreTakenAndReadBack) {
  const test::KeyTable table("maxtext");
  test::for_random_questions(
      "maxtext", 200,
      [&](const ExportQuestion& question, unsigned seed) {
        SCOPED_TRACE(seed);
        const test::Exported out = exported("maxtext", question);
        ASSERT_EQ(out.result.rule, "") << out.result.sentence;
        const Value yml = parse_yaml("maxtext.yml", out.files.at("maxtext.yml")).root;
        EXPECT_EQ(table.problem("main", yml), "");
        const Parallelism& p = question.plan.parallelism;
        const Training& t = question.plan.training;
        const auto axis = [&](const std::string& name) {
          return whole(yml, "ici_" + name + "_parallelism") * whole(yml, "dcn_" + name + "_parallelism");
        };
        EXPECT_EQ(axis("data") * axis("fsdp") * axis("expert"), p.data);
        EXPECT_EQ(axis("pipeline"), p.pipeline);
        EXPECT_EQ(axis("context"), p.strategy.context);
        EXPECT_EQ(axis("tensor") * axis("tensor_sequence"), p.strategy.tensor);
        EXPECT_EQ(axis("expert"), p.strategy.expert);
        if (p.zero.shards_parameters()) {
          EXPECT_EQ(axis("fsdp") * axis("context") * axis("expert"), p.zero_shards);
        }
        const Value* share = yml.find("per_device_batch_size");
        const double batch =
            share->as_real() != nullptr ? *share->as_real() : static_cast<double>(*share->as_int());
        EXPECT_EQ(batch * static_cast<double>(p.devices() * whole(yml, "gradient_accumulation_steps")),
                  static_cast<double>(t.global_batch));
        if (p.pipeline > 1) {
          EXPECT_EQ(whole(yml, "num_pipeline_microbatches"), t.micro_batches);
        }
      },
      {"llama3.2-1b", "gpt2-xl", "mixtral-8x7b", "deepseek-v2-lite", "qwen2.5-7b", "qwen3-0.6b", "gemma-7b"});
}

}  // namespace
}  // namespace nest::frameworks
