#include "nest/strategies/recompute.hpp"

#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

std::vector<std::string> names(const LayerType& layer, const std::vector<std::size_t>& operators) {
  std::vector<std::string> out;
  out.reserve(operators.size());
  for (const std::size_t i : operators) out.push_back(layer.operators[i].name);
  return out;
}

TEST(Recompute, NoneKeepsWhatOperatorsKeep) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 4});
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::none);
  EXPECT_EQ(cost.stash, s.layer.stash_bytes());
  EXPECT_TRUE(cost.operators.empty());
  EXPECT_EQ(cost.transient.value, 0);
}

// With a fused kernel the core keeps one fp32 per query and head beyond its inputs and result.
TEST(Recompute, SelectiveDropsWhatTheCoreAloneKeeps) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 4});
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::selective);
  const std::int64_t log_sums = 2 * 64 * 8 * 4;
  EXPECT_EQ(cost.stash.value, s.layer.stash_bytes().value - log_sums);
  EXPECT_EQ(cost.transient.value, log_sums);
  EXPECT_EQ(names(s.layer, cost.operators), std::vector<std::string>{"attention"});
}

// The collectives around the core belong to it: they run again, and only what goes into them stays.
TEST(Recompute, SelectiveRepeatsContextCollectives) {
  const Model m = small_model("llama3.1-8b");
  const Strategy trade{.context = 4, .context_method = ContextMethod::all_to_all};
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), trade);
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::selective);
  EXPECT_EQ(names(s.layer, cost.operators),
            (std::vector<std::string>{"attention.scatter_heads", "attention", "attention.gather_heads"}));
  // The core's own result and log-sums go; queries, keys and values stay, in their other layout.
  EXPECT_EQ(cost.stash.value, s.layer.stash_bytes().value - 2 * 64 * 8 * 128 * 2 - 2 * 64 * 8 * 4);
  const ShardedLayer ring = shard_layer(block_with(m, "qkv"), {.context = 4});
  EXPECT_EQ(names(ring.layer, recompute_cost(ring, RecomputePolicy::selective).operators),
            (std::vector<std::string>{"attention.ring", "attention"}));
}

TEST(Recompute, FullKeepsTheInput) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 4, .sequence_parallel = true});
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::full);
  EXPECT_EQ(cost.stash.value, 2 * 16 * 4096 * 2);
  EXPECT_EQ(cost.stash + cost.transient, s.layer.stash_bytes());  // the first norm keeps the input as well
  EXPECT_EQ(cost.operators.size(), s.layer.operators.size());
  const Model t5 = small_model("t5-11b");
  const ShardedLayer decoder = shard_layer(block_with(t5, "cross_kv"), {});
  EXPECT_EQ(recompute_cost(decoder, RecomputePolicy::full).stash.value,
            2 * 2 * 64 * 1024 * 2);  // and the memory
}

TEST(Recompute, EmbeddingsAndHeadsDoNot) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer head = shard_layer(m.types.back(), {});
  EXPECT_FALSE(can_recompute(head.layer));
  EXPECT_EQ(recompute_cost(head, RecomputePolicy::full).stash, head.layer.stash_bytes());
}

// A block of Mamba 2 has a state space and two products, one of Nemotron-H may be an MLP alone: what came in stays, and
// all of it runs again. There is no attention core that could run again by itself.
TEST(Recompute, BlocksWithoutAttention) {
  const auto check = [](const LayerType& block, std::int64_t hidden) {
    const ShardedLayer s = shard_layer(block, {});
    const RecomputeCost full = recompute_cost(s, RecomputePolicy::full);
    EXPECT_EQ(full.stash.value, 2 * 64 * hidden * 2) << block.name;
    EXPECT_EQ(full.operators.size(), s.layer.operators.size());
    const RecomputeCost selective = recompute_cost(s, RecomputePolicy::selective);
    EXPECT_EQ(selective.stash, s.layer.stash_bytes());
    EXPECT_TRUE(selective.operators.empty());
  };
  const Model mamba = small_model("mamba2-2.7b");
  check(block_with(mamba, "ssm_scan"), 2560);
  const Model hybrid = small_model("nemotron-h-8b");
  check(block_with(hybrid, "up"), 4096);
  check(block_with(hybrid, "ssm_scan"), 4096);
}

