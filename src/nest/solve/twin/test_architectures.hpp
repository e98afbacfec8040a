// Random config.json files of small models for proofs of the search: dense ones, mixtures of experts, an encoder with
// a decoder, and hybrids whose blocks are a state space, attention, experts or an MLP alone.
//
//   Dice dice(seed);
//   const Value config = random_architecture(dice);
#pragma once

#include <cstdint>
#include <string>

#include "nest/base/document/value.hpp"
#include "nest/plan/test_plans.hpp"

namespace nest::test {

// A config.json of a dense model, a mixture of experts or an encoder and decoder.
[[nodiscard]] inline Value random_architecture(Dice& dice) {
  const std::int64_t hidden = dice.one_of<std::int64_t>({256, 1024, 2048});
  const std::int64_t blocks = dice.pick(1, 5);
  const std::string family =
      dice.one_of<std::string>({"llama", "llama", "gpt2", "mixtral", "mixtral", "qwen3_moe", "t5"});
  Value v = Value::object();
  v.set("model_type", family).set("_name_or_path", "tiny-" + family);
  v.set("vocab_size", dice.one_of<std::int64_t>({1024, 32768}));
  v.set("tie_word_embeddings", dice.once_in(2));
  const std::int64_t heads = dice.one_of<std::int64_t>({4, 8, 12});
  if (family == "gpt2") {
    v.set("n_embd", heads * 64).set("n_layer", blocks).set("n_head", heads).set("n_positions", 32768);
    return v;
  }
  if (family == "t5") {
    v.set("d_model", hidden).set("d_ff", 2 * hidden).set("d_kv", 64).set("num_heads", heads);
    v.set("num_layers", dice.pick(1, 2)).set("num_decoder_layers", dice.pick(1, 2));
    return v;
  }
  v.set("hidden_size", hidden).set("intermediate_size", 3 * hidden).set("num_hidden_layers", blocks);
  v.set("num_attention_heads", heads).set("num_key_value_heads", dice.once_in(2) ? heads : heads / 2);
  v.set("head_dim", 64).set("max_position_embeddings", 32768);
  const std::int64_t experts = dice.one_of<std::int64_t>({2, 4, 6});
  if (family == "mixtral") v.set("num_local_experts", experts).set("num_experts_per_tok", 2);
  if (family == "qwen3_moe") {
    v.set("num_experts", experts).set("num_experts_per_tok", 2).set("moe_intermediate_size", hidden);
    v.set("decoder_sparse_step", dice.pick(1, 2)).set("mlp_only_layers", Value::array());
  }
  return v;
}

// Blocks of one part each, as Nemotron-H has them, so that many have no attention. `experts` is how many the model
// routes to, 1 where none of its blocks does.
[[nodiscard]] inline Value hybrid_architecture(Dice& dice, std::int64_t blocks, std::int64_t& experts) {
  const std::int64_t hidden = dice.one_of<std::int64_t>({512, 1024});
  const std::int64_t heads = hidden / 128;
  experts = 1;
  Value kinds = Value::array();
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto kind = dice.one_of<std::string>({"mamba", "mamba", "attention", "mlp", "moe"});
    if (kind == "moe") experts = 4;
    kinds.push(Value(kind));
  }
  Value v = Value::object();
  v.set("model_type", "nemotron_h").set("_name_or_path", "tiny-hybrid");
  v.set("vocab_size", dice.one_of<std::int64_t>({1024, 32768})).set("hidden_size", hidden);
  v.set("layers_block_type", std::move(kinds)).set("num_hidden_layers", blocks);
  v.set("intermediate_size", hidden * dice.one_of<std::int64_t>({1, 4}));
  v.set("num_attention_heads", heads).set("num_key_value_heads", heads).set("head_dim", 128);
  v.set("mamba_num_heads", 2 * heads).set("mamba_head_dim", 64).set("n_groups", 4).set("ssm_state_size", 64);
  v.set("n_routed_experts", 4).set("num_experts_per_tok", 2).set("moe_intermediate_size", hidden);
  v.set("moe_shared_expert_intermediate_size", hidden).set("max_position_embeddings", 32768);
  v.set("num_nextn_predict_layers", dice.one_of<std::int64_t>({0, 1, 2}));
  return v;
}

}  // namespace nest::test
