#include "nest/frameworks/megatron/megatron_model.hpp"

#include <algorithm>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/model/blocks/detail_numbers.hpp"

namespace nest::frameworks {
namespace {

void add_attention(const AttentionSpec& a, FlagSection& flags) {
  flags.add("--num-attention-heads", a.heads);
  if (a.latent) {
    flags.add("--multi-latent-attention");
    if (a.latent->query_rank > 0) flags.add("--q-lora-rank", a.latent->query_rank);
    flags.add("--kv-lora-rank", a.latent->key_value_rank).add("--qk-head-dim", a.latent->nope_dim);
    flags.add("--qk-pos-emb-head-dim", a.latent->rope_dim).add("--v-head-dim", a.latent->value_dim);
    flags.add("--qk-layernorm");  // a norm after each projection down
  } else {
    if (a.kv_heads != a.heads) flags.add("--group-query-attention").add("--num-query-groups", a.kv_heads);
    flags.add("--kv-channels", a.head_dim);
  }
}

void add_experts(const StackSpec& stack, const ExpertsSpec& e, FlagSection& flags) {
  flags.add("--num-experts", e.experts).add("--moe-router-topk", e.top_k);
  flags.add("--moe-ffn-hidden-size", e.ffn);
  if (const std::string pattern = expert_pattern(stack); !pattern.empty())
    flags.add("--moe-layer-freq", pattern);
  if (e.shared_ffn > 0) flags.add("--moe-shared-expert-intermediate-size", e.shared_ffn);
}

// Outside latent attention yarn is a type of its own, which has flags from core_v0.19 on.
std::string position_type(const DetailQuestion& q) {
  const bool turned = std::any_of(q.stack.blocks.begin(), q.stack.blocks.end(),
                                  [](const BlockSpec& b) { return attends(b) && b.attention.rotary; });
  if (!turned) return q.stack.stem.positions > 0 ? "learned_absolute" : "none";
  const auto& scaling = q.spec.details.scaling;
  const bool yarn = scaling && scaling->kind == RotaryScaling::Kind::yarn && q.since("core_v0.19");
  return yarn && !q.block.attention.latent ? "yarn" : "rope";
}

}  // namespace

bool megatron_describes(const ModelSpec& spec) {
  if (spec.stacks.size() != 1) return false;
  const bool delta = states(spec.details, "delta_value_heads");
  const StackSpec& stack = spec.stacks.front();
  return attending_block(stack) != nullptr &&
         std::all_of(stack.blocks.begin(), stack.blocks.end(),
                     [&](const BlockSpec& b) { return attends(b) ? b.steps.empty() : delta; });
}

std::string expert_pattern(const StackSpec& stack) {
  const std::vector<bool> layers =
      layers_with(stack, [](const BlockSpec& block) { return block.experts.has_value(); });
  const bool one = std::find(layers.begin(), layers.end(), !layers.front()) == layers.end();
  return one ? "" : layer_pattern(layers);
}

FlagSection megatron_model_flags(const ModelSpec& spec, const ModelFlagOptions& options,
                                 std::vector<std::string>& lost) {
  const Release& release = options.release != nullptr ? *options.release : find_releases("megatron")->usual();
  FlagSection flags{"Model", {}};
  const StackSpec& stack = spec.stacks.back();
  const DetailQuestion question{spec, stack, *attending_block(stack), release, options};
  const ExpertsSpec* experts = experts_of(stack);
  const auto dense = std::find_if(stack.blocks.begin(), stack.blocks.end(),
                                  [](const BlockSpec& b) { return !b.experts && b.ffn.ffn > 0; });
  flags.add("--num-layers", static_cast<std::int64_t>(stack.blocks.size()));
  flags.add("--hidden-size", stack.hidden);
  if (dense != stack.blocks.end() || experts != nullptr)
    flags.add("--ffn-hidden-size", dense != stack.blocks.end() ? dense->ffn.ffn : experts->ffn);
  add_attention(question.block.attention, flags);
  flags.add("--vocab-size", stack.stem.vocab).add("--make-vocab-size-divisible-by", 128);
  if (!spec.head.tied) flags.add("--untie-embeddings-and-output-weights");
  if (experts != nullptr) add_experts(stack, *experts, flags);
  flags.add("--position-embedding-type", position_type(question));
  add_details(question, flags, lost);
  return flags;
}

}  // namespace nest::frameworks
