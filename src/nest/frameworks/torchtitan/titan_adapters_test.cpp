#include "nest/frameworks/torchtitan/titan_adapters.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/torchtitan/test_titan_options.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

using Modules = std::vector<std::string>;

TitanAdapters of(const std::string& model, std::string_view train) {
  Tuning tuning;
  EXPECT_EQ(read_train(train, tuning), "");
  return titan_adapters(tuning, zoo_model(model));
}

TEST(TitanAdapters, StandBesideLinearModules) {
  EXPECT_EQ(of("llama3.1-8b", "lora:16").modules, (Modules{"wqkv", "wo"}));
  EXPECT_TRUE(of("llama3.1-8b", "lora:16").lost.empty());
  EXPECT_EQ(of("qwen3-30b-a3b", "lora:16").modules, (Modules{"wqkv", "wo"}));
  EXPECT_EQ(of("llama3.1-8b", "lora:16:all-linear").modules, (Modules{"wqkv", "wo", "w1", "w3", "w2"}));
  EXPECT_EQ(of("llama3.1-8b", "lora:16:all-linear").lost,
            Modules{"queries, keys and values have one adapter, the plan one for each of them"});
  EXPECT_EQ(of("llama3.1-8b", "lora:16:linear_fc1").lost,
            Modules{"both first products of the ffn have an adapter, the plan one for both"});
  EXPECT_EQ(of("deepseek-v3", "lora:16:q_b_proj+kv_b_proj+o_proj").modules, (Modules{"wq_b", "wkv_b", "wo"}));
}

TEST(TitanAdapters, SayWhatIsMissing) {
  EXPECT_EQ(
      of("llama3.1-8b", "lora:16:v_proj").problem,
      "torchtitan's models have one product for queries, keys and values, linear_qkv, and not v_proj apart");
  EXPECT_EQ(of("qwen3-30b-a3b", "lora:16:down_proj").problem,
            "torchtitan puts no adapters beside the products of experts");
  EXPECT_EQ(of("deepseek-v3", "lora:16").problem,
            "torchtitan puts no adapters beside the products of latent attention that every tensor rank "
            "holds whole (wq_a, wkv_a), which linear_qkv has");
  EXPECT_EQ(of("llama3.1-8b", "lora:16:qkv").problem,
            "torchtitan's models have no linear module that qkv could be");
}

// A converter of the main branch, after the one that puts products into 8 bits; the release has none.
TEST(TitanAdapters, AreAConverterOfTheMainBranch) {
  test::Planner planner("llama3.1-8b", "torchtitan");
  ExportQuestion question = planner.question(test::degrees({}, 1, 8));
  ASSERT_EQ(read_train("lora:16", question.plan.training.tuning), "");
  const test::Exported out = test::exported("torchtitan", question);
  ASSERT_EQ(out.result.rule, "") << out.result.sentence;
  EXPECT_FALSE(out.files.contains("train.toml"));
  EXPECT_EQ(out.result.lost.front(), "no train.toml: release 0.2.2 has no adapters");
  const std::string& python = out.files.at("nest_plan.py");
  EXPECT_NE(python.find("from torchtitan.components.lora import LoRAConverter\n"), std::string::npos);
  EXPECT_NE(
      python.find("    config.model_spec = model_registry(\"8B\", converters=[LoRAConverter.Config(rank=16, "
                  "alpha=32.0, target_modules=[\"wqkv\", \"wo\"])])\n"),
      std::string::npos)
      << python;
  question.plan.training.precision = Precision::fp8;
  const test::Exported low = test::exported("torchtitan", question);
  EXPECT_NE(low.files.at("nest_plan.py").find("True), LoRAConverter.Config("), std::string::npos);
  question.release = find_releases("torchtitan")->find("v0.2.2");
  EXPECT_EQ(test::exported("torchtitan", question).result.sentence,
            "torchtitan 0.2.2 has no adapters; its main branch has; torchtitan, accelerate, maxtext, "
            "megatron-bridge and ms-swift take it");
}

TEST(TitanAdapters, RandomPlansAreTaken) {
  const test::TitanOptions options;
  int taken = 0;
  test::for_random_questions(
      "torchtitan", 100,
      [&](const ExportQuestion& random, unsigned seed) {
        ExportQuestion question = random;
        question.release = find_releases("torchtitan")->find("main");
        ASSERT_EQ(read_train("lora:16", question.plan.training.tuning), "");
        const test::Exported out = test::exported("torchtitan", question);
        // Some have degrees that 0.2.2 alone runs, which has no adapters.
        ExportQuestion whole = random;
        whole.release = question.release;
        ASSERT_EQ(out.result.rule, test::exported("torchtitan", whole).result.rule) << seed;
        question.release = nullptr;
        ASSERT_EQ(test::exported("torchtitan", question).result.rule.empty(), out.result.rule.empty())
            << seed;
        if (!out.result.rule.empty()) return;
        ++taken;
        const std::string& python = out.files.at("nest_plan.py");
        ASSERT_EQ(options.problem("main", test::read_titan_python(python)), "") << seed;
        ASSERT_NE(python.find("LoRAConverter.Config(rank=16, "), std::string::npos) << seed;
      },
      {"llama3.1-8b", "qwen3-0.6b", "qwen3-30b-a3b"});
  EXPECT_GT(taken, 60);
}

TEST(TitanAdapters, NeedAModelOfTheRegistry) {
  test::Planner planner("mistral-7b", "torchtitan");
  ExportQuestion question = planner.question(test::degrees({}, 1, 8));
  ASSERT_EQ(read_train("lora:16", question.plan.training.tuning), "");
  EXPECT_EQ(test::exported("torchtitan", question).result.sentence,
            "torchtitan's adapters are a converter of a model of its registry, which does not hold this one; "
            "deepspeed, accelerate, maxtext, megatron-bridge, verl and ms-swift take it");
}

}  // namespace
}  // namespace nest::frameworks
