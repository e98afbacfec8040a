#include "nest/frameworks/megatron/megatron_details.hpp"

#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

const Release& release(const char* name) {
  return *find_releases("megatron")->find(name);
}

std::string positions(const ModelSpec& spec, const char* of = "core_v0.19",
                      std::vector<std::string>* lost = nullptr) {
  FlagSection flags{"", {}};
  std::vector<std::string> none;
  add_positions(spec, release(of), flags, lost != nullptr ? *lost : none);
  return flag_text({flags});
}

TEST(MegatronDetails, PositionsOfLlama) {
  EXPECT_EQ(positions(zoo_model("llama3.1-8b")),
            "# \n--position-embedding-type rope\n--rotary-base 500000\n--use-rope-scaling\n"
            "--rope-scaling-factor 8\n--norm-epsilon 1e-05\n");
  EXPECT_EQ(positions(zoo_model("pythia-70m")),
            "# \n--position-embedding-type rope\n--rotary-base 10000\n--rotary-percent 0.25\n"
            "--norm-epsilon 1e-05\n");
}

// Yarn has flags outside latent attention from core_v0.19 on.
TEST(MegatronDetails, PositionsByYarn) {
  ModelSpec spec = zoo_model("qwen2.5-7b");
  spec.details.scaling =
      RotaryScaling{.kind = RotaryScaling::Kind::yarn, .factor = 4, .original_positions = 32768};
  EXPECT_EQ(
      positions(spec),
      "# \n--position-embedding-type yarn\n--rotary-base 1000000\n--rotary-scaling-factor 4\n--mscale 1\n"
      "--mscale-all-dim 0\n--yarn-beta-fast 32\n--yarn-beta-slow 1\n"
      "--yarn-original-max-position-embeddings 32768\n--norm-epsilon 1e-06\n");
  std::vector<std::string> lost;
  EXPECT_EQ(positions(spec, "core_v0.18", &lost),
            "# \n--position-embedding-type rope\n--rotary-base 1000000\n--norm-epsilon 1e-06\n");
  EXPECT_EQ(lost, std::vector<std::string>{
                      "the scaling of rotary positions has no flags in this release: it is left out"});
}

std::string windows(const std::vector<std::int64_t>& widths, const char* of = "core_v0.19",
                    bool ring = false) {
  StackSpec stack;
  for (const std::int64_t width : widths) stack.blocks.emplace_back().attention.window = width;
  FlagSection flags{"", {}};
  std::vector<std::string> lost;
  add_windows(stack, release(of), ring, flags, lost);
  std::string out = lost.empty() ? "" : "lost";
  for (const Flag& flag : flags.flags) out += flag.name + " " + flag.values.front() + ";";
  return out;
}

TEST(MegatronDetails, Windows) {
  EXPECT_EQ(windows({0, 0}), "");
  EXPECT_EQ(windows({4096, 4096}), "--window-size 4095,0;");
  EXPECT_EQ(windows({4096, 0, 4096, 0}), "--window-size 4095,0;--window-attn-skip-freq 2;");
  EXPECT_EQ(windows({8, 8, 0, 8, 8}), "--window-size 7,0;--window-attn-skip-freq 3;");
  EXPECT_EQ(windows({0, 0, 8}), "--window-size 7,0;--window-attn-skip-freq ([0]*2+[1]*1);");
  EXPECT_EQ(windows({8, 4}), "lost");
  EXPECT_EQ(windows({8, 8}, "core_v0.14"), "lost");
  EXPECT_EQ(windows({8, 8}, "core_v0.19", true), "lost");
}

std::string router(const char* model) {
  FlagSection flags{"", {}};
  const ModelSpec spec = zoo_model(model);
  add_router(spec.details.router, *spec.stacks.front().blocks.back().experts, flags);
  std::string out;
  for (const Flag& flag : flags.flags) {
    out += flag.name.substr(6) + (flag.values.empty() ? "" : " " + flag.values.front()) + ";";
  }
  return out;
}

TEST(MegatronDetails, Routers) {
  EXPECT_EQ(router("deepseek-v2"),
            "router-num-groups 8;router-group-topk 3;router-pre-softmax;router-topk-scaling-factor 16;"
            "router-load-balancing-type seq_aux_loss;aux-loss-coeff 0.001;");
  EXPECT_EQ(router("mixtral-8x7b"), "router-load-balancing-type aux_loss;aux-loss-coeff 0.02;");
  EXPECT_EQ(router("qwen1.5-moe-a2.7b"),
            "router-pre-softmax;router-load-balancing-type aux_loss;aux-loss-coeff 0.001;");
}

}  // namespace
}  // namespace nest::frameworks
