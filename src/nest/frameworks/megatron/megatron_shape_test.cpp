#include "nest/frameworks/megatron/megatron_shape.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/megatron/megatron_model.hpp"
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

}  // namespace
}  // namespace nest::frameworks
