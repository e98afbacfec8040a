#include "nest/model/adapters.hpp"

#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

struct Adapted {
  LayerType before;
  LayerType after;
  FoundTargets found;
};

Adapted adapted(const std::string& name, std::int64_t rank, const std::vector<std::string>& targets) {
  const Model model = build_model(zoo_model(name), {.micro_batch = 1, .sequence = 64});
  const LayerType& block =
      *std::ranges::find_if(model.types, [](const LayerType& t) { return t.is_block(); });
  Adapted out{block, block, {}};
  add_adapters(out.after, rank, targets, out.found);
  return out;
}

std::vector<std::string> added(const Adapted& a) {
  std::vector<std::string> names;
  for (const Operator& op : a.after.operators) {
    if (op.name.find(".lora_") != std::string::npos) names.push_back(op.name);
  }
  return names;
}

// Llama 3.1 8B: hidden 4096, 32 heads and 8 key-value heads of 128, ffn 14336.
TEST(Adapters, StandBesideTheJoinedProjections) {
  const Adapted a = adapted("llama3.1-8b", 16, {"linear_qkv", "linear_proj"});
  // A of 4096 x 16 and B of 16 x 6144; then 4096 x 16 and 16 x 4096.
  EXPECT_EQ(a.after.apart_parameters(), 16 * (4096 + 6144) + 16 * (4096 + 4096));
  EXPECT_EQ(a.after.parameters(), a.before.parameters());
  // Two FLOPs for each of 64 tokens and each parameter.
  EXPECT_DOUBLE_EQ((a.after.forward_flops() - a.before.forward_flops()).value,
                   2.0 * 64 * static_cast<double>(a.after.apart_parameters()));
  EXPECT_EQ(added(a), (std::vector<std::string>{"qkv.lora_a", "qkv.lora_b", "qkv.q.lora_scale",
                                                "qkv.q.lora_add", "qkv.k.lora_scale", "qkv.k.lora_add",
                                                "qkv.v.lora_scale", "qkv.v.lora_add", "output.lora_a",
                                                "output.lora_b", "output.lora_scale", "output.lora_add"}));
}

TEST(Adapters, NamesOfHuggingFaceMeanSingleProjections) {
  const Adapted a = adapted("llama3.1-8b", 8, {"q_proj", "v_proj"});
  EXPECT_EQ(a.after.apart_parameters(), 8 * (4096 + 4096) + 8 * (4096 + 1024));
  const Adapted all = adapted("llama3.1-8b", 8, {"all-linear"});
  // q, k, v, o, gate, up, down.
  EXPECT_EQ(all.after.apart_parameters(), 8 * (8192 + 2 * 5120 + 8192 + 3 * (4096 + 14336)));
}

TEST(Adapters, ATargetNamedTwiceCountsOnce) {
  EXPECT_EQ(adapted("llama3.1-8b", 8, {"linear_qkv", "q_proj"}).after.apart_parameters(),
            adapted("llama3.1-8b", 8, {"linear_qkv"}).after.apart_parameters());
}

// Mixtral: 8 experts of hidden 4096 and ffn 14336; each expert has its own adapters.
TEST(Adapters, ExpertsHaveTheirOwn) {
  const Adapted a = adapted("mixtral-8x7b", 4, {"down_proj"});
  EXPECT_EQ(a.after.apart_parameters(), 8 * 4 * (14336 + 4096));
}

TEST(Adapters, SayWhichTargetsThereWere) {
  EXPECT_EQ(adapted("llama3.1-8b", 8, {"q_proj", "linear_kv_up_proj"}).found.found,
            (std::set<std::string>{"q_proj"}));
  EXPECT_EQ(adapted("deepseek-v3", 8, {"linear_qkv", "kv_b_proj"}).found.found,
            (std::set<std::string>{"kv_b_proj", "linear_qkv"}));
}

TEST(Adapters, LaterOperatorsReadTheSum) {
  const Adapted a = adapted("llama3.1-8b", 16, {"linear_proj"});
  EXPECT_EQ(a.after.outputs, a.before.outputs);
  for (const Operator& op : a.after.operators) {
    const std::string made = op.outputs.empty() ? "" : a.after.tensor(op.outputs[0]).name;
    EXPECT_EQ(op.name == "output", made == "attention_result.frozen") << op.name;
    EXPECT_EQ(op.name == "output.lora_add", made == "attention_result") << op.name;
  }
}

}  // namespace
}  // namespace nest::model
