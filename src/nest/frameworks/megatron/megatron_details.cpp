#include "nest/frameworks/megatron/megatron_details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nest/frameworks/common/detail_text.hpp"
#include "nest/frameworks/common/model_details.hpp"
#include "nest/model/blocks/detail_numbers.hpp"

namespace nest::frameworks {
namespace {

DetailLoss usual_loss() {
  return "";
}

DetailLoss write_direction(const DetailQuestion& /*q*/, FlagSection& /*flags*/) {
  return "attention that sees both directions has no flag of pretrain_gpt.py";
}

DetailLoss write_head_norms(const DetailQuestion& q, FlagSection& flags) {
  const AttentionSpec& a = q.block.attention;
  const auto with = layers_with(q.stack, [](const BlockSpec& b) { return b.attention.head_norms; });
  const bool bare = a.head_norm == NormKind::bare;
  if (a.latent) return usual_loss();  // its own norms are those of what is projected down
  flags.add(bare ? "--qk-l2-norm" : "--qk-layernorm");
  if (a.head_norm_over_all) return "norms of queries and keys are one for each head, not one over all heads";
  if (!bare && a.head_norm != q.block.norm)
    return "norms of queries and keys are of the kind of the other norms";
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (!with[i] && attends(q.stack.blocks[i])) {
      const ModelDetail& row = *find_model_detail("head_norms");
      return fmt::format("all layers have norms of queries and keys: the model has them {}",
                         row.value(q.spec));
    }
  }
  return std::nullopt;
}

DetailLoss write_norm(const DetailQuestion& q, FlagSection& flags) {
  flags.add("--normalization", q.block.norm == NormKind::rms ? "RMSNorm" : "LayerNorm");
  const bool plain = q.block.norm == NormKind::rms || q.block.norm == NormKind::layer;
  return plain && q.stack.final_norm ? std::nullopt : usual_loss();
}

DetailLoss write_layout(const DetailQuestion& q, FlagSection& /*flags*/) {
  return fmt::format("blocks are written with a norm before attention and before the ffn: this model has {}",
                     find_model_detail("layout")->value(q.spec));
}

// x * sigmoid(1.702 x) beside values with an offset, both cut at a limit. Of x * sigmoid(x) only main has the limit, and
// of experts alone.
DetailLoss write_cut_activation(const DetailQuestion& q, FlagSection& flags) {
  constexpr double kQuick = 1.702;
  const ModelDetails& d = q.spec.details;
  const bool gated = q.block.ffn.activation == Activation::swiglu;
  const bool quick = number_of(d, "activation_slope") == kQuick && q.since("core_v0.15");
  const bool cut_silu = !states(d, "activation_slope") && !states(d, "activation_offset") &&
                        experts_of(q.stack) != nullptr && q.since("main");
  const std::string own = find_model_detail("activation")->value(q.spec);
  if (!gated) {
    if (q.block.ffn.activation == Activation::geglu)
      flags.add(q.since("core_v0.15") ? "--quick-geglu" : "--swiglu");
    return fmt::format("the activation has no flags: {} is left out", own);
  }
  flags.add(quick ? "--quick-geglu" : "--swiglu");
  if (!quick && !cut_silu) return fmt::format("the activation is plain SwiGLU: this model has {}", own);
  if (states(d, "activation_limit"))
    flags.add("--activation-func-clamp-value", short_real(number_of(d, "activation_limit")));
  if (states(d, "activation_offset"))
    flags.add("--glu-linear-offset", short_real(number_of(d, "activation_offset")));
  return std::nullopt;
}

DetailLoss write_activation(const DetailQuestion& q, FlagSection& flags) {
  const FeedForwardSpec& ffn = q.block.ffn;
  for (const char* name : {"activation_limit", "activation_slope", "activation_offset"}) {
    if (states(q.spec.details, name)) return write_cut_activation(q, flags);
  }
  switch (ffn.activation) {
    case Activation::swiglu:
      flags.add("--swiglu");
      return std::nullopt;
    case Activation::gelu:
      return std::nullopt;
    case Activation::relu:
      if (!states(q.spec.details, "squared_relu"))
        return "the activation has no flag: gelu runs in place of relu";
      flags.add("--squared-relu");
      return std::nullopt;
    case Activation::geglu:
      break;
  }
  // Both have the gate and with it the parameters; the curves of the gate differ a little.
  const bool quick = q.since("core_v0.15");
  flags.add(quick ? "--quick-geglu" : "--swiglu");
  if (quick && ffn.gate_bias) flags.add("--no-bias-gelu-fusion");
  return quick ? "the gate is quick gelu, x * sigmoid(1.702 x), in place of gelu"
               : "the gate is silu in place of gelu: this release has no gated gelu";
}

// Biases are everywhere, at queries, keys and values, or nowhere. Everywhere is also at experts, and from core_v0.15 on
// at the router.
DetailLoss write_biases(const DetailQuestion& q, FlagSection& flags) {
  const AttentionSpec& a = q.block.attention;
  const ExpertsSpec* experts = experts_of(q.stack);
  const auto dense = std::find_if(q.stack.blocks.begin(), q.stack.blocks.end(),
                                  [](const BlockSpec& b) { return !b.experts && b.ffn.ffn > 0; });
  const FeedForwardSpec* ffn = dense == q.stack.blocks.end() ? nullptr : &dense->ffn;
  const bool qkv = a.query_bias && a.key_bias && a.value_bias;
  const bool in_ffn = ffn == nullptr || (ffn->gate_bias && ffn->down_bias);
  const bool in_experts = experts == nullptr || (experts->expert_bias && experts->router_bias &&
                                                 q.since("core_v0.15") && q.options.expert_tensor == 1);
  if (qkv && a.output_bias && in_ffn && in_experts) return std::nullopt;
  flags.add("--disable-bias-linear");
  if (qkv) flags.add("--add-qkv-bias");
  const bool others = a.output_bias || (ffn != nullptr && (ffn->gate_bias || ffn->down_bias)) ||
                      (experts != nullptr && (experts->expert_bias || experts->router_bias));
  if (others || ((a.query_bias || a.key_bias || a.value_bias) && !qkv))
    return fmt::format(
        "the flags give biases to all projections, to q, k and v, or to none: others are left out, this "
        "model has {}",
        find_model_detail("biases")->value(q.spec));
  return std::nullopt;
}

DetailLoss write_base(const DetailQuestion& q, FlagSection& flags) {
  const double base = q.spec.details.rotary_base;
  flags.add("--rotary-base", std::llround(base));
  if (std::round(base) == base) return std::nullopt;
  return "the base of rotary positions is rounded: Megatron-LM's is a whole number";
}

DetailLoss write_share(const DetailQuestion& q, FlagSection& flags) {
  flags.add("--rotary-percent", short_real(q.spec.details.rotary_share));
  return std::nullopt;
}

// The frequencies that --use-rope-scaling has built in.
bool is_llama3(const RotaryScaling& s) {
  return s.kind == RotaryScaling::Kind::llama3 && s.low_frequency == 1 && s.high_frequency == 4 &&
         s.original_positions == 8192;
}

// Latent attention has its own yarn, with the original length and the betas of DeepSeek built in.
bool is_deepseeks(const RotaryScaling& s) {
  return s.kind == RotaryScaling::Kind::yarn && s.beta_fast == 32 && s.beta_slow == 1 &&
         s.original_positions == 4096 && s.whole_range;
}

void add_yarn(const RotaryScaling& s, FlagSection& flags) {
  flags.add("--rotary-scaling-factor", short_real(s.factor));
  flags.add("--mscale", short_real(s.mscale)).add("--mscale-all-dim", short_real(s.mscale_all));
}

DetailLoss write_scaling(const DetailQuestion& q, FlagSection& flags) {
  const ModelDetail& row = *find_model_detail("rotary_scaling");
  const RotaryScaling* s = q.spec.details.scaling ? &*q.spec.details.scaling : nullptr;
  if (q.block.attention.latent) {
    const bool yarn = s != nullptr && is_deepseeks(*s);
    flags.add("--rope-type", yarn ? "yarn" : "rope");
    if (yarn) add_yarn(*s, flags);
    if (s == nullptr || yarn) return std::nullopt;
    return fmt::format("the scaling of rotary positions has no flags for latent attention: {} is left out",
                       row.value(q.spec));
  }
  if (row.value(q.spec).empty()) return std::nullopt;
  if (is_llama3(*s)) {
    flags.add("--use-rope-scaling").add("--rope-scaling-factor", short_real(s->factor));
  } else if (s->kind == RotaryScaling::Kind::yarn && q.since("core_v0.19")) {
    add_yarn(*s, flags);
    flags.add("--yarn-beta-fast", short_real(s->beta_fast)).add("--yarn-beta-slow", short_real(s->beta_slow));
    if (s->original_positions > 0)
      flags.add("--yarn-original-max-position-embeddings", std::llround(s->original_positions));
    if (!s->whole_range) flags.add("--no-yarn-correction-range-round-to-int");
  } else if (s->kind == RotaryScaling::Kind::linear && s->factor == std::round(s->factor)) {
    flags.add("--rotary-seq-len-interpolation-factor", std::llround(s->factor));
  } else {
    return fmt::format("the scaling of rotary positions has no flags in this release: {} is left out",
                       row.value(q.spec));
  }
  return std::nullopt;
}

DetailLoss write_unturned(const DetailQuestion& q, FlagSection& flags) {
  const auto turned = layers_with(q.stack, [](const BlockSpec& b) { return b.attention.rotary; });
  std::vector<bool> unturned(turned);
  unturned.flip();
  flags.add("--no-rope-freq", layer_pattern(unturned));
  return std::nullopt;
}

DetailLoss write_epsilon(const DetailQuestion& q, FlagSection& flags) {
  flags.add("--norm-epsilon", fmt::format("{}", q.spec.details.norm_epsilon));
  return std::nullopt;
}

DetailLoss write_windows(const DetailQuestion& q, FlagSection& flags) {
  const auto windows = layers_with(q.stack, [](const BlockSpec& b) { return b.attention.window > 0; });
  std::int64_t width = 0;
  bool alike = true;
  bool chunks = false;
  for (const BlockSpec& block : q.stack.blocks) {
    const std::int64_t own = block.attention.window;
    chunks = chunks || (own > 0 && block.attention.chunked);
    alike = alike && (own == 0 || width == 0 || own == width);
    width = std::max(width, own);
  }
  const std::string value = find_model_detail("windows")->value(q.spec);
  if (chunks) return fmt::format("{} are left out: attention sees the whole sequence", value);
  if (q.options.ring)
    return fmt::format(
        "sliding windows are left out, {}, because ring attention has none: attention sees the whole "
        "sequence",
        value);
  if (!q.since("core_v0.15") || !alike)
    return fmt::format("sliding windows are left out, {}: attention sees the whole sequence", value);
  // A position sees itself and those before it, which is all that Megatron-LM counts.
  flags.add("--window-size", fmt::format("{},0", width - 1));
  if (std::find(windows.begin(), windows.end(), false) != windows.end())
    flags.add("--window-attn-skip-freq", all_but_every(windows));
  return std::nullopt;
}

DetailLoss write_sinks(const DetailQuestion& q, FlagSection& flags) {
  const auto with = layers_with(q.stack, [](const BlockSpec& b) { return !attends(b) || b.attention.sinks; });
  if (std::find(with.begin(), with.end(), false) != with.end()) return usual_loss();
  if (q.options.ring) return "the sinks of attention are left out, because ring attention has none";
  flags.add("--softmax-type", "learnable");
  return std::nullopt;
}

DetailLoss write_gate(const DetailQuestion& q, FlagSection& flags) {
  const auto with = layers_with(q.stack, [](const BlockSpec& b) {
    return !attends(b) || b.attention.output_gate == b.attention.head_dim;
  });
  if (q.block.attention.latent || std::find(with.begin(), with.end(), false) != with.end())
    return usual_loss();
  flags.add("--attention-output-gate");
  return std::nullopt;
}

// Gated delta rules in the layers without attention. Before core_v0.18 context ranks cannot share them out.
DetailLoss write_delta_rule(const DetailQuestion& q, FlagSection& flags) {
  const auto number = [&](std::string_view name) { return std::llround(number_of(q.spec.details, name)); };
  const std::int64_t ranks = q.options.tensor * q.options.context;
  if ((q.options.context > 1 && !q.since("core_v0.18")) || number("delta_key_heads") % ranks != 0)
    return "delta rules are left out, because this release does not share them out over these ranks: all "
           "layers have attention";
  flags.add("--experimental-attention-variant", "gated_delta_net");
  flags.add("--linear-attention-freq",
            all_but_every(layers_with(q.stack, [](const BlockSpec& b) { return !attends(b); })));
  flags.add("--linear-conv-kernel-dim", number("delta_kernel"));
  flags.add("--linear-num-key-heads", number("delta_key_heads"))
      .add("--linear-key-head-dim", number("delta_key_dim"));
  flags.add("--linear-num-value-heads", number("delta_value_heads"));
  flags.add("--linear-value-head-dim", number("delta_value_dim"));
  return std::nullopt;
}

// Its training needs a weight of the loss that the indexer's heads learn by, which no config.json has.
DetailLoss write_indexer(const DetailQuestion& q, FlagSection& flags) {
  constexpr const char* kUsualLoss = "0.01";
  const LatentAttention& own = *q.block.attention.latent;
  const auto with = layers_with(
      q.stack, [](const BlockSpec& b) { return b.attention.latent && b.attention.latent->index_heads > 0; });
  if (q.options.context > 1)
    return "the heads that choose keys are left out with context parallelism: attention sees all keys";
  if (std::find(with.begin(), with.end(), false) != with.end()) return usual_loss();
  flags.add("--experimental-attention-variant", "dsa").add("--no-rope-fusion");
  flags.add("--dsa-indexer-n-heads", own.index_heads).add("--dsa-indexer-head-dim", own.index_dim);
  flags.add("--dsa-indexer-topk", q.block.attention.window).add("--dsa-indexer-loss-coeff", kUsualLoss);
  return std::nullopt;
}

DetailLoss write_mtp(const DetailQuestion& q, FlagSection& /*flags*/) {
  if (q.options.mtp) return std::nullopt;
  return "multi-token prediction modules are not part of the plan";
}

DetailLoss write_stem(const DetailQuestion& q, FlagSection& /*flags*/) {
  return fmt::format("the embedding is written as a table of tokens only: this model has {}",
                     find_model_detail("stem")->value(q.spec));
}

DetailLoss write_head(const DetailQuestion& q, FlagSection& /*flags*/) {
  return fmt::format("the head is written as a projection to the vocabulary only: this model's is {}",
                     find_model_detail("head")->value(q.spec));
}

DetailLoss write_unlike(const DetailQuestion& q, FlagSection& /*flags*/) {
  return fmt::format("all blocks are written like the first of their kind: these differ in {}",
                     find_model_detail("unlike")->value(q.spec));
}

constexpr std::array kWords{
    MegatronWord{"unlike", "", write_unlike},
    MegatronWord{"direction", "", write_direction},
    MegatronWord{"head_norms", "", write_head_norms},
    MegatronWord{"norm", "", write_norm},
    MegatronWord{"activation", "", write_activation},
    MegatronWord{"layout", "", write_layout},
    MegatronWord{"biases", "", write_biases, true},
    MegatronWord{"rotary_base", "", write_base},
    MegatronWord{"rotary_share", "", write_share},
    MegatronWord{"rotary_scaling", "", write_scaling, true},
    MegatronWord{"unturned", "", write_unturned},
    MegatronWord{"norm_epsilon", "", write_epsilon},
    MegatronWord{"windows", "", write_windows},
    MegatronWord{"sinks", "core_v0.15", write_sinks},
    MegatronWord{"output_gate", "core_v0.16", write_gate},
    MegatronWord{"delta_rule", "core_v0.16", write_delta_rule},
    MegatronWord{"indexer", "core_v0.16", write_indexer},
    MegatronWord{"mtp", "", write_mtp},
    MegatronWord{"stem", "", write_stem},
    MegatronWord{"head", "", write_head},
};

void add_word(const MegatronWord& word, const DetailQuestion& q, FlagSection& flags,
              std::vector<std::string>& lost) {
  const ModelDetail& detail = *find_model_detail(word.key);
  const bool has = !detail.value(q.spec).empty();
  if (!has && !word.always) return;
  const DetailLoss loss = word.since.empty() || q.since(word.since) ? word.write(q, flags) : usual_loss();
  if (!loss || (loss->empty() && !has)) return;
  lost.push_back(loss->empty() ? left_out(detail, q.spec) : *loss);
}

bool has_word(std::string_view key) {
  const auto is = [&](const MegatronWord& word) { return word.key == key; };
  return std::any_of(kWords.begin(), kWords.end(), is) ||
         std::any_of(megatron_router_words().begin(), megatron_router_words().end(), is);
}

}  // namespace

