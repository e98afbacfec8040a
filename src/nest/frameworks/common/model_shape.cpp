#include "nest/frameworks/common/model_shape.hpp"

namespace nest::frameworks {

std::optional<ModelShape> model_shape(const ModelSpec* spec) {
  if (spec == nullptr || spec->stacks.size() != 1 || spec->stacks.front().blocks.empty()) return std::nullopt;
  ModelShape shape;
  const StackSpec& stack = spec->stacks.front();
  const BlockSpec& first = stack.blocks.front();
  const BlockSpec& last = stack.blocks.back();
  shape.layers = static_cast<std::int64_t>(stack.blocks.size());
  shape.hidden = stack.hidden;
  shape.heads = first.attention.heads;
  shape.kv_heads = first.attention.kv_heads;
  shape.ffn = first.experts ? 0 : first.ffn.ffn;
  shape.vocab = stack.stem.vocab;
  if (last.experts) {
    shape.experts = last.experts->experts;
    shape.top_k = last.experts->top_k;
    shape.expert_ffn = last.experts->ffn;
  }
  if (first.attention.latent) {
    shape.query_rank = first.attention.latent->query_rank;
    shape.key_value_rank = first.attention.latent->key_value_rank;
  }
  shape.tied = spec->head.tied;
  return shape;
}

}  // namespace nest::frameworks
