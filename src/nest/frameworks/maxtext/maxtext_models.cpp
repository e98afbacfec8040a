#include "nest/frameworks/maxtext/maxtext_models.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "nest/frameworks/maxtext/maxtext_details.hpp"

namespace nest::frameworks {
namespace {

struct Shape {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn = 0;  // of dense layers, else of an expert
  std::int64_t experts = 0;
  std::int64_t vocab = 0;

  // MaxText pads vocabularies for its shards.
  [[nodiscard]] bool matches(const Shape& own) const {
    constexpr std::int64_t kMostPadding = 255;
    return layers == own.layers && hidden == own.hidden && heads == own.heads && kv_heads == own.kv_heads &&
           ffn == own.ffn && experts == own.experts && vocab >= own.vocab &&
           vocab <= own.vocab + kMostPadding;
  }
};

struct Named {
  std::string_view name;
  std::string_view block;
  Shape shape;
};

// src/maxtext/configs/models of 2026-08-22. Of equal shapes, the first is taken unless another has the model's name.
constexpr std::array kModels{
    Named{"llama2-7b", "llama2", {32, 4096, 32, 32, 11008, 0, 32000}},
    Named{"llama2-13b", "llama2", {40, 5120, 40, 40, 13824, 0, 32000}},
    Named{"llama2-70b", "llama2", {80, 8192, 64, 8, 28672, 0, 32000}},
    Named{"llama3-8b", "llama2", {32, 4096, 32, 8, 14336, 0, 128256}},
    Named{"llama3-70b", "llama2", {80, 8192, 64, 8, 28672, 0, 128256}},
    Named{"llama3-405b", "llama2", {126, 16384, 128, 8, 53248, 0, 128256}},
    Named{"llama3.1-8b", "llama2", {32, 4096, 32, 8, 14336, 0, 128256}},
    Named{"llama3.1-70b", "llama2", {80, 8192, 64, 8, 28672, 0, 128256}},
    Named{"llama3.1-405b", "llama2", {126, 16384, 128, 8, 53248, 0, 128256}},
    Named{"llama3.3-70b", "llama2", {80, 8192, 64, 8, 28672, 0, 128256}},
    Named{"mistral-7b", "mistral", {32, 4096, 32, 8, 14336, 0, 32000}},
    Named{"mixtral-8x7b", "mixtral", {32, 4096, 32, 8, 14336, 8, 32000}},
    Named{"mixtral-8x22b", "mixtral", {56, 6144, 48, 8, 16384, 8, 32768}},
    Named{"gemma-2b", "gemma", {18, 2048, 8, 1, 16384, 0, 256128}},
    Named{"gemma-7b", "gemma", {28, 3072, 16, 16, 24576, 0, 256128}},
    Named{"gemma2-2b", "gemma2", {26, 2304, 8, 4, 9216, 0, 256128}},
    Named{"gemma2-9b", "gemma2", {42, 3584, 16, 8, 14336, 0, 256128}},
    Named{"gemma2-27b", "gemma2", {46, 4608, 32, 16, 36864, 0, 256128}},
    Named{"gpt3-175b", "gpt3", {96, 12288, 96, 96, 49152, 0, 50304}},
    Named{"qwen2.5-1.5b", "qwen2", {28, 1536, 12, 2, 8960, 0, 151936}},
    Named{"qwen2.5-7b", "qwen2", {28, 3584, 28, 4, 18944, 0, 152064}},
    Named{"qwen2.5-14b", "qwen2", {48, 5120, 40, 8, 13824, 0, 152064}},
    Named{"qwen3-0.6b", "qwen3", {28, 1024, 16, 8, 3072, 0, 151936}},
    Named{"qwen3-1.7b", "qwen3", {28, 2048, 16, 8, 6144, 0, 151936}},
    Named{"qwen3-4b", "qwen3", {36, 2560, 32, 8, 9728, 0, 151936}},
    Named{"qwen3-8b", "qwen3", {36, 4096, 32, 8, 12288, 0, 151936}},
    Named{"qwen3-14b", "qwen3", {40, 5120, 40, 8, 17408, 0, 151936}},
    Named{"qwen3-32b", "qwen3", {64, 5120, 64, 8, 25600, 0, 151936}},
    Named{"qwen3-30b-a3b", "qwen3_moe", {48, 2048, 32, 4, 768, 128, 151936}},
    Named{"qwen3-235b-a22b", "qwen3_moe", {94, 4096, 64, 4, 1536, 128, 151936}},
    Named{"qwen3-480b-a35b", "qwen3_moe", {62, 6144, 96, 8, 2560, 160, 151936}},
    Named{"deepseek2-16b", "deepseek", {27, 2048, 16, 16, 10944, 64, 102400}},
    Named{"deepseek2-236b", "deepseek", {60, 5120, 128, 128, 12288, 160, 102400}},
    Named{"deepseek3-671b", "deepseek", {61, 7168, 128, 128, 18432, 256, 129280}},
};

std::string_view block_of(std::string_view family) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOther{
      {{"llama", "llama2"}, {"gpt2", "gpt3"}, {"deepseek_v2", "deepseek"}, {"deepseek_v3", "deepseek"}}};
  for (const auto& [own, block] : kOther) {
    if (own == family) return block;
  }
  return family;
}

Shape shape_of(const ModelSpec& spec) {
  const StackSpec& stack = spec.stacks.front();
  const BlockSpec& first = stack.blocks.front();
  const BlockSpec& last = stack.blocks.back();
  Shape shape;
  shape.layers = static_cast<std::int64_t>(stack.blocks.size());
  shape.hidden = stack.hidden;
  shape.heads = first.attention.heads;
  shape.kv_heads = first.attention.kv_heads;
  shape.ffn = first.experts ? first.experts->ffn : first.ffn.ffn;
  shape.experts = last.experts ? last.experts->experts : 0;
  shape.vocab = stack.stem.vocab;
  return shape;
}

void add_latent(Value& out, const LatentAttention& latent) {
  out.set("attention_type", "mla").set("q_lora_rank", latent.query_rank);
  out.set("kv_lora_rank", latent.key_value_rank).set("qk_nope_head_dim", latent.nope_dim);
  out.set("qk_rope_head_dim", latent.rope_dim).set("v_head_dim", latent.value_dim);
}

void add_experts(Value& out, const ModelSpec& spec, const ExpertsSpec& experts, std::string_view block) {
  const auto& blocks = spec.stacks.front().blocks;
  out.set("num_experts", experts.experts).set("num_experts_per_tok", experts.top_k);
  out.set("base_moe_mlp_dim", experts.ffn);
  if (block != "deepseek") return;
  const auto routed =
      std::find_if(blocks.begin(), blocks.end(), [](const BlockSpec& b) { return b.experts; });
  out.set("first_num_dense_layers", routed - blocks.begin());
  out.set("shared_experts", experts.shared_ffn / experts.ffn);
}

}  // namespace

