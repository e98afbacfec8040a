#include "nest/plan/text/model_facts.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "support/message_of.hpp"

namespace nest::plan {
namespace {

PlanInputs zoo_inputs(const std::string& model) {
  Warnings warnings;
  return load_inputs(model, "h100-spine-leaf", "megatron", warnings);
}

TEST(ModelFacts, NameParametersAndLayersOfAZooModel) {
  const Value facts = model_facts(zoo_inputs("llama3.1-8b"), {.sequence = 4096});
  EXPECT_EQ(*facts.find("name")->as_string(), "llama3.1-8b");
  EXPECT_EQ(*facts.find("parameters")->as_int(), 8'030'261'248);
  const Value::Array& names = *facts.find("layers")->as_array();
  ASSERT_EQ(names.size(), 34U);
  EXPECT_EQ(*names.front().as_string(), "embedding");
  EXPECT_EQ(*names[1].as_string(), "layer0");
  EXPECT_EQ(*names.back().as_string(), "head");
}

TEST(ModelFacts, ModulesForMultiTokenPredictionAreLayersWhereTheyAreTrained) {
  const auto names = [](bool mtp) {
    const Value facts = model_facts(zoo_inputs("deepseek-v3.2"), {.sequence = 4096, .mtp = mtp});
    std::string last;
    const Value::Array& all = *facts.find("layers")->as_array();
    for (std::size_t i = all.size() - 2; i < all.size(); ++i) last += *all[i].as_string() + " ";
    return last;
  };
  EXPECT_EQ(names(false), "layer60 head ");
  EXPECT_EQ(names(true), "mtp0 head ");
}

TEST(ModelFacts, OfALayerProfile) {
  EXPECT_EQ(to_json_line(model_facts(test::example_inputs(), {.sequence = 512})),
            R"({"name": "three", "parameters": 300000000, "layers": ["a", "b", "c"]})");
}

// A sequence of 0 is one that nobody chose yet.
TEST(ModelFacts, OpenSequencesTakeTheModelsOwn) {
  EXPECT_EQ(model_facts(zoo_inputs("t5-small"), {}), model_facts(zoo_inputs("t5-small"), {.sequence = 512}));
}

TEST(ModelFacts, SequencesBeyondTheModelAreRefused) {
  const PlanInputs gpt2 = zoo_inputs("gpt2");
  EXPECT_EQ(message_of([&] { static_cast<void>(model_facts(gpt2, {.sequence = 2048})); }),
            "--sequence: 2048 is beyond the 1024 positions of gpt2; use 1024 or less");
}

TEST(ModelFacts, Version) {
  EXPECT_FALSE(version_text().empty());
}

}  // namespace
}  // namespace nest::plan
