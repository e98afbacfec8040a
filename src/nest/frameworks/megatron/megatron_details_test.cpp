#include "nest/frameworks/megatron/megatron_details.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/frameworks/megatron/megatron_model.hpp"
#include "nest/frameworks/megatron/test_megatron_flags.hpp"
#include "nest/frameworks/test_details.hpp"
#include "nest/model/zoo.hpp"
#include "nest/network/groups/test_random.hpp"

namespace nest::frameworks {
namespace {

const Release& release(std::string_view name) {
  return *find_releases("megatron")->find(name);
}

struct Written {
  FlagSection flags;
  std::vector<std::string> lost;

  [[nodiscard]] std::string text() const {
    std::string out = flag_text({flags});
    for (const std::string& sentence : lost) out += sentence + "\n";
    return out;
  }
  // "--window-size 127,0", or "" where it is not written.
  [[nodiscard]] std::string flag(std::string_view name) const {
    const Flag* flag = find_flag(flags.flags, name);
    if (flag == nullptr) return "";
    std::string out = flag->name;
    for (const std::string& own : flag->values) out += " " + own;
    return out;
  }
  [[nodiscard]] bool loses(std::string_view piece) const {
    return std::any_of(lost.begin(), lost.end(), [&](const std::string& sentence) {
      return sentence.find(piece) != std::string::npos;
    });
  }
};

Written written(const ModelSpec& spec, std::string_view of = "core_v0.19", ModelFlagOptions options = {}) {
  options.release = &release(of);
  Written out;
  out.flags = megatron_model_flags(spec, options, out.lost);
  return out;
}

// The language part of a model with towers.
ModelSpec language(const char* name) {
  ModelSpec spec = zoo_model(name);
  spec.stacks.erase(spec.stacks.begin(), spec.stacks.end() - 1);
  return spec;
}

TEST(MegatronDetails, Positions) {
  const Written llama = written(zoo_model("llama3.1-8b"));
  EXPECT_EQ(llama.flag("--position-embedding-type"), "--position-embedding-type rope");
  EXPECT_EQ(llama.flag("--rotary-base"), "--rotary-base 500000");
  EXPECT_EQ(llama.flag("--use-rope-scaling"), "--use-rope-scaling");
  EXPECT_EQ(llama.flag("--rope-scaling-factor"), "--rope-scaling-factor 8");
  EXPECT_EQ(llama.flag("--norm-epsilon"), "--norm-epsilon 1e-05");
  EXPECT_TRUE(llama.lost.empty());
  EXPECT_EQ(written(zoo_model("pythia-70m")).flag("--rotary-percent"), "--rotary-percent 0.25");
  EXPECT_EQ(written(zoo_model("gpt2-xl")).flag("--position-embedding-type"),
            "--position-embedding-type learned_absolute");
  const Written smol = written(zoo_model("smollm3-3b"));
  EXPECT_TRUE(smol.flag("--no-rope-freq").starts_with("--no-rope-freq ([0]*3+[1]*1+[0]*3+[1]*1"))
      << smol.text();
  // Linear scaling divides the positions.
  EXPECT_EQ(written(language("gemma3-27b")).flag("--rotary-seq-len-interpolation-factor"),
            "--rotary-seq-len-interpolation-factor 8");
}

// Yarn has flags outside latent attention from core_v0.19 on; there it has the betas of DeepSeek alone.
TEST(MegatronDetails, Yarn) {
  const ModelSpec oss = zoo_model("gpt-oss-120b");
  const Written now = written(oss);
  EXPECT_EQ(now.flag("--position-embedding-type"), "--position-embedding-type yarn");
  EXPECT_EQ(now.flag("--rotary-scaling-factor"), "--rotary-scaling-factor 32");
  EXPECT_EQ(now.flag("--yarn-beta-fast"), "--yarn-beta-fast 32");
  EXPECT_EQ(now.flag("--yarn-original-max-position-embeddings"),
            "--yarn-original-max-position-embeddings 4096");
  EXPECT_NE(now.flag("--no-yarn-correction-range-round-to-int"), "");
  const Written before = written(oss, "core_v0.18");
  EXPECT_EQ(before.flag("--position-embedding-type"), "--position-embedding-type rope");
  EXPECT_TRUE(
      before.loses("the scaling of rotary positions has no flags in this release: YaRN, 32 times of 4096"));
  EXPECT_EQ(written(zoo_model("deepseek-v3.2")).flag("--rope-type"), "--rope-type yarn");
  const Written kimi = written(zoo_model("kimi-k2"));  // its beta_fast is 1
  EXPECT_EQ(kimi.flag("--rope-type"), "--rope-type rope");
  EXPECT_TRUE(kimi.loses("no flags for latent attention"));
}

std::string windows(const std::vector<std::int64_t>& widths, const char* of = "core_v0.19",
                    bool ring = false) {
  ModelSpec spec = zoo_model("llama3.1-8b");
  const BlockSpec block = spec.stacks.front().blocks.front();
  spec.stacks.front().blocks.assign(widths.size(), block);
  for (std::size_t i = 0; i < widths.size(); ++i) spec.stacks.front().blocks[i].attention.window = widths[i];
  const Written out = written(spec, of, {.ring = ring});
  if (out.loses("sliding windows")) return "lost";
  return out.flag("--window-size") + out.flag("--window-attn-skip-freq");
}

TEST(MegatronDetails, Windows) {
  EXPECT_EQ(windows({0, 0}), "");
  EXPECT_EQ(windows({4096, 4096}), "--window-size 4095,0");
  EXPECT_EQ(windows({4096, 0, 4096, 0}), "--window-size 4095,0--window-attn-skip-freq 2");
  EXPECT_EQ(windows({8, 8, 0, 8, 8}), "--window-size 7,0--window-attn-skip-freq 3");
  EXPECT_EQ(windows({0, 0, 8}), "--window-size 7,0--window-attn-skip-freq ([0]*2+[1]*1)");
  EXPECT_EQ(windows({8, 4}), "lost");
  EXPECT_EQ(windows({8, 8}, "core_v0.14"), "lost");
  EXPECT_EQ(windows({8, 8}, "core_v0.19", true), "lost");
  EXPECT_TRUE(written(language("llama4-scout")).loses("chunks of 8192 in 36 of 48 layers are left out"));
}

TEST(MegatronDetails, AttentionOfNewerModels) {
  const ModelSpec oss = zoo_model("gpt-oss-120b");
  EXPECT_EQ(written(oss).flag("--softmax-type"), "--softmax-type learnable");
  EXPECT_TRUE(written(oss, "core_v0.14").loses("the sinks of attention, in all layers"));
  EXPECT_TRUE(written(oss, "core_v0.19", {.ring = true}).loses("ring attention has none"));
  const Written next = written(zoo_model("qwen3-next-80b-a3b"));
  EXPECT_EQ(next.flag("--num-attention-heads"), "--num-attention-heads 16");
  EXPECT_NE(next.flag("--attention-output-gate"), "");
  EXPECT_EQ(next.flag("--experimental-attention-variant"),
            "--experimental-attention-variant gated_delta_net");
  EXPECT_EQ(next.flag("--linear-attention-freq"), "--linear-attention-freq 4");
  EXPECT_EQ(next.flag("--linear-num-value-heads"), "--linear-num-value-heads 32");
  EXPECT_EQ(next.flag("--rotary-percent"), "--rotary-percent 0.25");
  EXPECT_EQ(next.lost, std::vector<std::string>{"multi-token prediction modules are not part of the plan"});
  const Written trained = written(zoo_model("qwen3-next-80b-a3b"), "core_v0.19", {.mtp = true});
  EXPECT_TRUE(trained.lost.empty()) << trained.text();
  const Written old = written(zoo_model("qwen3-next-80b-a3b"), "core_v0.15");
  EXPECT_TRUE(old.loses("delta rules in place of attention, in 36 of 48 layers"));
  EXPECT_TRUE(old.loses("the gate of attention's result"));
  EXPECT_TRUE(old.loses("the gate of the shared expert"));
  // Context ranks share delta rules out from core_v0.18 on; 16 heads of keys over 32 ranks they never do.
  EXPECT_TRUE(written(zoo_model("qwen3-next-80b-a3b"), "core_v0.17", {.context = 2})
                  .loses("delta rules are left out"));
  EXPECT_FALSE(written(zoo_model("qwen3-next-80b-a3b"), "core_v0.18", {.context = 2}).loses("delta rules"));
  EXPECT_TRUE(written(zoo_model("qwen3-next-80b-a3b"), "core_v0.18", {.context = 4, .tensor = 8})
                  .loses("delta rules are left out"));
  const Written sparse = written(zoo_model("deepseek-v3.2"));
  EXPECT_EQ(sparse.flag("--dsa-indexer-topk"), "--dsa-indexer-topk 2048");
  EXPECT_EQ(sparse.flag("--dsa-indexer-n-heads"), "--dsa-indexer-n-heads 64");
  EXPECT_EQ(sparse.flag("--window-size"), "");
  EXPECT_TRUE(
      written(zoo_model("deepseek-v3.2"), "core_v0.15").loses("the heads that choose keys, 64 heads of 128"));
  const Written scout = written(language("llama4-scout"));
  EXPECT_NE(scout.flag("--qk-l2-norm"), "");
  EXPECT_EQ(scout.flag("--qk-layernorm"), "");
  EXPECT_TRUE(scout.loses("the temperature of layers without rotary positions, 0.1 for each 8192 positions"));
}

TEST(MegatronDetails, FeedForwards) {
  const ModelSpec oss = zoo_model("gpt-oss-120b");
  const Written now = written(oss);
  EXPECT_EQ(now.flag("--activation-func-clamp-value"), "--activation-func-clamp-value 7");
  EXPECT_EQ(now.flag("--glu-linear-offset"), "--glu-linear-offset 1");
  EXPECT_NE(now.flag("--quick-geglu"), "");
  EXPECT_EQ(now.flag("--disable-bias-linear"), "") << "experts and routers have biases too";
  EXPECT_TRUE(now.lost.empty()) << now.text();
  EXPECT_TRUE(written(oss, "core_v0.14").loses("the activation is plain SwiGLU"));
  EXPECT_TRUE(written(oss, "core_v0.14").loses("others are left out"));
  // Biases of experts are refused where tensor ranks share experts out.
  EXPECT_NE(written(oss, "core_v0.19", {.tensor = 2, .expert_tensor = 2}).flag("--disable-bias-linear"), "");
  ModelSpec squared = zoo_model("opt-6.7b");
  EXPECT_TRUE(written(squared).loses("gelu runs in place of relu"));
  squared.details.numbers["squared_relu"] = 1;
  EXPECT_NE(written(squared).flag("--squared-relu"), "");
}

TEST(MegatronDetails, MultipliersAndCapsAreNamed) {
  EXPECT_THAT(written(zoo_model("granite-3.3-8b")).lost,
              testing::IsSupersetOf({"left out: the factor of attention's scores, 0.0078125",
                                     "left out: the factor of the embeddings, 12",
                                     "left out: the factor of residual branches, 0.22",
                                     "left out: the factor of the logits, 0.0625"}));
  const Written gemma = written(zoo_model("gemma2-9b"));
  EXPECT_TRUE(gemma.loses("the soft cap of attention's scores, 50"));
  EXPECT_TRUE(gemma.loses("the soft cap of the logits, 30"));
  EXPECT_TRUE(gemma.loses("this model has before and after each branch"));
  EXPECT_TRUE(written(language("gemma3-27b")).loses("the rotary base of layers with a window, 10000"));
  EXPECT_TRUE(written(zoo_model("olmo2-7b")).loses("not one over all heads"));
}

// pretrain_gpt.py has no state spaces; the exporter says so and writes no flags of the model.
TEST(MegatronDetails, OnlyOfBlocksThatItHas) {
  EXPECT_FALSE(megatron_describes(zoo_model("nemotron-h-8b")));
  EXPECT_FALSE(megatron_describes(zoo_model("mamba2-2.7b")));
  EXPECT_FALSE(megatron_describes(zoo_model("kimi-linear-48b-a3b")));
  EXPECT_TRUE(megatron_describes(zoo_model("qwen3-next-80b-a3b")));
}

// Whatever is changed in whatever model for whatever release: the flags change, or what is named as lost does. And the
// release knows every flag.
TEST(MegatronDetails, NothingIsDroppedSilently) {
  const test::FlagTable table;
  const auto& releases = find_releases("megatron")->releases;
  const std::vector<test::DetailChange> changes = test::detail_changes();
  std::vector<ModelSpec> models;
  for (const std::string& name : zoo_names()) {
    ModelSpec spec = zoo_model(name);
    if (megatron_describes(spec) && spec.stacks.front().stem.kind == StemSpec::Kind::tokens)
      models.push_back(std::move(spec));
  }
  ASSERT_GT(models.size(), 100U);
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    test::Dice dice(seed);
    ModelSpec spec = dice.one_of(models);
    const auto& own = releases[seed % releases.size()];
    ModelFlagOptions options{&own, dice.once_in(4), dice.once_in(3) ? 2 : 1, dice.once_in(3) ? 4 : 1, 1};
    for (int i = static_cast<int>(dice.pick(0, 2)); i > 0; --i)
      static_cast<void>(dice.one_of(changes).make(spec));
    const test::DetailChange& change = dice.one_of(changes);
    ModelSpec other = spec;
    const Written before = written(spec, own.name, options);
    ASSERT_EQ(table.problem(own.name, before.flags.flags), "") << spec.name << " seed " << seed;
    if (!change.make(other) || differing_details(spec, other, "it").empty()) continue;
    EXPECT_NE(before.text(), written(other, own.name, options).text())
        << spec.name << " for " << own.name << ", seed " << seed << ": " << change.name;
  }
}

}  // namespace
}  // namespace nest::frameworks
