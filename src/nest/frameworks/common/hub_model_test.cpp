#include "nest/frameworks/common/hub_model.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

PlanInputs inputs_of(const std::string& model) {
  Warnings warnings;
  return load_inputs(model, "h100-spine-leaf", "plain", warnings);
}

TEST(HubModel, IsTheFileOfAKnownModel) {
  const std::optional<Value> config = hub_config(inputs_of("meta-llama/Llama-3.1-8B"));
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(*config->find("model_type")->as_string(), "llama");
  EXPECT_EQ(*config->find("intermediate_size")->as_int(), 14336);
  EXPECT_EQ(config->find("nest"), nullptr);
}

TEST(HubModel, IsTheUsersOwnFile) {
  PlanInputs inputs = inputs_of("llama3.2-1b");
  inputs.model = Value::object();
  inputs.model.set("model_type", "llama").set("num_hidden_layers", 3);
  EXPECT_EQ(*hub_config(inputs)->find("num_hidden_layers")->as_int(), 3);
}

// Longer sequences than the file knows, for models without a table of positions.
TEST(HubModel, StatesAsManyPositionsAsASequenceHas) {
  const auto positions = [](const PlanInputs& inputs, std::int64_t sequence) {
    const Value config = *hub_config(inputs, sequence);
    const Value* text = config.find("text_config");
    return *(text != nullptr ? text : &config)->find("max_position_embeddings")->as_int();
  };
  const PlanInputs llama = inputs_of("llama2-7b");
  EXPECT_EQ(positions(llama, 4096), 4096);
  EXPECT_EQ(positions(llama, 16384), 16384);
  EXPECT_EQ(positions(inputs_of("gemma3-27b"), 1 << 20), 1 << 20) << "in the part of the language model";
}

// What is written is read as the same model again.
TEST(HubModel, ReadsBackForEveryModel) {
  for (const std::string& name : zoo_names()) {
    const std::optional<Value> config = hub_config(inputs_of(name));
    ASSERT_TRUE(config.has_value()) << name;
    Warnings warnings;
    const ModelSpec read = read_hub_config(parse_json("model", to_json(*config)), name, warnings);
    ModelSpec own = zoo_model(name);
    // Whether the count has the biases that balance experts is a mark of ours, which files for others do not have.
    for (BlockSpec& block : own.stacks.back().blocks) {
      if (block.experts && name.starts_with("deepseek-")) block.experts->correction_bias = false;
    }
    EXPECT_EQ(read.family, own.family) << name;
    EXPECT_EQ(read.stacks.back().blocks, own.stacks.back().blocks) << name;
    EXPECT_EQ(read.details.rotary_base, own.details.rotary_base) << name;
  }
}

}  // namespace
}  // namespace nest::frameworks
