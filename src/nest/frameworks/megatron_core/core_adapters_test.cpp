#include "nest/frameworks/megatron_core/core_adapters.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

using Modules = std::vector<std::string>;

CoreAdapters of(const std::string& model, std::string_view train) {
  Tuning tuning;
  EXPECT_EQ(read_train(train, tuning), "");
  const ModelSpec spec = zoo_model(model);
  return core_adapters(tuning, &spec);
}

TEST(CoreAdapters, StandBesideJoinedProducts) {
  const CoreAdapters usual = of("llama3.1-8b", "lora:16");
  EXPECT_EQ(usual.problem, "");
  EXPECT_FALSE(usual.canonical);
  EXPECT_FALSE(usual.experts);
  EXPECT_EQ(usual.modules, (Modules{"linear_qkv", "linear_proj"}));
  EXPECT_TRUE(of("mixtral-8x7b", "lora:16:linear_fc1+linear_fc2").experts);
  EXPECT_FALSE(of("mixtral-8x7b", "lora:16").experts);
}

TEST(CoreAdapters, OrBesideTheirParts) {
  const CoreAdapters parts = of("llama3.1-8b", "lora:16:q_proj+v_proj+o_proj");
  EXPECT_EQ(parts.problem, "");
  EXPECT_TRUE(parts.canonical);
  EXPECT_EQ(parts.modules, (Modules{"linear_q", "linear_v", "linear_proj"}));
  EXPECT_EQ(of("llama3.1-8b", "lora:16:all-linear").modules,
            (Modules{"linear_q", "linear_k", "linear_v", "linear_proj", "linear_fc1_gate", "linear_fc1_up",
                     "linear_fc2"}));
  // What either of both has needs no parts.
  EXPECT_FALSE(of("llama3.1-8b", "lora:16:o_proj+down_proj").canonical);
}

TEST(CoreAdapters, LatentAttentionJoinsNothing) {
  EXPECT_EQ(of("deepseek-v3", "lora:16").modules,
            (Modules{"linear_q_down_proj", "linear_q_up_proj", "linear_kv_down_proj", "linear_kv_up_proj",
                     "linear_proj"}));
  EXPECT_EQ(of("deepseek-v2-lite", "lora:16:q_proj+kv_b_proj").modules,
            (Modules{"linear_q_proj", "linear_kv_up_proj"}));
  EXPECT_FALSE(of("deepseek-v2-lite", "lora:16:q_proj+kv_b_proj").canonical);
}

TEST(CoreAdapters, SayWhatIsMissing) {
  EXPECT_EQ(
      of("llama3.1-8b", "lora:16:qkv").problem,
      "Megatron Bridge puts adapters beside Megatron-core's modules, such as linear_qkv, not beside qkv");
  EXPECT_EQ(
      of("llama3.1-8b", "lora:16:q_proj+linear_fc1").problem,
      "Megatron Bridge has adapters beside whole products, such as linear_fc1, or beside their parts, such "
      "as linear_q, not both in a run");
  EXPECT_EQ(
      of("mixtral-8x7b", "lora:16:all-linear").problem,
      "Megatron Bridge has one adapter beside both first products of an expert, linear_fc1, not gate_proj "
      "and up_proj apart");
  // Without a gate, the first product is whole.
  EXPECT_EQ(of("gpt2-xl", "lora:16:up_proj+down_proj").modules, (Modules{"linear_fc1", "linear_fc2"}));
  EXPECT_NE(of("gpt2-xl", "lora:16:all-linear").problem, "");
}

}  // namespace
}  // namespace nest::frameworks
