#include "nest/plan/inputs.hpp"

#include <gtest/gtest.h>

#include "nest/base/files.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "nest/plan/test_example.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace nest::plan {
namespace {

PlanInputs read(const std::string& text) {
  const Document document = parse_json("p.json", text);
  Reader reader(document);
  Warnings warnings;
  return read_inputs(reader, warnings);
}

std::string message(const std::string& text) {
  return message_of([&] { static_cast<void>(read(text)); });
}

PlanInputs load(const std::string& model, const std::string& cluster, const std::string& recipe) {
  Warnings warnings;
  return load_inputs(model, cluster, recipe, warnings);
}

TEST(Inputs, NamesAsOnTheCommandLine) {
  const PlanInputs inputs = load("llama3.1-8b", "h100-spine-leaf", "torchtitan");
  EXPECT_EQ(*inputs.model.as_string(), "llama3.1-8b");
  EXPECT_EQ(inputs.cluster.devices(), 1024);
  EXPECT_EQ(inputs.recipe.framework, "torchtitan");
  EXPECT_EQ(inputs.profile(), nullptr);
}

TEST(Inputs, ModelsAndRecipesThatAreNoFiles) {
  PlanInputs inputs = load("gpt2", "h100-spine-leaf", "megatron");
  Warnings warnings;
  set_model(inputs, parse_json("model", test::kExampleProfile), warnings);
  EXPECT_EQ(inputs.model_name(), "three");
  EXPECT_EQ(*inputs.model.find("name")->as_string(), "three");
  set_model(inputs, parse_json("model", R"({"model_type": "gpt2", "_name_or_path": "mine"})"), warnings);
  EXPECT_EQ(inputs.model_name(), "mine");
  EXPECT_EQ(read_own_recipe(parse_json("recipe", R"({"reserve": "3 GiB"})")).framework, "megatron");
  const Recipe plain = read_own_recipe(parse_json("recipe", R"({"framework": "plain", "reserve": "3 GiB"})"));
  EXPECT_EQ(plain.framework, "plain");
  EXPECT_EQ(plain.reserve.value, 3LL << 30);
}

TEST(Inputs, SequencesWhereNothingSaysOtherwise) {
  EXPECT_EQ(load("llama3.1-8b", "h100-spine-leaf", "plain").default_sequence(), 8192);  // of 131,072
  EXPECT_EQ(load("gpt2", "h100-spine-leaf", "plain").default_sequence(), 1024);
  EXPECT_EQ(load("t5-small", "h100-spine-leaf", "plain").default_sequence(), 512);
  EXPECT_EQ(test::example_inputs().default_sequence(), 512);
}

TEST(Inputs, IdealNetworksOnlyWhereTheRecipeSaysSo) {
  const Cluster cluster = load("gpt2", "h100-spine-leaf", "plain").cluster;
  const CollectiveModel plain(cluster, load("gpt2", "h100-spine-leaf", "plain").constants());
  const CollectiveModel megatron(cluster, load("gpt2", "h100-spine-leaf", "megatron").constants());
  EXPECT_FALSE(plain.library());
  EXPECT_EQ(plain.launch_s(), 0);
  EXPECT_TRUE(megatron.library());
}

TEST(Inputs, StrategiesAreTheLibrarysUnlessGiven) {
  PlanInputs inputs = test::example_inputs();
  EXPECT_EQ(inputs.strategy_table().data(), subgraph_strategies().data());
  inputs.strategies.push_back(subgraph_strategies().front());
  const PlanInputs copy = inputs;
  ASSERT_EQ(copy.strategy_table().size(), 1U);
  EXPECT_EQ(copy.strategy_table().front().name, subgraph_strategies().front().name);
  EXPECT_EQ(read(to_json(to_value(copy))).strategies.size(), 0U);  // files do not hold them
}

constexpr const char* kConfig =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 128})";

