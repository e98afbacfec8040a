// Encoders and encoder-decoders: BERT, T5, Whisper.
#include <utility>

#include "nest/model/hub/family.hpp"
#include "nest/model/hub/hub_families.hpp"
#include "nest/model/hub/hub_fields.hpp"
#include "nest/model/hub/hub_names.hpp"

namespace nest::model {

ModelSpec read_bert(Reader& r, const std::string& /*type*/) {
  // A file that names a language-model head is of that model, which has no pooler.
  const std::string architecture = architecture_of(r).value_or("");
  if (architecture == "BertForMaskedLM" || architecture == "BertLMHeadModel")
    return read_by_data(r, "encoder");
  ModelSpec spec;
  StackSpec stack;
  stack.prefix = "layer";
  stack.norm = NormKind::layer;
  stack.final_norm = false;
  stack.hidden = size_field(r, {"hidden_size"}, 768);
  stack.stem.vocab = size_field(r, {"vocab_size"}, 30522);
  stack.stem.positions = size_field(r, {"max_position_embeddings"}, 512);
  stack.stem.types = size_field(r, {"type_vocab_size"}, 2);
  stack.stem.norm = true;
  const std::int64_t heads = size_field(r, {"num_attention_heads"}, 12);
  BlockSpec block;
  block.norm = NormKind::layer;
  block.layout = NormLayout::post;
  block.attention = plain_attention(heads, head_dim_of(r, stack.hidden, heads), {.causal = false});
  block.ffn.ffn = size_field(r, {"intermediate_size"}, 3072);
  block.ffn.activation = activation_field(r, {"hidden_act"}, "gelu", FeedForward::plain);
  block.ffn.gate_bias = block.ffn.down_bias = true;
  stack.blocks.assign(static_cast<std::size_t>(layers_field(r, {"num_hidden_layers"}, 12)), block);
  spec.positions = stack.stem.positions;
  // The published count is the encoder's with its pooler; training needs the masked-language-model head as
  // well.
  spec.head = {HeadSpec::Kind::masked, stack.stem.vocab, r.boolean_or("tie_word_embeddings", true), true,
               true};
  spec.stacks.push_back(std::move(stack));
  return spec;
}

ModelSpec read_t5(Reader& r, const std::string& /*type*/) {
  ModelSpec spec;
  StackSpec encoder;
  encoder.prefix = "encoder";
  encoder.hidden = size_field(r, {"d_model", "hidden_size"}, 512);
  encoder.stem.vocab = size_field(r, {"vocab_size"}, 32128);
  const std::int64_t heads = size_field(r, {"num_heads", "num_attention_heads"}, 8);
  const std::int64_t head_dim = size_field(r, {"d_kv", "head_dim"}, 64);
  const std::int64_t buckets = size_field(r, {"relative_attention_num_buckets"}, 32);
  const std::int64_t layers = layers_field(r, {"num_layers", "num_hidden_layers"}, 6);
  const std::int64_t decoder_layers = layers_field(r, {"num_decoder_layers"}, layers);

  BlockSpec block;
  block.attention = plain_attention(heads, head_dim, {.bias = false, .causal = false});
  block.ffn.ffn = size_field(r, {"d_ff"}, 2048);
  const std::string projection = r.text_or("feed_forward_proj", "relu");
  const bool said_gated = projection.starts_with("gated-");
  const std::string act = said_gated ? projection.substr(6) : projection;
  // Files that Transformers wrote have what it made of the word as well, and it reads that.
  const bool gated = r.boolean_or("is_gated_act", said_gated);
  if (act != "relu" && act != "gelu" && act != "silu") {
    r.fail_at("feed_forward_proj", "'" + projection + "' is not known",
              "known: relu, gelu, gated-gelu, gated-silu");
  }
  block.ffn.activation = gated ? (act == "silu" ? Activation::swiglu : Activation::geglu)
                               : (act == "relu" ? Activation::relu : Activation::gelu);

  StackSpec decoder = encoder;
  decoder.prefix = "decoder";
  encoder.blocks.assign(static_cast<std::size_t>(layers), block);
  block.cross = block.attention;
  block.attention.causal = true;
  decoder.blocks.assign(static_cast<std::size_t>(decoder_layers), block);
  // The first block of each stack holds the learned relative positions that all of them use.
  encoder.blocks.front().attention.position_buckets = buckets;
  decoder.blocks.front().attention.position_buckets = buckets;

  // Relative positions set no limit; n_positions is the length it was trained at.
  spec.default_sequence = size_field(r, {"n_positions"}, 512);
  spec.head.outputs = encoder.stem.vocab;
  // Transformers ties the tables whatever the file says. The checkpoints of version 1.1 hold both, and our models of
  // them say so.
  const bool tied = r.boolean_or("tie_word_embeddings", true);
  spec.head.tied = tied || !says_of_itself(r, "counts_both_tables");
  spec.stacks.push_back(std::move(encoder));
  spec.stacks.push_back(std::move(decoder));
  return spec;
}

ModelSpec read_whisper(Reader& r, const std::string& /*type*/) {
  if (architecture_of(r) == "WhisperForCausalLM") return read_by_data(r, "whisper_decoder");
  ModelSpec spec;
  StackSpec encoder;
  encoder.prefix = "encoder";
  encoder.norm = NormKind::layer;
  encoder.hidden = size_field(r, {"d_model", "hidden_size"}, 384);
  encoder.sequence = size_field(r, {"max_source_positions"}, 1500);
  encoder.stem.kind = StemSpec::Kind::frames;
  encoder.stem.patch_values = size_field(r, {"num_mel_bins"}, 80);
  encoder.stem.positions = encoder.sequence;

  const auto block_with = [&](const char* heads_key, const char* ffn_key) {
    const std::int64_t heads = size_field(r, {heads_key}, 6);
    BlockSpec block;
    block.norm = NormKind::layer;
    block.attention = plain_attention(heads, head_dim_of(r, encoder.hidden, heads), {.causal = false});
    block.attention.key_bias = false;
    block.ffn.ffn = size_field(r, {ffn_key}, 1536);
    block.ffn.activation = activation_field(r, {"activation_function"}, "gelu", FeedForward::plain);
    block.ffn.gate_bias = block.ffn.down_bias = true;
    return block;
  };
  const BlockSpec encoder_block = block_with("encoder_attention_heads", "encoder_ffn_dim");
  BlockSpec decoder_block = block_with("decoder_attention_heads", "decoder_ffn_dim");
  decoder_block.cross = decoder_block.attention;
  decoder_block.attention.causal = true;
  const std::int64_t layers = layers_field(r, {"encoder_layers", "num_hidden_layers"}, 4);
  encoder.blocks.assign(static_cast<std::size_t>(layers), encoder_block);

  StackSpec decoder;
  decoder.prefix = "decoder";
  decoder.norm = NormKind::layer;
  decoder.hidden = encoder.hidden;
  decoder.stem.vocab = size_field(r, {"vocab_size"}, 51865);
  decoder.stem.positions = size_field(r, {"max_target_positions"}, 448);
  decoder.blocks.assign(static_cast<std::size_t>(layers_field(r, {"decoder_layers"}, 4)), decoder_block);
  spec.positions = decoder.stem.positions;
  spec.head.outputs = decoder.stem.vocab;
  spec.head.tied = r.boolean_or("tie_word_embeddings", true);
  spec.stacks.push_back(std::move(encoder));
  spec.stacks.push_back(std::move(decoder));
  return spec;
}

}  // namespace nest::model
