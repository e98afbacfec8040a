#include "nest/frameworks/megatron/megatron_details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nest::frameworks {
namespace {

std::string real_text(double value) {
  return fmt::format("{}", value);
}

// The frequencies that Megatron-LM's --use-rope-scaling has built in.
bool is_llama3(const RotaryScaling& s) {
  return s.kind == RotaryScaling::Kind::llama3 && s.low_frequency == 1 && s.high_frequency == 4 &&
         s.original_positions == 8192;
}

// Latent attention has its own yarn, with the original length and the betas of DeepSeek built in.
bool is_deepseeks(const RotaryScaling& s) {
  return s.kind == RotaryScaling::Kind::yarn && s.beta_fast == 32 && s.beta_slow == 1 &&
         s.original_positions == 4096;
}

void add_yarn(const RotaryScaling& s, FlagSection& flags) {
  flags.add("--rotary-scaling-factor", real_text(s.factor));
  flags.add("--mscale", real_text(s.mscale)).add("--mscale-all-dim", real_text(s.mscale_all));
}

void add_latent_positions(const std::optional<RotaryScaling>& scaling, FlagSection& flags,
                          std::vector<std::string>& lost) {
  const bool yarn = scaling && is_deepseeks(*scaling);
  flags.add("--rope-type", yarn ? "yarn" : "rope");
  if (yarn) add_yarn(*scaling, flags);
  if (scaling && !yarn)
    lost.emplace_back("the scaling of rotary positions has no flags for latent attention: it is left out");
}

void add_scaling(const RotaryScaling& s, const Release& release, FlagSection& flags,
                 std::vector<std::string>& lost) {
  if (is_llama3(s)) {
    flags.add("--use-rope-scaling").add("--rope-scaling-factor", real_text(s.factor));
  } else if (s.kind == RotaryScaling::Kind::yarn && is_since(release, "core_v0.19")) {
    add_yarn(s, flags);
    flags.add("--yarn-beta-fast", real_text(s.beta_fast)).add("--yarn-beta-slow", real_text(s.beta_slow));
    if (s.original_positions > 0)
      flags.add("--yarn-original-max-position-embeddings", std::llround(s.original_positions));
  } else {
    lost.emplace_back("the scaling of rotary positions has no flags in this release: it is left out");
  }
}

std::string position_type(const BlockSpec& block, const StackSpec& stack, const ModelDetails& details,
                          const Release& release) {
  if (!block.attention.rotary) return stack.stem.positions > 0 ? "learned_absolute" : "none";
  const bool yarn = !block.attention.latent && details.scaling &&
                    details.scaling->kind == RotaryScaling::Kind::yarn && is_since(release, "core_v0.19");
  return yarn ? "yarn" : "rope";
}

// One full layer after N - 1 with a window is said by N.
std::string skip_pattern(const std::vector<bool>& windows) {
  const auto full = std::find(windows.begin(), windows.end(), false);
  const std::size_t every = static_cast<std::size_t>(full - windows.begin()) + 1;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i] != ((i + 1) % every != 0)) return layer_pattern(windows);
  }
  return std::to_string(every);
}

}  // namespace

bool is_since(const Release& release, std::string_view first) {
  return find_releases("megatron")->within(release, first, {});
}

void add_positions(const ModelSpec& spec, const Release& release, FlagSection& flags,
                   std::vector<std::string>& lost) {
  const ModelDetails& d = spec.details;
  const StackSpec& stack = spec.stacks.front();
  const BlockSpec& block = stack.blocks.front();
  flags.add("--position-embedding-type", position_type(block, stack, d, release));
  if (block.attention.rotary && d.rotary_base > 0) {
    flags.add("--rotary-base", std::llround(d.rotary_base));
    if (std::round(d.rotary_base) != d.rotary_base)
      lost.emplace_back("the base of rotary positions is rounded: Megatron-LM's is a whole number");
    if (d.rotary_share != 1) flags.add("--rotary-percent", real_text(d.rotary_share));
    if (block.attention.latent) {
      add_latent_positions(d.scaling, flags, lost);
    } else if (d.scaling) {
      add_scaling(*d.scaling, release, flags, lost);
    }
  }
  if (d.norm_epsilon > 0) flags.add("--norm-epsilon", real_text(d.norm_epsilon));
}

void add_windows(const StackSpec& stack, const Release& release, bool ring, FlagSection& flags,
                 std::vector<std::string>& lost) {
  std::vector<bool> windows;
  std::int64_t width = 0;
  bool alike = true;
  for (const BlockSpec& block : stack.blocks) {
    const std::int64_t own = block.attention.window;
    windows.push_back(own > 0);
    alike = alike && (own == 0 || width == 0 || own == width);
    width = std::max(width, own);
  }
  if (width == 0) return;
  if (!is_since(release, "core_v0.15") || ring || !alike) {
    lost.emplace_back(
        ring ? "sliding windows are left out, because ring attention has none: attention sees the whole "
               "sequence"
             : "sliding windows are left out: attention sees the whole sequence");
    return;
  }
  // A position sees itself and those before it, which is all that Megatron-LM counts.
  flags.add("--window-size", fmt::format("{},0", width - 1));
  if (std::find(windows.begin(), windows.end(), false) != windows.end())
    flags.add("--window-attn-skip-freq", skip_pattern(windows));
}

void add_router(const RouterDetails& router, const ExpertsSpec& experts, FlagSection& flags) {
  if (router.groups > 1 && router.group_top_k > 0 && router.group_top_k <= router.groups &&
      experts.experts % router.groups == 0) {
    flags.add("--moe-router-num-groups", router.groups);
    flags.add("--moe-router-group-topk", router.group_top_k);
  }
  if (experts.correction_bias) {
    flags.add("--moe-router-score-function", "sigmoid").add("--moe-router-enable-expert-bias");
  } else if (!router.normalized || experts.top_k == 1) {
    flags.add("--moe-router-pre-softmax");  // over all experts: the chosen weights add up to less than 1
  }
  if (router.scale != 1) flags.add("--moe-router-topk-scaling-factor", real_text(router.scale));
  if (router.balance_loss > 0) {
    flags.add("--moe-router-load-balancing-type", router.balance_by_sequence ? "seq_aux_loss" : "aux_loss");
    flags.add("--moe-aux-loss-coeff", real_text(router.balance_loss));
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

}  // namespace nest::frameworks
