#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/frameworks/megatron/megatron_model.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::string router_flags(const char* model) {
  std::vector<std::string> lost;
  const FlagSection flags = megatron_model_flags(zoo_model(model), {}, lost);
  std::string text;
  for (const Flag& flag : flags.flags) {
    if (!flag.name.starts_with("--moe-router-") && !flag.name.starts_with("--moe-aux")) continue;
    if (flag.name == "--moe-router-topk") continue;
    text += flag.name.substr(6) + (flag.values.empty() ? "" : " " + flag.values.front()) + ";";
  }
  return text;
}

TEST(MegatronRouter, OfRealModels) {
  EXPECT_EQ(router_flags("deepseek-v2"),
            "router-num-groups 8;router-group-topk 3;router-pre-softmax;router-topk-scaling-factor 16;"
            "router-load-balancing-type seq_aux_loss;aux-loss-coeff 0.001;");
  EXPECT_EQ(router_flags("deepseek-v3.2"),
            "router-num-groups 8;router-group-topk 4;router-score-function sigmoid;router-enable-expert-bias;"
            "router-topk-scaling-factor 2.5;");
  EXPECT_EQ(router_flags("kimi-k2"),
            "router-score-function sigmoid;router-enable-expert-bias;router-topk-scaling-factor 2.827;");
  EXPECT_EQ(router_flags("glm-4.5"),
            "router-score-function sigmoid;router-enable-expert-bias;router-topk-scaling-factor 2.5;");
  EXPECT_EQ(router_flags("mixtral-8x7b"), "router-load-balancing-type aux_loss;aux-loss-coeff 0.02;");
  EXPECT_EQ(router_flags("qwen1.5-moe-a2.7b"),
            "router-pre-softmax;router-load-balancing-type aux_loss;aux-loss-coeff 0.001;");
  // A bias beside a softmax is refused.
  std::vector<std::string> lost;
  static_cast<void>(megatron_model_flags(zoo_model("ernie-4.5-300b-a47b"), {}, lost));
  EXPECT_THAT(lost,
              testing::Contains("left out: the bias of the router that balances experts, one for each"));
}

}  // namespace
}  // namespace nest::frameworks
