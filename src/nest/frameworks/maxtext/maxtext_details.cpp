#include "nest/frameworks/maxtext/maxtext_details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/model/blocks/detail_numbers.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

// Whether the keys say it.
using Writer = bool (*)(const ModelSpec& spec, std::string_view block, Value& keys);

bool is_whole(double value) {
  return std::round(value) == value;
}

bool write_norm(const ModelSpec& spec, std::string_view block, Value& /*keys*/) {
  const StackSpec& stack = decoder_of(spec);
  return stack.final_norm && stack.norm == (block == "gpt3" ? NormKind::layer : NormKind::rms);
}

bool write_head_norms(const ModelSpec& /*spec*/, std::string_view block, Value& keys) {
  if (!block.starts_with("qwen3")) return false;
  keys.set("use_qk_norm", true);
  return true;
}

bool write_layout(const ModelSpec& /*spec*/, std::string_view block, Value& keys) {
  if (block != "gemma2") return false;
  keys.set("use_post_attn_norm", true).set("use_post_ffw_norm", true);
  return true;
}

bool write_activation(const ModelSpec& spec, std::string_view /*block*/, Value& keys) {
  const Activation own = attending_block(decoder_of(spec))->ffn.activation;
  Value words = Value::array();
  const bool gelu = own == Activation::gelu || own == Activation::geglu;
  words.push(gelu ? "gelu" : own == Activation::relu ? "relu" : "silu");
  if (own == Activation::swiglu || own == Activation::geglu) words.push("linear");
  keys.set("mlp_activations", std::move(words));
  constexpr std::array kMore{"squared_relu", "activation_limit", "activation_slope", "activation_offset"};
  return std::none_of(kMore.begin(), kMore.end(),
                      [&](const char* name) { return states(spec.details, name); });
}

// At queries, keys and values; blocks like GPT-3's have them everywhere.
bool write_biases(const ModelSpec& spec, std::string_view block, Value& keys) {
  const BlockSpec& first = *attending_block(decoder_of(spec));
  const AttentionSpec& a = first.attention;
  if (block == "gpt3") return true;
  if (a.query_bias && a.key_bias && a.value_bias) keys.set("attention_bias", true);
  return a.query_bias && a.key_bias && a.value_bias && !a.output_bias && !first.ffn.gate_bias &&
         !first.ffn.down_bias;
}

bool write_base(const ModelSpec& spec, std::string_view /*block*/, Value& keys) {
  keys.set("rope_max_timescale", static_cast<std::int64_t>(spec.details.rotary_base));
  return is_whole(spec.details.rotary_base);
}

// The frequencies that MaxText's llama3.1 has built in.
bool is_llama31(const RotaryScaling& s) {
  return s.kind == RotaryScaling::Kind::llama3 && s.factor == 8 && s.low_frequency == 1 &&
         s.high_frequency == 4 && s.original_positions == 8192;
}

bool write_scaling(const ModelSpec& spec, std::string_view block, Value& keys) {
  const RotaryScaling& s = *spec.details.scaling;
  if (is_llama31(s)) {
    keys.set("rope_type", "llama3.1");
    return true;
  }
  if (s.kind == RotaryScaling::Kind::linear) {
    keys.set("rope_linear_scaling_factor", s.factor);
    return true;
  }
  if (s.kind != RotaryScaling::Kind::yarn || !is_whole(s.factor) || !is_whole(s.beta_fast) ||
      !is_whole(s.beta_slow) || s.original_positions <= 0)
    return false;
  const bool latent = block == "deepseek";
  keys.set("rope_type", "yarn").set("rope_factor", static_cast<std::int64_t>(s.factor));
  keys.set("beta_fast", static_cast<std::int64_t>(s.beta_fast))
      .set("beta_slow", static_cast<std::int64_t>(s.beta_slow));
  keys.set("original_max_position_embeddings", static_cast<std::int64_t>(s.original_positions));
  keys.set("max_position_embeddings", static_cast<std::int64_t>(s.original_positions * s.factor));
  keys.set("rope_truncate", s.whole_range).set("rope_interleave", latent);
  // Latent attention has mscale in the factor of its scores, others have it in what the positions turn.
  keys.set("rope_attention_scaling", !latent);
  if (latent) keys.set("mscale", s.mscale_all);
  return latent ? s.mscale == s.mscale_all : s.mscale == 1 && s.mscale_all == 0;
}

bool write_epsilon(const ModelSpec& spec, std::string_view /*block*/, Value& keys) {
  keys.set("normalization_layer_epsilon", spec.details.norm_epsilon);
  return true;
}

// Every other layer of a block like Gemma 2's, the first one with it.
bool write_windows(const ModelSpec& spec, std::string_view block, Value& keys) {
  const StackSpec& stack = decoder_of(spec);
  if (block != "gemma2") return false;
  keys.set("sliding_window_size", stack.blocks.front().attention.window);
  for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
    if (stack.blocks[i].attention.window != (i % 2 == 0 ? stack.blocks.front().attention.window : 0))
      return false;
  }
  return true;
}