// torchtitan's per-operator policy on a Llama layer: wq, wv, w1 and w2 of seven products keep their results,
// and attention and what comes in stay too: 4 h + kv + f values a token.
TEST(Recompute, EverySecondProduct) {
  const Model m = small_model("llama3.1-8b");
  const LayerType& block = block_with(m, "qkv");
  const RecomputeCost cost =
      recompute_cost(shard_layer(block, {}), RecomputePolicy::selective, SelectiveRecompute::operators);
  const std::int64_t tokens = m.micro_batch * m.sequence;
  EXPECT_EQ(cost.stash.value, tokens * 2 * (4 * 4096 + 1024 + 14336));
  ASSERT_EQ(cost.shares.size(), cost.operators.size());
  for (std::size_t i = 0; i < cost.operators.size(); ++i) {
    const Operator& op = block.operators[cost.operators[i]];
    EXPECT_NE(op.kind, OperatorKind::attention);
    const double share = op.name == "qkv" ? 1024.0 / 6144 : op.name == "gate_up" ? 0.5 : 1;  // wk, w3
    EXPECT_NEAR(cost.shares[i], share, 1e-12) << op.name;
  }
}

TEST(Recompute, OnTheFirstLayersOfAStage) {
  const Recompute two{RecomputePolicy::full, 2};
  EXPECT_EQ(two.of_layer(1), RecomputePolicy::full);
  EXPECT_EQ(two.of_layer(2), RecomputePolicy::none);
  EXPECT_EQ((Recompute{RecomputePolicy::full}).of_layer(90), RecomputePolicy::full);
  EXPECT_EQ((Recompute{RecomputePolicy::selective}).of_layer(90), RecomputePolicy::selective);
  EXPECT_EQ(spell(two), "full on 2 layers");
  EXPECT_EQ(spell({RecomputePolicy::selective}), "selective");
}

// One layer of Qwen3 30B with experts, 1,024 tokens of 2,048 values, 8 copies of each to experts of 768.
TEST(RecomputeModules, GiveUpWhatTheyMake) {
  const Model model = build_model(zoo_model("qwen3-30b-a3b"), {.sequence = 1024});
  const ShardedLayer layer = shard_layer(block_with(model, "qkv"), {});
  const auto kept = [&](const RecomputeModules& modules) {
    Selective selective(SelectiveRecompute::modules);
    selective.modules = modules;
    return recompute_cost(layer, RecomputePolicy::selective, selective);
  };
  const Bytes all = recompute_cost(layer, RecomputePolicy::none).stash;
  // The activated rows, 2 bytes a value.
  const RecomputeCost act = kept({RecomputeModule::moe_act});
  EXPECT_EQ((all - act.stash).value, 1024 * 8 * 768 * 2);
  EXPECT_EQ(names(layer.layer, act.operators), std::vector<std::string>{"experts.activation"});
  EXPECT_EQ(act.transient.value, 1024 * 8 * 768 * 2);
  // The results of both norms, and a 32-bit statistic of each row.
  const RecomputeCost norms = kept({RecomputeModule::layernorm});
  EXPECT_EQ((all - norms.stash).value, 2 * 1024 * (2048 * 2 + 4));
  EXPECT_EQ(names(layer.layer, norms.operators), (std::vector<std::string>{"attention_norm", "ffn_norm"}));
  // The attention core alone is what "selective" meant before.
  EXPECT_EQ(kept({RecomputeModule::core_attn}).stash,
            recompute_cost(layer, RecomputePolicy::selective).stash);
}

// As a choice for layers: the search relies on it that no set keeps less than full recomputation, in any precision.
TEST(RecomputeModules, KeepNoLessThanFull) {
  for (const char* name : {"llama3.2-1b", "bert-large", "olmo2-7b", "mixtral-8x7b", "deepseek-v3"}) {
    const Model model = build_model(zoo_model(name), {.micro_batch = 1, .sequence = 256, .mtp = true});
    for (const Strategy& strategy :
         {Strategy{}, Strategy{.tensor = 4}, Strategy{.tensor = 4, .sequence_parallel = true}}) {
      for (const LayerType& type : model.types) {
        const ShardedLayer layer = shard_layer(type, strategy);
        for (const Precision precision : {Precision::bf16, Precision::fp8}) {
          const auto cost = [&](const LayerPolicy& policy) {
            return recompute_cost(layer, policy, {}, precision);
          };
          for (std::uint32_t bits = 1; bits < 1U << kMostModules; ++bits) {
            const RecomputeCost own = cost({RecomputePolicy::modules, RecomputeModules::of_bits(bits)});
            ASSERT_GE(own.stash, cost(RecomputePolicy::full).stash)
                << name << " " << type.name << " " << bits;
            if (!own.operators.empty()) continue;
            EXPECT_EQ(own.stash, cost(RecomputePolicy::none).stash)
                << name << " " << type.name << " " << bits;
          }
        }
      }
    }
  }
}

