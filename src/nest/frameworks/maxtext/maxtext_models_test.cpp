#include "nest/frameworks/maxtext/maxtext_models.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_key_table.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

TEST(MaxTextModels, AreFoundByTheirShape) {
  EXPECT_EQ(find_maxtext_model(zoo_model("llama2-70b")), "llama2-70b");
  EXPECT_EQ(find_maxtext_model(zoo_model("llama3.1-8b")), "llama3.1-8b");
  EXPECT_EQ(find_maxtext_model(zoo_model("gemma2-9b")), "gemma2-9b");  // 256,128 rows for 256,000 tokens
  EXPECT_EQ(find_maxtext_model(zoo_model("deepseek-v3")), "deepseek3-671b");
  EXPECT_EQ(find_maxtext_model(zoo_model("qwen3-30b-a3b")), "qwen3-30b-a3b");
  EXPECT_EQ(find_maxtext_model(zoo_model("gpt3-175b")), "gpt3-175b");
  EXPECT_EQ(find_maxtext_model(zoo_model("llama3.2-1b")), "");
  EXPECT_EQ(find_maxtext_model(zoo_model("opt-13b")), "");
  ModelSpec renamed = zoo_model("llama3.1-8b");
  renamed.name = "mine";
  EXPECT_EQ(find_maxtext_model(renamed), "llama3.1-8b");
  renamed.details.scaling.reset();
  EXPECT_EQ(find_maxtext_model(renamed), "llama3-8b");
}

TEST(MaxTextModels, OthersAreDescribed) {
  std::vector<std::string> lost;
  const Value keys = maxtext_model_keys(zoo_model("llama3.2-1b"), lost);
  EXPECT_EQ(*keys.find("decoder_block")->as_string(), "llama2");
  EXPECT_EQ(*keys.find("base_emb_dim")->as_int(), 2048);
  EXPECT_EQ(*keys.find("base_num_decoder_layers")->as_int(), 16);
  EXPECT_EQ(*keys.find("head_dim")->as_int(), 64);
  EXPECT_TRUE(*keys.find("logits_via_embedding")->as_bool());
  // A local and a global layer of Gemma 2 are one of MaxText's.
  EXPECT_EQ(maxtext_layers(zoo_model("gemma2-9b")), 21);
}

// Every model that the rules allow gets a name or keys that the table has.
TEST(MaxTextModels, AllNamesAndKeysAreKnown) {
  const test::KeyTable table("maxtext");
  const auto& rules = find_framework_rules("maxtext")->input_rules;
  for (const std::string& name : zoo_names()) {
    Warnings warnings;
    const PlanInputs inputs = load_inputs(name, "h100-spine-leaf", "maxtext", warnings);
    if (!rules.back().allows(inputs, {})) continue;
    const auto& spec = std::get<ModelSpec>(inputs.source);
    std::vector<std::string> lost;
    EXPECT_EQ(table.problem("main", maxtext_model_keys(spec, lost)), "") << name;
    if (const std::string_view model = find_maxtext_model(spec); !model.empty()) {
      EXPECT_TRUE(table.takes("main", "model_name", model)) << model;
    }
  }
}

}  // namespace
}  // namespace nest::frameworks