bool write_attention_cap(const ModelSpec& spec, std::string_view /*block*/, Value& keys) {
  keys.set("attn_logits_soft_cap", number_of(spec.details, "attention_cap"));
  return true;
}

bool write_logit_cap(const ModelSpec& spec, std::string_view /*block*/, Value& keys) {
  keys.set("final_logits_soft_cap", number_of(spec.details, "logit_cap"));
  return true;
}

bool write_embedding_scale(const ModelSpec& spec, std::string_view block, Value& /*keys*/) {
  const double usual = std::sqrt(static_cast<double>(decoder_of(spec).hidden));
  return block.starts_with("gemma") &&
         std::abs(number_of(spec.details, "embedding_scale") / usual - 1) < 1e-6;
}

// A softmax over the chosen experts; blocks like DeepSeek's have all scores.
bool write_scores(const ModelSpec& spec, std::string_view block, Value& keys) {
  const RouterDetails& router = spec.details.router;
  if (block == "deepseek") {
    keys.set("routed_score_func", router.sigmoid ? "sigmoid" : "softmax");
    return router.sigmoid == router.normalized;
  }
  if (block == "qwen3_moe") keys.set("norm_topk_prob", router.normalized);
  return !router.sigmoid && router.normalized;
}

// Chosen by the scores and the bias only in models with a name of MaxText's.
bool write_balance_bias(const ModelSpec& /*spec*/, std::string_view block, Value& keys) {
  if (block == "deepseek") keys.set("routed_bias", true);
  return false;
}

bool write_router_scale(const ModelSpec& spec, std::string_view block, Value& keys) {
  if (block != "deepseek") return false;
  keys.set("routed_scaling_factor", spec.details.router.scale);
  return true;
}

bool write_balance_loss(const ModelSpec& spec, std::string_view /*block*/, Value& keys) {
  keys.set("load_balance_loss_weight", spec.details.router.balance_loss);
  return !spec.details.router.balance_by_sequence;
}

constexpr std::array<std::pair<std::string_view, Writer>, 16> kWords{
    {{"head_norms", write_head_norms},
     {"norm", write_norm},
     {"layout", write_layout},
     {"activation", write_activation},
     {"biases", write_biases},
     {"rotary_base", write_base},
     {"rotary_scaling", write_scaling},
     {"norm_epsilon", write_epsilon},
     {"windows", write_windows},
     {"attention_cap", write_attention_cap},
     {"logit_cap", write_logit_cap},
     {"embedding_scale", write_embedding_scale},
     {"scores", write_scores},
     {"balance_bias", write_balance_bias},
     {"router_scale", write_router_scale},
     {"balance_loss", write_balance_loss}}};

// MaxText's name, and ours where it is another.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOurNames{
    {{"deepseek2-16b", "deepseek-v2-lite"},
     {"deepseek2-236b", "deepseek-v2"},
     {"deepseek3-671b", "deepseek-v3"},
     {"qwen3-480b-a35b", "qwen3-coder-480b-a35b"}}};

}  // namespace

void add_maxtext_details(const ModelSpec& spec, std::string_view block, Value& keys,
                         std::vector<std::string>& lost) {
  for (const ModelDetail& detail : model_details()) {
    if (detail.value(spec).empty()) continue;
    const auto* const word =
        std::find_if(kWords.begin(), kWords.end(), [&](const auto& row) { return row.first == detail.key; });
    if (word == kWords.end() || !word->second(spec, block, keys)) lost.push_back(left_out(detail, spec));
  }
}

// From src/maxtext/configs/models of 2026-08-22 and the layers that read them.
ModelSpec maxtext_own_model(std::string_view name) {
  const auto* const other =
      std::find_if(kOurNames.begin(), kOurNames.end(), [&](const auto& row) { return row.first == name; });
  ModelSpec spec = zoo_model(other == kOurNames.end() ? name : other->second);
  // Only names that begin so have the scaling of Llama 3.1.
  if (name.starts_with("llama") && !name.starts_with("llama3.1")) spec.details.scaling.reset();
  if (name == "mistral-7b") {
    spec.details.rotary_base = 1e6;
    for (BlockSpec& block : spec.stacks.front().blocks) block.attention.window = 0;
  }
  spec.details.numbers.erase("attention_scale");
  spec.details.router.balance_loss = 0;
  spec.details.router.balance_by_sequence = false;
  if (name.starts_with("deepseek2")) spec.details.router.groups = 0;
  if (name == "deepseek3-671b") spec.details.router.groups = 0;
  spec.mtp_layers = 0;
  return spec;
}

}  // namespace nest::frameworks