std::span<const MegatronWord> megatron_words() {
  return kWords;
}

bool is_since(const Release& release, std::string_view first) {
  return find_releases("megatron")->within(release, first, {});
}

void add_details(const DetailQuestion& question, FlagSection& flags, std::vector<std::string>& lost) {
  for (const MegatronWord& word : kWords) add_word(word, question, flags, lost);
  if (experts_of(question.stack) != nullptr) {
    for (const MegatronWord& word : megatron_router_words()) add_word(word, question, flags, lost);
  }
  for (const ModelDetail& detail : model_details()) {
    if (!has_word(detail.key) && !detail.value(question.spec).empty())
      lost.push_back(left_out(detail, question.spec));
  }
}

std::string layer_pattern(const std::vector<bool>& layers) {
  std::string out;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[i]) ++end;
    out += fmt::format("{}[{}]*{}", out.empty() ? "" : "+", layers[i] ? 1 : 0, end - i);
    i = end;
  }
  return "(" + out + ")";
}

std::string all_but_every(const std::vector<bool>& layers) {
  const auto first = std::find(layers.begin(), layers.end(), false);
  const std::size_t every = static_cast<std::size_t>(first - layers.begin()) + 1;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i] != ((i + 1) % every != 0)) return layer_pattern(layers);
  }
  return std::to_string(every);
}

}  // namespace nest::frameworks
