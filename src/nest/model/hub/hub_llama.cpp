// The llama shape and what grew from it: Mistral, Qwen, Gemma, Phi-3, and their mixtures of experts.
#include <algorithm>
#include <array>
#include <vector>

#include "nest/model/hub/hub_families.hpp"
#include "nest/model/hub/hub_fields.hpp"
#include "nest/model/hub/layer_lists.hpp"

namespace nest::model {
namespace {

enum class Moe { none, mixtral, qwen2, qwen3 };

// Class defaults of Transformers 5.16: what a config.json means when it leaves a key out.
struct Defaults {
  std::string_view type;
  std::int64_t vocab, hidden, ffn, layers, heads;
  std::int64_t kv_heads;  // 0: as many as heads
  std::int64_t head_dim;  // 0: hidden / heads
  std::int64_t positions;
  bool tied;
  const char* activation;
  bool qkv_bias;
  bool head_norms;
  Moe moe;
  bool listed = false;  // layer_types says which layers have a window
};

constexpr std::array<Defaults, 10> kDefaults{{
    {"llama", 32000, 4096, 11008, 32, 32, 0, 0, 2048, false, "silu", false, false, Moe::none},
    {"mistral", 32000, 4096, 14336, 32, 32, 8, 0, 131072, false, "silu", false, false, Moe::none},
    {"mixtral", 32000, 4096, 14336, 32, 32, 8, 0, 131072, false, "silu", false, false, Moe::mixtral},
    {"qwen2", 151936, 4096, 22016, 32, 32, 32, 0, 32768, false, "silu", true, false, Moe::none, true},
    {"qwen3", 151936, 4096, 22016, 32, 32, 32, 128, 32768, false, "silu", false, true, Moe::none, true},
    {"qwen2_moe", 151936, 2048, 5632, 24, 16, 16, 0, 32768, false, "silu", true, false, Moe::qwen2, true},
    {"qwen3_moe", 151936, 2048, 6144, 24, 32, 4, 0, 32768, false, "silu", false, true, Moe::qwen3},
    {"gemma", 256000, 3072, 24576, 28, 16, 16, 256, 8192, true, "gelu_pytorch_tanh", false, false, Moe::none},
    {"gemma2", 256000, 2304, 9216, 26, 8, 4, 256, 8192, true, "gelu_pytorch_tanh", false, false, Moe::none,
     true},
    {"phi3", 32064, 3072, 8192, 32, 32, 0, 0, 4096, false, "silu", false, false, Moe::none},
}};

const Defaults& defaults_of(const std::string& type) {
  return *std::find_if(kDefaults.begin(), kDefaults.end(), [&](const Defaults& d) { return d.type == type; });
}

AttentionSpec read_attention(Reader& r, const Defaults& d, std::int64_t hidden) {
  AttentionSpec a;
  a.heads = size_field(r, {"num_attention_heads"}, d.heads);
  a.kv_heads = size_field(r, {"num_key_value_heads"}, d.kv_heads > 0 ? d.kv_heads : a.heads);
  check_kv_heads(r, a.heads, a.kv_heads);
  a.head_dim = r.has("head_dim") ? size_field(r, {"head_dim"}, 0)
               : d.head_dim > 0  ? d.head_dim
                                 : head_dim_of(r, hidden, a.heads);
  // Llama and Qwen3 put attention_bias on all four projections, Qwen2 on q, k and v always.
  const bool all = !d.qkv_bias && r.boolean_or("attention_bias", false);
  const bool qkv = d.moe == Moe::qwen2 ? r.boolean_or("qkv_bias", true) : d.qkv_bias;
  a.query_bias = a.key_bias = a.value_bias = all || qkv;
  a.output_bias = all;
  a.head_norms = d.head_norms;
  return a;
}

// Which layers see a sliding window, and how wide it is (0 = the layer sees everything).
std::vector<std::int64_t> read_windows(Reader& r, const Defaults& d, std::int64_t layers) {
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), 0);
  const bool stated = r.value().find("sliding_window") != nullptr;
  const bool by_default = d.type == "mistral" || d.type == "gemma2";
  constexpr std::int64_t kUsualWindow = 4096;
  const std::int64_t width = count_field(r, {"sliding_window"}, by_default && !stated ? kUsualWindow : 0);
  const bool qwen = d.type.starts_with("qwen");
  if (width == 0 || (qwen && !r.boolean_or("use_sliding_window", false))) return windows;
  const Value* listed = d.listed ? r.value().find("layer_types") : nullptr;
  const auto* kinds = listed == nullptr ? nullptr : listed->as_array();
  if (kinds != nullptr && !kinds->empty()) {
    for (std::size_t i = 0; i < windows.size(); ++i)
      windows[i] = (*kinds)[i] == Value("sliding_attention") ? width : 0;
    return windows;
  }
  const std::int64_t first = qwen ? count_field(r, {"max_window_layers"}, 28) : 0;
  for (std::int64_t i = first; i < layers; ++i) {
    const bool alternates = d.type == "gemma2";
    if (!alternates || i % 2 == 0) windows[static_cast<std::size_t>(i)] = width;
  }
  return windows;
}