TEST(Inputs, FilesAreWrittenOutWhole) {
  const TemporaryFolder folder;
  write_file(folder.file("mine.json"), kConfig);
  const PlanInputs inputs = load(folder.file("mine.json"), "h100-spine-leaf", "plain");
  ASSERT_NE(inputs.model.as_object(), nullptr);
  EXPECT_EQ(*inputs.model.find("_name_or_path")->as_string(), "mine");
  EXPECT_EQ(read(to_json(to_value(inputs))).default_sequence(), 128);
}

TEST(Inputs, AConfigKeepsItsNameThereAndBack) {
  const TemporaryFolder folder;
  write_file(folder.file("mine.json"), kConfig);
  const PlanInputs inputs = load(folder.file("mine.json"), "h100-spine-leaf", "plain");
  EXPECT_EQ(std::get<ModelSpec>(inputs.source).name, "mine");
  EXPECT_EQ(std::get<ModelSpec>(read(to_json(to_value(inputs))).source).name, "mine");
}

// The text read from what was written gives the same text.
TEST(Inputs, ThereAndBack) {
  for (const char* model : {"llama3.1-8b", "t5-small", "qwen3-30b-a3b"}) {
    for (const char* cluster : {"h100-spine-leaf", "tpu-v5p-256", "dgx-h100-superpod-127"}) {
      for (const char* recipe : {"megatron", "torchtitan", "deepspeed", "plain"}) {
        SCOPED_TRACE(std::string(model) + " " + cluster + " " + recipe);
        const PlanInputs inputs = load(model, cluster, recipe);
        const std::string text = to_json(to_value(inputs));
        const PlanInputs again = read(text);
        EXPECT_EQ(to_json(to_value(again)), text);
        EXPECT_EQ(again.recipe, inputs.recipe);
        EXPECT_EQ(again.cluster.levels(), inputs.cluster.levels());
        EXPECT_EQ(again.cluster.accelerator(), inputs.cluster.accelerator());
      }
    }
  }
  const std::string profile = to_json(to_value(test::example_inputs()));
  EXPECT_EQ(to_json(to_value(read(profile))), profile);
}

TEST(Inputs, WhatIsMissingOrWrong) {
  EXPECT_EQ(message("{}"), "p.json: line 1: 'model' is missing: a name or a group of keys");
  EXPECT_EQ(message(R"({"model": "gpt2"})"),
            "p.json: line 1: 'cluster' is missing: a name or a group of keys");
  EXPECT_EQ(message(R"({"model": 3, "cluster": "h100-spine-leaf"})"),
            "p.json: line 1, model: a name or a group of keys is expected");
  EXPECT_EQ(message(R"({"model": "gpt2", "cluster": ["h100-spine-leaf"]})"),
            "p.json: line 1, cluster: a name or a group of keys is expected");
  EXPECT_EQ(message(R"({"model": "gpt2", "cluster": "h100-spine-leaf", "recipe": true})"),
            "p.json: line 1, recipe: a name or a group of keys is expected");
  EXPECT_EQ(message(R"({"model": "gpt2", "cluster": "h100-spine-leaf", "recipe": {"framework": "megatrn"}})"),
            "p.json: recipe: line 1, framework: 'megatrn' is none of accelerate, deepspeed, maxtext, "
            "megatron, megatron-bridge, plain, "
            "torchtitan, transformers; did you mean 'megatron'?");
}

TEST(Inputs, WithoutARecipeItIsMegatrons) {
  EXPECT_EQ(read(R"({"model": "gpt2", "cluster": "h100-spine-leaf"})").recipe, named_recipe("megatron"));
  const Recipe own =
      read(R"({"model": "gpt2", "cluster": "h100-spine-leaf", "recipe": {"reserve": "3 GiB"}})").recipe;
  EXPECT_EQ(own.framework, "megatron");
  EXPECT_EQ(own.reserve, Bytes{3LL << 30});
}

}  // namespace
}  // namespace nest::plan
