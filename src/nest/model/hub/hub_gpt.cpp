// Decoders with learned positions or biases: GPT-2 (also GPT-3 and the Megatron papers' GPTs), GPT-NeoX, OPT,
// Phi.
#include <utility>

#include "nest/model/hub/hub_families.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {
namespace {

// A decoder of equal blocks, its head over the token table's vocabulary.
ModelSpec one_stack(StackSpec stack, const BlockSpec& block, std::int64_t layers, std::int64_t positions,
                    bool tied) {
  ModelSpec spec;
  stack.prefix = "layer";
  stack.blocks.assign(static_cast<std::size_t>(layers), block);
  spec.positions = positions;
  spec.head.outputs = stack.stem.vocab;
  spec.head.tied = tied;
  spec.stacks.push_back(std::move(stack));
  return spec;
}

BlockSpec biased_block(Reader& r, std::int64_t hidden, std::int64_t heads, bool bias = true) {
  BlockSpec block;
  block.norm = NormKind::layer;
  block.attention = plain_attention(heads, head_dim_of(r, hidden, heads), {.bias = bias});
  block.ffn.gate_bias = block.ffn.down_bias = bias;
  return block;
}

}  // namespace

ModelSpec read_gpt2(Reader& r, const std::string& /*type*/) {
  if (r.boolean_or("add_cross_attention", false))
    r.fail_at("add_cross_attention", "the attention to an encoder is not described here");
  StackSpec stack;
  stack.norm = NormKind::layer;
  stack.hidden = size_field(r, {"n_embd", "hidden_size"}, 768);
  stack.stem.vocab = size_field(r, {"vocab_size"}, 50257);
  stack.stem.positions = size_field(r, {"n_positions", "max_position_embeddings"}, 1024);
  const std::int64_t heads = size_field(r, {"n_head", "num_attention_heads"}, 12);
  BlockSpec block = biased_block(r, stack.hidden, heads);
  block.ffn.ffn = size_field(r, {"n_inner"}, 4 * stack.hidden);
  block.ffn.activation = activation_field(r, {"activation_function"}, "gelu_new", FeedForward::plain);
  const std::int64_t layers = layers_field(r, {"n_layer", "num_hidden_layers"}, 12);
  const std::int64_t positions = stack.stem.positions;
  return one_stack(std::move(stack), block, layers, positions, r.boolean_or("tie_word_embeddings", true));
}

ModelSpec read_gpt_neox(Reader& r, const std::string& /*type*/) {
  StackSpec stack;
  stack.norm = NormKind::layer;
  stack.hidden = size_field(r, {"hidden_size"}, 6144);
  stack.stem.vocab = size_field(r, {"vocab_size"}, 50432);
  const std::int64_t heads = size_field(r, {"num_attention_heads"}, 64);
  BlockSpec block = biased_block(r, stack.hidden, heads);
  block.layout = r.boolean_or("use_parallel_residual", true) ? NormLayout::parallel_two : NormLayout::pre;
  const bool attention_bias = r.boolean_or("attention_bias", true);
  AttentionSpec& a = block.attention;
  a.query_bias = a.key_bias = a.value_bias = a.output_bias = attention_bias;
  a.rotary = true;
  block.ffn.ffn = size_field(r, {"intermediate_size"}, 24576);
  block.ffn.activation = activation_field(r, {"hidden_act"}, "gelu", FeedForward::plain);
  const std::int64_t layers = layers_field(r, {"num_hidden_layers"}, 44);
  const std::int64_t positions = size_field(r, {"max_position_embeddings"}, 2048);
  return one_stack(std::move(stack), block, layers, positions, r.boolean_or("tie_word_embeddings", false));
}

ModelSpec read_opt(Reader& r, const std::string& /*type*/) {
  constexpr std::int64_t kExtraRows = 2;  // its position table starts at row 2
  StackSpec stack;
  stack.norm = r.boolean_or("layer_norm_elementwise_affine", true) ? NormKind::layer : NormKind::bare;
  stack.hidden = size_field(r, {"hidden_size"}, 768);
  stack.stem.vocab = size_field(r, {"vocab_size"}, 50272);
  const std::int64_t positions = size_field(r, {"max_position_embeddings"}, 2048);
  stack.stem.positions = positions + kExtraRows;
  stack.stem.width = size_field(r, {"word_embed_proj_dim"}, stack.hidden);
  const bool before = r.boolean_or("do_layer_norm_before", true);
  stack.final_norm = before && !r.boolean_or("_remove_final_layer_norm", false);
  const std::int64_t heads = size_field(r, {"num_attention_heads"}, 12);
  BlockSpec block = biased_block(r, stack.hidden, heads, r.boolean_or("enable_bias", true));
  block.norm = stack.norm;
  block.layout = before ? NormLayout::pre : NormLayout::post;
  block.ffn.ffn = size_field(r, {"ffn_dim"}, 3072);
  block.ffn.activation = activation_field(r, {"activation_function"}, "relu", FeedForward::plain);
  const std::int64_t layers = layers_field(r, {"num_hidden_layers"}, 12);
  const std::int64_t projection = stack.stem.width == stack.hidden ? 0 : stack.stem.width;
  ModelSpec spec =
      one_stack(std::move(stack), block, layers, positions, r.boolean_or("tie_word_embeddings", true));
  spec.head.projection = projection;
  return spec;
}

ModelSpec read_phi(Reader& r, const std::string& /*type*/) {
  StackSpec stack;
  stack.norm = NormKind::layer;
  stack.hidden = size_field(r, {"hidden_size"}, 2048);
  stack.stem.vocab = size_field(r, {"vocab_size"}, 51200);
  const std::int64_t heads = size_field(r, {"num_attention_heads"}, 32);
  BlockSpec block = biased_block(r, stack.hidden, heads);
  block.layout = NormLayout::parallel;
  block.attention.kv_heads = size_field(r, {"num_key_value_heads"}, heads);
  check_kv_heads(r, heads, block.attention.kv_heads);
  block.attention.rotary = true;
  block.attention.head_norms = r.boolean_or("qk_layernorm", false);
  block.attention.head_norm = NormKind::layer;
  block.ffn.ffn = size_field(r, {"intermediate_size"}, 8192);
  block.ffn.activation = activation_field(r, {"hidden_act"}, "gelu_new", FeedForward::plain);
  const std::int64_t layers = layers_field(r, {"num_hidden_layers"}, 24);
  const std::int64_t positions = size_field(r, {"max_position_embeddings"}, 2048);
  ModelSpec spec =
      one_stack(std::move(stack), block, layers, positions, r.boolean_or("tie_word_embeddings", false));
  spec.head.bias = true;
  return spec;
}

}  // namespace nest::model
