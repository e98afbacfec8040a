#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <set>

#include "nest/frameworks/common/detail_text.hpp"
#include "nest/model/blocks/detail_numbers.hpp"

namespace nest::frameworks {
namespace {

// What the flags say of all blocks is read from the first of each kind.
std::string unlike_value(const ModelSpec& spec) {
  const StackSpec& stack = decoder_of(spec);
  const BlockSpec* first = attending_block(stack);
  if (first == nullptr) return "";
  std::set<std::string> unlike;
  const BlockSpec* dense = nullptr;
  const BlockSpec* routed = nullptr;
  for (const BlockSpec& block : stack.blocks) {
    if (attends(block)) {
      const AttentionSpec& a = block.attention;
      if (a.heads != first->attention.heads || a.kv_heads != first->attention.kv_heads)
        unlike.insert("heads");
      if (a.head_dim != first->attention.head_dim || a.value_dim != first->attention.value_dim)
        unlike.insert("widths of heads");
      if (a.position_buckets != first->attention.position_buckets) unlike.insert("relative positions");
      if (a.latent.has_value() != first->attention.latent.has_value()) unlike.insert("latent attention");
    }
    if (block.shares) unlike.insert("layers that share weights");
    if (block.cross) unlike.insert("cross-attention");
    const BlockSpec*& same = block.experts ? routed : dense;
    if (!block.experts && block.ffn.ffn == 0) continue;
    if (same == nullptr) same = &block;
    if (block.ffn.ffn != same->ffn.ffn) unlike.insert("widths of feed-forwards");
    if (block.experts &&
        (block.experts->experts != same->experts->experts || block.experts->ffn != same->experts->ffn ||
         block.experts->shared_ffn != same->experts->shared_ffn))
      unlike.insert("experts");
  }
  return fmt::format("{}", fmt::join(unlike, ", "));
}

std::string norm_value(const ModelSpec& spec) {
  std::string kind(word_of_norm(decoder_of(spec).norm));
  if (!decoder_of(spec).final_norm) kind += ", none after the last block";
  return kind;
}

std::string layout_value(const ModelSpec& spec) {
  constexpr std::array kWords{"",
                              "after each addition",
                              "attention and feed-forward side by side",
                              "attention and feed-forward side by side, with a norm each",
                              "before and after each branch",
                              "after each branch"};
  const BlockSpec* block = attending_block(decoder_of(spec));
  return block == nullptr ? "" : kWords[static_cast<std::size_t>(block->layout)];
}

std::string activation_value(const ModelSpec& spec) {
  const BlockSpec* block = attending_block(decoder_of(spec));
  if (block == nullptr) return "";
  constexpr std::array kWords{"SwiGLU", "gated GELU", "GELU", "ReLU"};
  if (states(spec.details, "squared_relu")) return "squared ReLU";
  std::string out = kWords[static_cast<std::size_t>(block->ffn.activation)];
  if (states(spec.details, "activation_slope"))
    out += fmt::format(", x * sigmoid({} x)", short_real(number_of(spec.details, "activation_slope")));
  if (states(spec.details, "activation_limit"))
    out += fmt::format(", cut at {}", short_real(number_of(spec.details, "activation_limit")));
  if (states(spec.details, "activation_offset"))
    out += fmt::format(", its values plus {}", short_real(number_of(spec.details, "activation_offset")));
  return out;
}

std::string biases_value(const ModelSpec& spec) {
  std::set<std::string> with;
  for (const BlockSpec& block : decoder_of(spec).blocks) {
    const AttentionSpec& a = block.attention;
    if (attends(block)) {
      if (a.query_bias) with.insert("q");
      if (a.key_bias) with.insert("k");
      if (a.value_bias) with.insert("v");
      if (a.output_bias) with.insert("attention's output");
    }
    if (!block.experts && block.ffn.ffn > 0) {
      if (block.ffn.gate_bias) with.insert("into the ffn");
      if (block.ffn.down_bias) with.insert("out of the ffn");
    }
    if (block.experts && block.experts->expert_bias) with.insert("experts");
    if (block.experts && block.experts->router_bias) with.insert("router");
  }
  return fmt::format("{}", fmt::join(with, ", "));
}

std::string epsilon_value(const ModelSpec& spec) {
  return spec.details.norm_epsilon > 0 ? short_real(spec.details.norm_epsilon) : "";
}

std::string delta_value(const ModelSpec& spec) {
  if (!states(spec.details, "delta_value_heads")) return "";
  return layers_text(spec, [](const BlockSpec& b) { return !attends(b); });
}

bool has_experts(const ModelSpec& spec) {
  return experts_of(decoder_of(spec)) != nullptr;
}

std::string scores_value(const ModelSpec& spec) {
  if (!has_experts(spec)) return "";
  const RouterDetails& router = spec.details.router;
  return fmt::format("{}, {}", router.sigmoid ? "sigmoids" : "a softmax",
                     router.normalized ? "the chosen ones add up to 1" : "as they are");
}

std::string balance_bias_value(const ModelSpec& spec) {
  if (!has_experts(spec)) return "";
  return spec.details.router.balance_bias || experts_of(decoder_of(spec))->correction_bias ? "one for each"
                                                                                           : "";
}

std::string groups_value(const ModelSpec& spec) {
  const RouterDetails& router = spec.details.router;
  if (!has_experts(spec) || router.groups <= 1 || router.group_top_k == router.groups) return "";
  return fmt::format("{} of {}", router.group_top_k, router.groups);
}

std::string router_scale_value(const ModelSpec& spec) {
  return has_experts(spec) && spec.details.router.scale != 1 ? short_real(spec.details.router.scale) : "";
}

std::string balance_loss_value(const ModelSpec& spec) {
  const RouterDetails& router = spec.details.router;
  if (!has_experts(spec) || router.balance_loss <= 0) return "";
  return fmt::format("{}{}", short_real(router.balance_loss),
                     router.balance_by_sequence ? " of each sequence" : "");
}

std::string shared_gate_value(const ModelSpec& spec) {
  const ExpertsSpec* experts = experts_of(decoder_of(spec));
  return experts != nullptr && experts->shared_gate ? "one value for each token" : "";
}

std::string weights_on_input_value(const ModelSpec& spec) {
  return has_experts(spec) && states(spec.details, "weights_on_input") ? "as factors" : "";
}

std::string mtp_value(const ModelSpec& spec) {
  return spec.mtp_layers > 0 ? std::to_string(spec.mtp_layers) : "";
}

std::string stem_value(const ModelSpec& spec) {
  const StemSpec& stem = decoder_of(spec).stem;
  std::vector<std::string> parts;
  if (stem.types > 0) parts.push_back(fmt::format("{} token types", stem.types));
  if (stem.norm) parts.emplace_back("a norm");
  if (stem.width > 0 && stem.width != decoder_of(spec).hidden)
    parts.push_back(fmt::format("width {}", stem.width));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string head_value(const ModelSpec& spec) {
  std::vector<std::string> parts;
  if (spec.head.kind != HeadSpec::Kind::vocabulary) parts.emplace_back("not to the vocabulary");
  if (spec.head.bias) parts.emplace_back("with a bias");
  if (spec.head.projection > 0) parts.push_back(fmt::format("through {}", spec.head.projection));
  if (!spec.head.steps.empty()) parts.emplace_back("in several steps");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string special_value(const ModelSpec& spec) {
  return fmt::format("{}", fmt::join(spec.details.special, "; "));
}

std::string unread_value(const ModelSpec& spec) {
  return fmt::format("{}", fmt::join(spec.details.unread, ", "));
}

constexpr std::array kLayerDetails{
    ModelDetail{"unlike", "blocks that differ", unlike_value},
    ModelDetail{"norm", "the kind of norm", norm_value},
    ModelDetail{"layout", "the places of norms", layout_value},
    ModelDetail{"activation", "the activation", activation_value},
    ModelDetail{"biases", "biases", biases_value},
    ModelDetail{"norm_epsilon", "the norms' epsilon", epsilon_value},
    ModelDetail{"delta_rule", "delta rules in place of attention", delta_value},
    ModelDetail{"embedding_scale", "the factor of the embeddings",
                [](const ModelSpec& s) { return plain_number(s, "embedding_scale"); }},
    ModelDetail{"residual_scale", "the factor of residual branches",
                [](const ModelSpec& s) { return plain_number(s, "residual_scale"); }},
    ModelDetail{"logit_scale", "the factor of the logits",
                [](const ModelSpec& s) { return plain_number(s, "logit_scale"); }},
    ModelDetail{"logit_cap", "the soft cap of the logits",
                [](const ModelSpec& s) { return plain_number(s, "logit_cap"); }},
    ModelDetail{"scores", "the scores of the router", scores_value},
    ModelDetail{"balance_bias", "the bias of the router that balances experts", balance_bias_value},
    ModelDetail{"groups", "the groups of experts", groups_value},
    ModelDetail{"router_scale", "the factor of the router's weights", router_scale_value},
    ModelDetail{"balance_loss", "the loss that balances experts", balance_loss_value},
    ModelDetail{"shared_gate", "the gate of the shared expert", shared_gate_value},
    ModelDetail{"weights_on_input", "the router's weights on what experts read", weights_on_input_value},
    ModelDetail{"mtp", "modules for multi-token prediction", mtp_value},
    ModelDetail{"stem", "more of the embedding than a table", stem_value},
    ModelDetail{"head", "more of the head than one product", head_value},
    ModelDetail{"special", "parts of this family", special_value},
    ModelDetail{"unread", "what nest does not read in the config.json", unread_value},
};

}  // namespace

std::span<const ModelDetail> layer_details() {
  return kLayerDetails;
}

}  // namespace nest::frameworks