std::vector<bool> read_expert_layers(Reader& r, const Defaults& d, std::int64_t layers) {
  std::vector<bool> expert(static_cast<std::size_t>(layers), d.moe != Moe::none);
  if (d.moe == Moe::none || d.moe == Moe::mixtral) return expert;
  const std::int64_t step = size_field(r, {"decoder_sparse_step"}, 1);
  const std::vector<std::int64_t> dense =
      r.has("mlp_only_layers") ? r.wholes("mlp_only_layers", {0, kMostLayers}) : std::vector<std::int64_t>{};
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool listed = std::find(dense.begin(), dense.end(), i) != dense.end();
    expert[static_cast<std::size_t>(i)] = !listed && (i + 1) % step == 0;
  }
  return expert;
}

ExpertsSpec read_experts(Reader& r, const Defaults& d, std::int64_t ffn) {
  ExpertsSpec e;
  const std::int64_t experts = d.moe == Moe::mixtral ? 8 : d.moe == Moe::qwen2 ? 60 : 128;
  const std::int64_t top_k = d.moe == Moe::mixtral ? 2 : d.moe == Moe::qwen2 ? 4 : 8;
  e.experts = size_field(r, {"num_local_experts", "num_experts"}, experts);
  e.top_k = size_field(r, {"num_experts_per_tok"}, top_k);
  check_top_k(r, e.top_k, e.experts);
  e.ffn = d.moe == Moe::mixtral ? ffn
                                : size_field(r, {"moe_intermediate_size"}, d.moe == Moe::qwen2 ? 1408 : 768);
  if (d.moe == Moe::qwen2) {
    e.shared_ffn = size_field(r, {"shared_expert_intermediate_size"}, 5632);
    e.shared_gate = true;
  }
  return e;
}

}  // namespace

ModelSpec read_llama_like(Reader& r, const std::string& type) {
  const Defaults& d = defaults_of(type);
  ModelSpec spec;
  StackSpec stack;
  stack.prefix = "layer";
  stack.hidden = size_field(r, {"hidden_size"}, d.hidden);
  stack.stem.vocab = size_field(r, {"vocab_size"}, d.vocab);
  const std::int64_t layers = layers_field(r, {"num_hidden_layers"}, d.layers);

  BlockSpec block;
  block.layout = type == "gemma2" ? NormLayout::sandwich : NormLayout::pre;
  block.attention = read_attention(r, d, stack.hidden);
  block.ffn.ffn = size_field(r, {"intermediate_size"}, d.ffn);
  block.ffn.activation =
      activation_field(r, {"hidden_activation", "hidden_act"}, d.activation, FeedForward::gated);
  block.ffn.gate_bias = block.ffn.down_bias = type == "llama" && r.boolean_or("mlp_bias", false);
  std::optional<ExpertsSpec> experts;
  if (d.moe != Moe::none) experts = read_experts(r, d, block.ffn.ffn);
  if (d.listed && r.has("layer_types"))
    check_layer_list(r, "layer_types", type, {"full_attention", "attention", "sliding_attention"}, layers);
  const std::vector<std::int64_t> windows = read_windows(r, d, layers);
  const std::vector<bool> expert_layers = read_expert_layers(r, d, layers);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    BlockSpec one = block;
    one.attention.window = windows[i];
    if (expert_layers[i]) {
      one.experts = experts;
      one.ffn = {0, block.ffn.activation};
    }
    stack.blocks.push_back(one);
  }

  spec.positions = size_field(r, {"max_position_embeddings"}, d.positions);
  spec.head.outputs = stack.stem.vocab;
  spec.head.tied = r.boolean_or("tie_word_embeddings", d.tied);
  spec.stacks.push_back(std::move(stack));
  return spec;
}

}  // namespace nest::model
