#include "nest/model/hub/hub_fields.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "nest/base/document/mismatch.hpp"

namespace nest::model {
namespace {

std::int64_t field(Reader& r, std::initializer_list<const char*> keys, std::int64_t fallback,
                   WholeRange range) {
  std::int64_t value = fallback;
  bool found = false;
  for (const char* key : keys) {
    // Every spelling is asked for, so that all of them count as known.
    if (r.has(key) && !std::exchange(found, true)) value = r.whole(key, range);
  }
  return value;
}

// Where a mistake that involves several keys is reported: at the first that the file has.
[[noreturn]] void fail_at_first(const Reader& r, std::initializer_list<const char*> keys,
                                const std::string& what, const std::string& hint = {}) {
  for (const char* key : keys) {
    const Value* v = r.value().find(key);
    if (v != nullptr && !v->is_null()) r.fail_at(key, what, hint);
  }
  r.fail(what, hint);
}

}  // namespace

std::int64_t size_field(Reader& r, std::initializer_list<const char*> keys, std::int64_t fallback) {
  return field(r, keys, fallback, kSizeRange);
}

std::int64_t count_field(Reader& r, std::initializer_list<const char*> keys, std::int64_t fallback) {
  return field(r, keys, fallback, {0, kSizeRange.most});
}

std::int64_t layers_field(Reader& r, std::initializer_list<const char*> keys, std::int64_t fallback) {
  return field(r, keys, fallback, {1, kMostLayers});
}

bool says_of_itself(const Reader& r, const char* key) {
  const Value* about = r.value().find("nest");
  const Value* said = about == nullptr ? nullptr : about->find(key);
  return said != nullptr && said->as_bool() != nullptr && *said->as_bool();
}

std::int64_t head_dim_of(const Reader& r, std::int64_t hidden, std::int64_t heads) {
  if (hidden % heads != 0) {
    fail_at_first(r,
                  {"hidden_size", "n_embd", "d_model", "num_attention_heads", "n_head",
                   "encoder_attention_heads", "decoder_attention_heads"},
                  "the hidden size " + std::to_string(hidden) + " is not a multiple of the " +
                      std::to_string(heads) + " attention heads",
                  "check both");
  }
  return hidden / heads;
}

void check_kv_heads(const Reader& r, std::int64_t heads, std::int64_t kv_heads) {
  if (heads % kv_heads == 0) return;
  fail_at_first(r, {"num_key_value_heads", "num_attention_heads"},
                std::to_string(heads) + " attention heads cannot share " + std::to_string(kv_heads) +
                    " key-value heads",
                "num_attention_heads must be a multiple of num_key_value_heads");
}

void check_rotary(const Reader& r, const AttentionSpec& a) {
  const std::int64_t turned = a.latent ? a.latent->rope_dim : a.head_dim;
  if (!a.rotary || turned % 2 == 0) return;
  fail_at_first(r,
                {a.latent ? "qk_rope_head_dim" : "head_dim", "hidden_size", "num_attention_heads",
                 "num_heads", "model_type"},
                "an odd head_dim cannot be rotated", "it is " + std::to_string(turned));
}

void check_top_k(const Reader& r, std::int64_t top_k, std::int64_t experts) {
  if (top_k <= experts) return;
  fail_at_first(
      r, {"num_experts_per_tok", "num_local_experts", "num_experts", "n_routed_experts"},
      "a token cannot use " + std::to_string(top_k) + " of " + std::to_string(experts) + " experts");
}

std::optional<Activation> activation_of(std::string_view name, FeedForward kind) {
  const bool gated = kind == FeedForward::gated;
  static constexpr std::array<std::string_view, 7> kGelu{
      "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_tanh", "quick_gelu", "gelu_python"};
  if (std::find(kGelu.begin(), kGelu.end(), name) != kGelu.end())
    return gated ? Activation::geglu : Activation::gelu;
  if (name == "silu" || name == "swish") {
    if (gated) return Activation::swiglu;
    return Activation::gelu;  // one input, one output, kept input: the same cost
  }
  if (name == "relu" || name == "relu2") return gated ? Activation::geglu : Activation::relu;
  return std::nullopt;
}

Activation activation_field(Reader& r, std::initializer_list<const char*> keys, const char* fallback,
                            FeedForward kind) {
  std::string name = fallback;
  std::string used;
  for (const char* key : keys) {
    if (r.has(key) && used.empty()) {
      name = r.text(key);
      used = key;
    }
  }
  if (const auto known = activation_of(name, kind)) return *known;
  r.fail_at(used, "the activation " + quoted(name) + " is not known",
            "known: silu, gelu and its variants, relu");
}

AttentionSpec plain_attention(std::int64_t heads, std::int64_t head_dim, AttentionHabits habits) {
  AttentionSpec a;
  a.heads = heads;
  a.kv_heads = heads;
  a.head_dim = head_dim;
  a.query_bias = a.key_bias = a.value_bias = a.output_bias = habits.bias;
  a.rotary = false;
  a.causal = habits.causal;
  return a;
}

}  // namespace nest::model
