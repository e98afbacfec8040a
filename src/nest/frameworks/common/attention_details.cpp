#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "nest/frameworks/common/detail_text.hpp"
#include "nest/model/blocks/detail_numbers.hpp"

namespace nest::frameworks {
namespace {

std::string head_norm_value(const ModelSpec& spec) {
  const StackSpec& stack = decoder_of(spec);
  const auto has = [](const BlockSpec& b) { return attends(b) && b.attention.head_norms; };
  const auto at = std::find_if(stack.blocks.begin(), stack.blocks.end(), has);
  if (at == stack.blocks.end()) return "";
  return fmt::format("{}{} {}", word_of_norm(at->attention.head_norm),
                     at->attention.head_norm_over_all ? " over all heads" : "", layers_text(spec, has));
}

std::string value_width_value(const ModelSpec& spec) {
  const BlockSpec* block = attending_block(decoder_of(spec));
  if (block == nullptr || block->attention.latent) return "";
  const AttentionSpec& a = block->attention;
  return a.value_dim > 0 && a.value_dim != a.head_dim ? std::to_string(a.value_dim) : "";
}

std::string direction_value(const ModelSpec& spec) {
  return layers_text(spec, [](const BlockSpec& b) { return attends(b) && !b.attention.causal; });
}

bool turned(const ModelSpec& spec) {
  const StackSpec& stack = decoder_of(spec);
  return std::any_of(stack.blocks.begin(), stack.blocks.end(),
                     [](const BlockSpec& b) { return attends(b) && b.attention.rotary; });
}

std::string base_value(const ModelSpec& spec) {
  return turned(spec) && spec.details.rotary_base > 0 ? short_real(spec.details.rotary_base) : "";
}

// Latent attention turns dimensions of their own, whose number is a size.
std::string share_value(const ModelSpec& spec) {
  const BlockSpec* block = attending_block(decoder_of(spec));
  if (!turned(spec) || block->attention.latent || spec.details.rotary_share == 1) return "";
  return short_real(spec.details.rotary_share);
}

std::string scaling_value(const ModelSpec& spec) {
  if (!turned(spec) || !spec.details.scaling) return "";
  const RotaryScaling& s = *spec.details.scaling;
  const std::string from = s.original_positions > 0 ? fmt::format(" of {:.0f}", s.original_positions) : "";
  switch (s.kind) {
    case RotaryScaling::Kind::llama3:
      return fmt::format("Llama 3, {} times{}, {} to {}", short_real(s.factor), from,
                         short_real(s.low_frequency), short_real(s.high_frequency));
    case RotaryScaling::Kind::yarn:
      return fmt::format("YaRN, {} times{}, betas {} and {}, mscale {} and {}{}", short_real(s.factor), from,
                         short_real(s.beta_fast), short_real(s.beta_slow), short_real(s.mscale),
                         short_real(s.mscale_all), s.whole_range ? "" : ", ends not rounded");
    case RotaryScaling::Kind::linear:
      return fmt::format("linear, {} times{}", short_real(s.factor), from);
    case RotaryScaling::Kind::other:
      break;
  }
  return fmt::format("{} times{}", short_real(s.factor), from);
}

std::string local_base_value(const ModelSpec& spec) {
  const double base = number_of(spec.details, "local_rotary_base");
  if (!turned(spec) || base <= 0 || base == spec.details.rotary_base) return "";
  return fmt::format("{}{}", short_real(base), spec.details.scaling ? ", without scaling" : "");
}

std::string unturned_value(const ModelSpec& spec) {
  if (!turned(spec)) return "";
  return layers_text(spec, [](const BlockSpec& b) { return attends(b) && !b.attention.rotary; });
}

std::string window_value(const ModelSpec& spec) {
  std::set<std::int64_t> widths;
  bool chunks = false;
  const auto has = [](const BlockSpec& b) {
    return attends(b) && b.attention.window > 0 &&
           (!b.attention.latent || b.attention.latent->index_dim == 0);
  };
  for (const BlockSpec& block : decoder_of(spec).blocks) {
    if (!has(block)) continue;
    widths.insert(block.attention.window);
    chunks = chunks || block.attention.chunked;
  }
  if (widths.empty()) return "";
  return fmt::format("{}{} {}", chunks ? "chunks of " : "", fmt::join(widths, " and "),
                     layers_text(spec, has));
}

std::string sinks_value(const ModelSpec& spec) {
  return layers_text(spec, [](const BlockSpec& b) { return attends(b) && b.attention.sinks; });
}

std::string gate_value(const ModelSpec& spec) {
  const auto has = [](const BlockSpec& b) { return attends(b) && b.attention.output_gate > 0; };
  const StackSpec& stack = decoder_of(spec);
  const auto at = std::find_if(stack.blocks.begin(), stack.blocks.end(), has);
  if (at == stack.blocks.end()) return "";
  return fmt::format("{} values of each head", at->attention.output_gate);
}

// One over the root of a head's width is what every framework takes by itself.
std::string attention_scale_value(const ModelSpec& spec) {
  constexpr double kClose = 1e-6;
  const BlockSpec* block = attending_block(decoder_of(spec));
  const double scale = number_of(spec.details, "attention_scale");
  if (block == nullptr || scale == 0) return "";
  const double usual = 1 / std::sqrt(static_cast<double>(block->attention.head_dim));
  return std::abs(scale / usual - 1) < kClose ? "" : fmt::format("{:.6g}", scale);
}

std::string temperature_value(const ModelSpec& spec) {
  if (!states(spec.details, "temperature_scale")) return "";
  return fmt::format("{} for each {} positions", short_real(number_of(spec.details, "temperature_scale")),
                     short_real(number_of(spec.details, "temperature_floor")));
}

std::string indexer_value(const ModelSpec& spec) {
  const auto has = [](const BlockSpec& b) {
    return attends(b) && b.attention.latent && b.attention.latent->index_heads > 0;
  };
  const StackSpec& stack = decoder_of(spec);
  const auto at = std::find_if(stack.blocks.begin(), stack.blocks.end(), has);
  if (at == stack.blocks.end()) return "";
  return fmt::format("{} heads of {} choose {} keys {}", at->attention.latent->index_heads,
                     at->attention.latent->index_dim, at->attention.window, layers_text(spec, has));
}

constexpr std::array kAttentionDetails{
    ModelDetail{"direction", "attention that sees both directions", direction_value},
    ModelDetail{"value_width", "the width of values", value_width_value},
    ModelDetail{"head_norms", "the norms of queries and keys", head_norm_value},
    ModelDetail{"rotary_base", "the base of rotary positions", base_value},
    ModelDetail{"rotary_share", "the share of a head that rotary positions turn", share_value},
    ModelDetail{"rotary_scaling", "the scaling of rotary positions", scaling_value},
    ModelDetail{"local_rotary_base", "the rotary base of layers with a window", local_base_value},
    ModelDetail{"unturned", "layers without rotary positions", unturned_value},
    ModelDetail{"windows", "sliding windows", window_value},
    ModelDetail{"sinks", "the sinks of attention", sinks_value},
    ModelDetail{"output_gate", "the gate of attention's result", gate_value},
    ModelDetail{"attention_cap", "the soft cap of attention's scores",
                [](const ModelSpec& s) { return plain_number(s, "attention_cap"); }},
    ModelDetail{"attention_scale", "the factor of attention's scores", attention_scale_value},
    ModelDetail{"temperature", "the temperature of layers without rotary positions", temperature_value},
    ModelDetail{"projection_clip", "the limit of queries, keys and values",
                [](const ModelSpec& s) { return plain_number(s, "projection_clip"); }},
    ModelDetail{"indexer", "the heads that choose keys", indexer_value},
};

}  // namespace

std::span<const ModelDetail> attention_details() {
  return kAttentionDetails;
}

}  // namespace nest::frameworks
