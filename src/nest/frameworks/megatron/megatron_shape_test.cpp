#include "nest/frameworks/megatron/megatron_shape.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/megatron/megatron_model.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::vector<Flag> flags_of(const std::string& name) {
  std::vector<std::string> lost;
  return megatron_model_flags(zoo_model(name), {}, lost).flags;
}

TEST(MegatronShape, FindsTheModelInTheZoo) {
  for (const char* name :
       {"llama3.1-8b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b", "qwen2.5-7b"}) {
    const std::vector<std::string> found = zoo_models_of(flags_of(name));
    EXPECT_NE(std::find(found.begin(), found.end(), name), found.end()) << name;
  }
}

TEST(MegatronShape, PositionsTellTwinsApart) {
  std::vector<Flag> flags = flags_of("llama3.1-8b");
  flags.push_back({"--max-position-embeddings", {"131072"}});
  EXPECT_EQ(zoo_models_of(flags).front(), "llama3.1-8b");
  flags.back().values = {"8192"};
  EXPECT_EQ(zoo_models_of(flags).front(), "llama3-8b");
}

TEST(MegatronShape, DefaultsAreMegatrons) {
  const auto shape =
      megatron_shape(read_flags("--num-layers 96 --hidden-size 12288 --num-attention-heads 96"));
  EXPECT_EQ(shape.at("--ffn-hidden-size"), "49152");
  EXPECT_EQ(shape.at("--kv-channels"), "128");
  EXPECT_EQ(shape.at("--num-query-groups"), "96");
  EXPECT_EQ(shape, megatron_shape(flags_of("gpt3-175b")));
}

// A model built from flags has the same parameters.
TEST(MegatronShape, BuildsPlainModels) {
  for (const char* name :
       {"llama3.1-8b", "gpt3-13b", "mixtral-8x7b", "qwen2.5-7b", "qwen3-8b", "llama3.2-1b"}) {
    std::vector<Flag> flags = flags_of(name);
    flags.push_back({"--max-position-embeddings", {std::to_string(zoo_model(name).positions)}});
    const Value config = config_of(flags);
    ASSERT_FALSE(config.is_null()) << name;
    Warnings warnings;
    const ModelSpec spec = read_hub_config(parse_json("x", to_json(config)), "x", warnings);
    EXPECT_TRUE(warnings.empty());
    EXPECT_EQ(build_model(spec).parameters(), build_model(zoo_model(name)).parameters()) << name;
  }
  EXPECT_TRUE(config_of(flags_of("deepseek-v3")).is_null());
  EXPECT_TRUE(config_of(read_flags("--num-layers 4")).is_null());
}

}  // namespace
}  // namespace nest::frameworks
