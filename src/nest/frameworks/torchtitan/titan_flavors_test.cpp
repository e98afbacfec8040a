#include "nest/frameworks/torchtitan/titan_flavors.hpp"

#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::string flavor_of(const std::string& model, std::string_view release) {
  const ModelSpec spec = zoo_model(model);
  const TitanFlavor* flavor = find_flavor(&spec, release);
  return flavor == nullptr ? "" : std::string(flavor->module) + " " + std::string(flavor->flavor);
}

// By their shape: other names of the same model are found too, models of other shapes are not.
TEST(TitanFlavors, AreFoundByShape) {
  EXPECT_EQ(flavor_of("llama3-8b", "v0.2.2"), "llama3 8B");
  EXPECT_EQ(flavor_of("llama3.1-8b", "main"), "llama3 8B");
  EXPECT_EQ(flavor_of("llama3.3-70b", "v0.2.2"), "llama3 70B");
  EXPECT_EQ(flavor_of("llama3.1-405b", "main"), "llama3 405B");
  EXPECT_EQ(flavor_of("qwen3-4b", "v0.2.2"), "qwen3 4B");
  EXPECT_EQ(flavor_of("qwen3-8b", "v0.2.2"), "qwen3 8B");
  EXPECT_EQ(flavor_of("qwen3-14b", "main"), "qwen3 14B");
  EXPECT_EQ(flavor_of("qwen3-32b", "main"), "qwen3 32B");
  EXPECT_EQ(flavor_of("qwen3-0.6b", "main"), "qwen3 0.6B");
  EXPECT_EQ(flavor_of("qwen3-1.7b", "main"), "qwen3 1.7B");
  EXPECT_EQ(flavor_of("qwen3-30b-a3b", "main"), "qwen3 30B-A3B");
  EXPECT_EQ(flavor_of("qwen3-235b-a22b", "main"), "qwen3 235B-A22B");
  EXPECT_EQ(flavor_of("deepseek-v2-lite", "v0.2.2"), "deepseek_v3 16B");
  EXPECT_EQ(flavor_of("deepseek-v2", "v0.2.2"), "deepseek_v3 236B");
  EXPECT_EQ(flavor_of("deepseek-r1", "main"), "deepseek_v3 671B");
  EXPECT_EQ(flavor_of("llama2-70b", "main"), "");
  EXPECT_EQ(flavor_of("mixtral-8x7b", "main"), "");
}

// The small Llamas came after 0.2.2.
TEST(TitanFlavors, BelongToReleases) {
  EXPECT_EQ(flavor_of("llama3.2-1b", "v0.2.2"), "");
  EXPECT_EQ(flavor_of("llama3.2-1b", "main"), "llama3 1B");
  EXPECT_EQ(flavor_of("llama3.2-3b", "main"), "llama3 3B");
}

TEST(TitanFlavors, ConfigurationsBeginWithOneOfTheSameModule) {
  for (const TitanFlavor& flavor : titan_flavors())
    EXPECT_TRUE(config_beside(flavor).starts_with(flavor.module)) << flavor.flavor;
}

}  // namespace
}  // namespace nest::frameworks