TEST(RecomputeModules, CoreAttentionAloneIsSelective) {
  const Model model = build_model(zoo_model("llama3.2-1b"), {.micro_batch = 1, .sequence = 256});
  const ShardedLayer layer = shard_layer(block_with(model, "attention"), {});
  const RecomputeCost selective = recompute_cost(layer, RecomputePolicy::selective);
  const RecomputeCost set = recompute_cost(layer, {RecomputePolicy::modules, {RecomputeModule::core_attn}});
  EXPECT_EQ(set.operators, selective.operators);
  EXPECT_EQ(set.stash, selective.stash);
  EXPECT_EQ(set.transient, selective.transient);
}

TEST(Recompute, LowPrecisionKeepsOperandsInItsOwnBits) {
  const Model model = build_model(zoo_model("llama3-8b"), {.sequence = 1024});
  const ShardedLayer layer = shard_layer(block_with(model, "qkv"), {});
  const auto kept = [&](Precision precision) {
    return recompute_cost(layer, RecomputePolicy::none, {}, precision).stash.value;
  };
  // Inputs of qkv, of gate and up, and of down take one byte less; attention's result is kept for its own sake too.
  const std::int64_t inputs = 1024 * (4096 + 4096 + 14336);
  EXPECT_EQ(kept(Precision::bf16) - kept(Precision::fp8), inputs - 1024 * 4096);
}

// Korthikanti et al. 2022, "Reducing activation recomputation": bytes kept by a layer of GPT in 16 bit, with
// a heads, without a flash kernel and with dropout. They leave out the norms' fp32 statistics, which are 16
// bytes a token here.
class GptLayer : public ::testing::Test {
 protected:
  static constexpr std::int64_t kS = 512;
  static constexpr std::int64_t kB = 2;
  static constexpr std::int64_t kH = 2048;
  static constexpr std::int64_t kT = 8;

  [[nodiscard]] std::int64_t kept(const Strategy& strategy, RecomputePolicy policy) const {
    return recompute_cost(shard_layer(layer(), strategy), policy).stash.value;
  }
  [[nodiscard]] const LayerType& layer() const { return block_with(model_, "qkv"); }
  [[nodiscard]] std::int64_t a() const {
    return layer().tensor(operator_named(layer(), "attention").inputs[0]).shape[2].size;
  }

  Model model_ = build_model(zoo_model("gpt3-1.3b"),
                             {.micro_batch = kB, .sequence = kS, .flash = false, .dropout = true});
};

TEST_F(GptLayer, KeepsSbhTimes34And5asOverH) {
  EXPECT_EQ(kept({}, RecomputePolicy::none), kS * kB * kH * 34 + 5 * a() * kS * kS * kB + 16 * kS * kB);
}

TEST_F(GptLayer, TensorParallelismSplits24Of34) {
  EXPECT_EQ(kept({.tensor = kT}, RecomputePolicy::none),
            kS * kB * kH * (10 + 24 / kT) + 5 * a() * kS * kS * kB / kT + 16 * kS * kB);
}

TEST_F(GptLayer, SequenceParallelismSplitsAll) {
  const Strategy both{.tensor = kT, .sequence_parallel = true};
  EXPECT_EQ(kept(both, RecomputePolicy::none) * kT,
            kS * kB * kH * 34 + 5 * a() * kS * kS * kB + 16 * kS * kB);
  // Selective recomputation drops exactly the scores, full all but the input.
  EXPECT_EQ(kept(both, RecomputePolicy::selective) * kT, kS * kB * kH * 34 + 16 * kS * kB);
  EXPECT_EQ(kept(both, RecomputePolicy::full) * kT, kS * kB * kH * 2);
  const RecomputeCost cost = recompute_cost(shard_layer(layer(), both), RecomputePolicy::selective);
  EXPECT_EQ(cost.transient.value * kT, 5 * a() * kS * kS * kB);
  EXPECT_EQ(names(shard_layer(layer(), both).layer, cost.operators), std::vector<std::string>{"attention"});
}

// A context rank's queries attend to all keys: a c-th of the scores, by ring as by all-to-all.
TEST_F(GptLayer, ContextParallelismSplitsTheScoresOnce) {
  for (const ContextMethod method : {ContextMethod::ring, ContextMethod::all_to_all}) {
    const Strategy context{.context = 4, .context_method = method};
    const std::int64_t dropped =
        kept(context, RecomputePolicy::none) - kept(context, RecomputePolicy::selective);
    EXPECT_EQ(dropped, 5 * a() * kS * kS * kB / 4) << name_of(method);
  }
}

}  // namespace
}  // namespace nest::strategies
