// DeepSeek V2 and V3: multi-head latent attention, shared experts, leading dense layers, multi-token
// prediction.
#include <algorithm>

#include "nest/model/hub/hub_families.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {

ModelSpec read_deepseek(Reader& r, const std::string& type) {
  const bool v3 = type == "deepseek_v3";
  const auto size = [&](const char* key, std::int64_t second, std::int64_t third) {
    return size_field(r, {key}, v3 ? third : second);
  };
  ModelSpec spec;
  StackSpec stack;
  stack.prefix = "layer";
  stack.hidden = size("hidden_size", 4096, 7168);
  stack.stem.vocab = size("vocab_size", 102400, 129280);
  const std::int64_t layers = layers_field(r, {"num_hidden_layers"}, v3 ? 61 : 32);

  BlockSpec dense;
  AttentionSpec& a = dense.attention;
  a.heads = size("num_attention_heads", 32, 128);
  LatentAttention latent;
  const bool rank_stated =
      r.value().find("q_lora_rank") != nullptr;  // null: queries are projected in one step
  latent.query_rank = count_field(r, {"q_lora_rank"}, rank_stated ? 0 : 1536);
  latent.key_value_rank = size("kv_lora_rank", 512, 512);
  latent.nope_dim = size("qk_nope_head_dim", 128, 128);
  latent.rope_dim = size("qk_rope_head_dim", 64, 64);
  latent.value_dim = size("v_head_dim", 128, 128);
  a.kv_heads = a.heads;
  a.head_dim = latent.nope_dim + latent.rope_dim;
  a.latent = latent;
  a.query_bias = a.key_bias = a.output_bias = r.boolean_or("attention_bias", false);
  static_cast<void>(
      r.has("num_key_value_heads"));  // stated in the files, without meaning for latent attention
  dense.ffn.ffn = size("intermediate_size", 11008, 18432);
  if (!v3 && r.boolean_or("mlp_bias", false))
    r.fail_at("mlp_bias", "biases of its experts are not described");
  dense.ffn.activation = activation_field(r, {"hidden_act"}, "silu", FeedForward::gated);

  ExpertsSpec experts;
  experts.experts = v3 ? size_field(r, {"n_routed_experts", "num_local_experts"}, 256)
                       : size_field(r, {"n_routed_experts", "num_experts"}, 64);
  // The second version's class has no default for it; its published models use 6.
  experts.top_k = size("num_experts_per_tok", std::min<std::int64_t>(6, experts.experts), 8);
  check_top_k(r, experts.top_k, experts.experts);
  experts.ffn = size("moe_intermediate_size", 1407, 2048);
  experts.shared_ffn = count_field(r, {"n_shared_experts"}, v3 ? 1 : 2) * experts.ffn;
  // The bias that balances a router's experts is a buffer in Transformers and a part of the published count.
  // Models of ours that keep to the latter say so.
  experts.correction_bias = says_of_itself(r, "counts_correction_bias");
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

  spec.positions = size("max_position_embeddings", 2048, 4096);
  spec.head.outputs = stack.stem.vocab;
  spec.head.tied = r.boolean_or("tie_word_embeddings", false);
  spec.mtp_layers = v3 ? count_field(r, {"num_nextn_predict_layers", "num_mtp_layers"}, 1) : 0;
  spec.stacks.push_back(std::move(stack));
  return spec;
}

}  // namespace nest::model