std::string_view find_maxtext_model(const ModelSpec& spec) {
  if (spec.stacks.size() != 1 || spec.stacks.front().blocks.empty()) return "";
  const Shape shape = shape_of(spec);
  const std::string_view block = block_of(spec.family);
  // The one with the same scaling of rotary positions, which only names of Llama 3.1 have.
  const bool scaled = block == "llama2" && spec.details.scaling.has_value();
  std::string_view found;
  for (const Named& model : kModels) {
    if (model.block != block || !model.shape.matches(shape)) continue;
    const bool alike = model.name.starts_with("llama3.1") == scaled;
    if (alike && model.name == spec.name) return model.name;
    if (found.empty() || (alike && found.starts_with("llama3.1") != scaled)) found = model.name;
  }
  return found;
}

std::int64_t maxtext_layers(const ModelSpec& spec) {
  const auto blocks = static_cast<std::int64_t>(spec.stacks.front().blocks.size());
  return spec.family == "gemma2" ? blocks / 2 : blocks;
}

Value maxtext_model_keys(const ModelSpec& spec, std::vector<std::string>& lost) {
  const StackSpec& stack = spec.stacks.front();
  const BlockSpec& first = stack.blocks.front();
  const std::string_view block = block_of(spec.family);
  const Shape shape = shape_of(spec);
  Value out = Value::object();
  out.set("decoder_block", block).set("base_emb_dim", shape.hidden);
  out.set("base_num_query_heads", shape.heads).set("base_num_kv_heads", shape.kv_heads);
  out.set("base_mlp_dim", shape.ffn).set("base_num_decoder_layers", maxtext_layers(spec));
  out.set("head_dim", first.attention.head_dim).set("vocab_size", shape.vocab);
  out.set("logits_via_embedding", spec.head.tied);
  // Gemma's blocks are made for logits over the root of the width, which others do not have.
  if (spec.head.tied && !block.starts_with("gemma")) out.set("normalize_embedding_logits", false);
  if (block == "gpt3") out.set("trainable_position_size", stack.stem.positions).set("use_iota_embed", true);
  if (first.attention.latent) add_latent(out, *first.attention.latent);
  if (const auto& experts = stack.blocks.back().experts) add_experts(out, spec, *experts, block);
  add_maxtext_details(spec, block, out, lost);
  return out;
}

}  // namespace nest::frameworks
