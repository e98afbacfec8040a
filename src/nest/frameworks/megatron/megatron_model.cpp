#include "nest/frameworks/megatron/megatron_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nest/frameworks/megatron/megatron_details.hpp"

namespace nest::frameworks {
namespace {

void add_attention(const AttentionSpec& a, FlagSection& flags, std::vector<std::string>& lost) {
  flags.add("--num-attention-heads", a.heads);
  if (a.latent) {
    flags.add("--multi-latent-attention");
    if (a.latent->query_rank > 0) flags.add("--q-lora-rank", a.latent->query_rank);
    flags.add("--kv-lora-rank", a.latent->key_value_rank).add("--qk-head-dim", a.latent->nope_dim);
    flags.add("--qk-pos-emb-head-dim", a.latent->rope_dim).add("--v-head-dim", a.latent->value_dim);
  } else {
    if (a.kv_heads != a.heads) flags.add("--group-query-attention").add("--num-query-groups", a.kv_heads);
    flags.add("--kv-channels", a.head_dim);
  }
  // Latent attention has a norm after each projection down.
  if (a.head_norms || a.latent) flags.add("--qk-layernorm");
  if (!a.causal) lost.emplace_back("attention that sees both directions has no flag of pretrain_gpt.py");
}

void add_biases(const AttentionSpec& a, const FeedForwardSpec& ffn, bool experts, FlagSection& flags,
                std::vector<std::string>& lost) {
  const bool qkv = a.query_bias && a.key_bias && a.value_bias;
  const bool down = experts ? a.output_bias : ffn.down_bias && ffn.gate_bias;
  if (qkv && a.output_bias && down) return;
  flags.add("--disable-bias-linear");
  if (qkv) flags.add("--add-qkv-bias");
  const bool any_qkv = a.query_bias || a.key_bias || a.value_bias;
  if ((any_qkv && !qkv) || a.output_bias || ffn.down_bias || ffn.gate_bias)
    lost.emplace_back(
        "the flags give biases to all projections, to q, k and v, or to none: others are left out");
}

void add_activation(Activation activation, bool bias, const Release& release, FlagSection& flags,
                    std::vector<std::string>& lost) {
  if (activation == Activation::swiglu) flags.add("--swiglu");
  if (activation == Activation::relu)
    lost.emplace_back("the activation has no flag: gelu runs in place of relu");
  if (activation != Activation::geglu) return;
  // Both have the gate and with it the parameters; the curves of the gate differ a little.
  const bool quick = is_since(release, "core_v0.15");
  flags.add(quick ? "--quick-geglu" : "--swiglu");
  if (quick && bias) flags.add("--no-bias-gelu-fusion");
  lost.emplace_back(quick ? "the gate is quick gelu, x * sigmoid(1.702 x), in place of gelu"
                          : "the gate is silu in place of gelu: this release has no gated gelu");
}

void add_experts(const StackSpec& stack, const ExpertsSpec& e, const RouterDetails& router,
                 const Release& release, FlagSection& flags, std::vector<std::string>& lost) {
  flags.add("--num-experts", e.experts).add("--moe-router-topk", e.top_k);
  flags.add("--moe-ffn-hidden-size", e.ffn);
  if (const std::string pattern = expert_pattern(stack); !pattern.empty())
    flags.add("--moe-layer-freq", pattern);
  if (e.shared_ffn > 0) flags.add("--moe-shared-expert-intermediate-size", e.shared_ffn);
  if (e.shared_gate && is_since(release, "core_v0.16")) {
    flags.add("--moe-shared-expert-gate");
  } else if (e.shared_gate) {
    lost.emplace_back("the gate of the shared expert is left out");
  }
  add_router(router, e, flags);
}

}  // namespace

std::string expert_pattern(const StackSpec& stack) {
  std::vector<bool> layers;
  layers.reserve(stack.blocks.size());
  for (const BlockSpec& block : stack.blocks) layers.push_back(block.experts.has_value());
  const bool one = std::find(layers.begin(), layers.end(), !layers.front()) == layers.end();
  return one ? "" : layer_pattern(layers);
}

FlagSection megatron_model_flags(const ModelSpec& spec, const ModelFlagOptions& options,
                                 std::vector<std::string>& lost) {
  const Release& release = options.release != nullptr ? *options.release : find_releases("megatron")->usual();
  FlagSection flags{"Model", {}};
  const StackSpec& stack = spec.stacks.front();
  const BlockSpec& first = stack.blocks.front();
  const auto with =
      std::find_if(stack.blocks.begin(), stack.blocks.end(), [](const BlockSpec& b) { return b.experts; });
  const auto dense =
      std::find_if(stack.blocks.begin(), stack.blocks.end(), [](const BlockSpec& b) { return !b.experts; });
  const bool experts = with != stack.blocks.end();
  flags.add("--num-layers", static_cast<std::int64_t>(stack.blocks.size()));
  flags.add("--hidden-size", stack.hidden);
  flags.add("--ffn-hidden-size", dense != stack.blocks.end() ? dense->ffn.ffn : with->experts->ffn);
  add_attention(first.attention, flags, lost);
  flags.add("--normalization", first.norm == NormKind::rms ? "RMSNorm" : "LayerNorm");
  add_activation(first.ffn.activation, first.ffn.gate_bias, release, flags, lost);
  add_biases(first.attention, first.ffn, experts && dense == stack.blocks.end(), flags, lost);
  add_positions(spec, release, flags, lost);
  flags.add("--vocab-size", stack.stem.vocab).add("--make-vocab-size-divisible-by", 128);
  if (!spec.head.tied) flags.add("--untie-embeddings-and-output-weights");
  if (experts) add_experts(stack, *with->experts, spec.details.router, release, flags, lost);
  if (first.layout != NormLayout::pre)
    lost.emplace_back(
        "blocks are written with a norm before attention and before the ffn: this model has others");
  add_windows(stack, release, options.ring, flags, lost);
  if (stack.stem.kind != StemSpec::Kind::tokens || stack.stem.types > 0 || stack.stem.norm ||
      (stack.stem.width > 0 && stack.stem.width != stack.hidden))
    lost.emplace_back("the embedding is written as a table of tokens only");
  if (spec.head.kind != HeadSpec::Kind::vocabulary || spec.head.bias || spec.head.projection > 0)
    lost.emplace_back("the head is written as a projection to the vocabulary only");
  for (const std::string& part : spec.details.special) lost.push_back("left out: " + part);
  if (spec.mtp_layers > 0) lost.emplace_back("multi-token prediction modules are not part of the plan");
  return flags;
}

}  // namespace nest::frameworks
