// DeepSeek V2 and V3: multi-head latent attention, shared experts, leading dense layers, multi-token
// prediction.
#include "nest/model/hub/hub_families.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {

ModelSpec read_deepseek(Reader& r, const std::string& type) {
  // Files of V2 state every field; only V3 has class defaults to fall back on.
  const bool v3 = type == "deepseek_v3";
  const auto size = [&](const char* key, std::int64_t fallback) {
    return v3 ? size_field(r, {key}, fallback) : r.whole(key, kSizeRange);
  };
  ModelSpec spec;
  StackSpec stack;
  stack.prefix = "layer";
  stack.hidden = size("hidden_size", 7168);
  stack.stem.vocab = size("vocab_size", 129280);
  const std::int64_t layers =
      v3 ? layers_field(r, {"num_hidden_layers"}, 61) : r.whole("num_hidden_layers", {1, kMostLayers});

  BlockSpec dense;
  AttentionSpec& a = dense.attention;
  a.heads = size("num_attention_heads", 128);
  LatentAttention latent;
  const bool rank_stated =
      r.value().find("q_lora_rank") != nullptr;  // null: queries are projected in one step
  latent.query_rank = count_field(r, {"q_lora_rank"}, rank_stated ? 0 : 1536);
  latent.key_value_rank = size("kv_lora_rank", 512);
  latent.nope_dim = size("qk_nope_head_dim", 128);
  latent.rope_dim = size("qk_rope_head_dim", 64);
  latent.value_dim = size("v_head_dim", 128);
  a.kv_heads = a.heads;
  a.head_dim = latent.nope_dim + latent.rope_dim;
  a.latent = latent;
  a.query_bias = a.key_bias = a.output_bias = r.boolean_or("attention_bias", false);
  static_cast<void>(
      r.has("num_key_value_heads"));  // stated in the files, without meaning for latent attention
  dense.ffn.ffn = size("intermediate_size", 18432);
  dense.ffn.activation = activation_field(r, {"hidden_act"}, "silu", FeedForward::gated);

  ExpertsSpec experts;
  experts.experts = v3 ? size_field(r, {"n_routed_experts", "num_local_experts"}, 256)
                       : r.whole("n_routed_experts", kSizeRange);
  experts.top_k = size("num_experts_per_tok", 8);
  check_top_k(r, experts.top_k, experts.experts);
  experts.ffn = size("moe_intermediate_size", 2048);
  experts.shared_ffn = count_field(r, {"n_shared_experts"}, v3 ? 1 : 0) * experts.ffn;
  experts.correction_bias = v3;
  experts.groups = count_field(r, {"n_group"}, v3 ? 8 : 0);
  experts.group_limit = count_field(r, {"topk_group"}, v3 ? 4 : 0);
  if (experts.groups <= 1 || experts.group_limit >= experts.groups || experts.experts % experts.groups != 0)
    experts.groups = experts.group_limit = 0;  // no limit
  BlockSpec routed = dense;
  routed.experts = experts;
  routed.ffn = {0, dense.ffn.activation};

  const std::int64_t leading = count_field(r, {"first_k_dense_replace"}, v3 ? 3 : 0);
  const std::int64_t every = size_field(r, {"moe_layer_freq"}, 1);
  for (std::int64_t i = 0; i < layers; ++i)
    stack.blocks.push_back(i >= leading && i % every == 0 ? routed : dense);

  spec.positions = size("max_position_embeddings", 4096);
  spec.head.outputs = stack.stem.vocab;
  spec.head.tied = r.boolean_or("tie_word_embeddings", false);
  spec.mtp_layers = v3 ? count_field(r, {"num_nextn_predict_layers", "num_mtp_layers"}, 1) : 0;
  spec.stacks.push_back(std::move(stack));
  return spec;
}

}  // namespace nest::model
