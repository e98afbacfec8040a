#include "nest/model/hub/hub_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/model/hub/hub_config.hpp"

namespace nest::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Warnings warnings_of(const std::string& json) {
  Warnings warnings;
  static_cast<void>(read_hub_config(parse_json("c.json", json), "x", warnings));
  return warnings;
}

TEST(HubNames, HeadsOfArchitectures) {
  EXPECT_EQ(head_of("LlamaForCausalLM", "Llama"), ModelHead::counted);
  EXPECT_EQ(head_of("LLaMAForCausalLM", "Llama"), ModelHead::counted);
  EXPECT_EQ(head_of("T5WithLMHeadModel", "T5"), ModelHead::counted);
  EXPECT_EQ(head_of("ViTForImageClassification", "ViT"), ModelHead::counted);
  EXPECT_EQ(head_of("BertForSequenceClassification", "Bert"), ModelHead::other);
  EXPECT_EQ(head_of("LlamaForCausalLMEagle", "Llama"), ModelHead::unknown);
  EXPECT_EQ(head_of("Gemma2ForCausalLM", "Gemma"), ModelHead::unknown);
}

TEST(HubNames, HeadsThatAreNotCountedAreWarnedOf) {
  EXPECT_THAT(
      warnings_of(R"({"model_type": "bert", "architectures": ["BertForSequenceClassification"]})"),
      ElementsAre("c.json: line 1: the architecture 'BertForSequenceClassification' has another head; "
                  "counted is BertModel's parts, with the masked-language-model head apart"));
  EXPECT_THAT(
      warnings_of(R"({"model_type": "llama", "architectures": ["LlamaForCausalLMEagle"]})"),
      ElementsAre("c.json: line 1: the architecture 'LlamaForCausalLMEagle' is not known for model_type "
                  "llama; counted is the model with the language-model head"));
  EXPECT_THAT(warnings_of(R"({"architectures": ["Qwen2ForTokenClassification"]})"),
              ElementsAre("c.json: line 1: the architecture 'Qwen2ForTokenClassification' has another head; "
                          "counted is the model with the language-model head"));
  for (const char* fine :
       {R"("llama", "architectures": ["LlamaForCausalLM"])",
        R"("gpt2", "architectures": ["GPT2LMHeadModel"])",
        R"("t5", "architectures": ["T5ForConditionalGeneration"])",
        R"("whisper", "architectures": ["WhisperForConditionalGeneration"])",
        R"("bert", "architectures": ["BertForMaskedLM"])",
        R"("bert", "architectures": ["BertForPreTraining"])", R"("clip", "architectures": ["CLIPModel"])",
        R"("vit", "architectures": ["ViTModel"])", R"("vit", "architectures": ["ViTForImageClassification"])",
        R"("llama", "architectures": null)", R"("llama", "architectures": [])",
        R"("llama", "architectures": "x")"}) {
    EXPECT_THAT(warnings_of(std::string("{\"model_type\": ") + fine + "}"), IsEmpty()) << fine;
  }
}

TEST(HubNames, KeysOfOtherFamiliesAreWarnedOf) {
  EXPECT_THAT(
      warnings_of("{\"model_type\": \"llama\",\n\"num_layers\": 2, \"n_embd\": 8, \"num_kv_heads\": 2}"),
      ElementsAre("c.json: line 2: the key 'num_layers' is not read for model_type llama; did you mean "
                  "'num_hidden_layers'?",
                  "c.json: line 2: the key 'n_embd' is not read for model_type llama; did you mean "
                  "'hidden_size'?",
                  "c.json: line 2: the key 'num_kv_heads' is not read for model_type llama; did you mean "
                  "'num_key_value_heads'?"));
  EXPECT_THAT(warnings_of(R"({"model_type": "gpt2", "n_layers": 2, "d_model": 768})"),
              ElementsAre("c.json: line 1: the key 'n_layers' is not read for model_type gpt2; did you mean "
                          "'num_hidden_layers'?",
                          "c.json: line 1: the key 'd_model' is not read for model_type gpt2; did you mean "
                          "'hidden_size'?"));
  // The published gpt2 has both of these, and n_positions counts.
  EXPECT_THAT(warnings_of(R"({"model_type": "gpt2", "n_ctx": 1024, "n_positions": 1024})"), IsEmpty());
}

TEST(HubNames, MisspeltKeysAreWarnedOfAlsoBesideTheRightOne) {
  EXPECT_THAT(
      warnings_of(R"({"model_type": "llama", "hidden_size": 4096, "hiden_size": 8192})"),
      ElementsAre("c.json: line 1: the key 'hiden_size' is not known and was passed over; did you mean "
                  "'hidden_size', which is given too?"));
}

// What published files hold besides shapes: none of it is a misspelling.
TEST(HubNames, OrdinaryFilesEarnNoWarning) {
  const std::string rest =
      R"(, "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.02,
      "pad_token_id": 0, "pretraining_tp": 1, "rms_norm_eps": 1e-5, "rope_scaling": null, "rope_theta": 1e4,
      "torch_dtype": "float16", "transformers_version": "4.40.0", "use_cache": true, "hidden_dropout": 0.0,
      "layer_norm_eps": 1e-5, "layer_norm_epsilon": 1e-5, "attn_pdrop": 0.1, "embd_pdrop": 0.1, "n_ctx": 1024,
      "n_positions": 1024, "resid_pdrop": 0.1, "summary_type": "x", "task_specific_params": {}, "dropout": 0.1,
      "layerdrop": 0.0, "prefix": "</s>", "rotary_pct": 0.25, "rotary_emb_base": 10000, "use_sliding_window": false,
      "max_window_layers": 28, "sliding_window": 4096, "output_router_logits": false, "norm_topk_prob": true,
      "router_aux_loss_coef": 0.001, "head_dim": 128, "hidden_act": "silu", "attention_bias": false,
      "position_embedding_type": "absolute", "hidden_dropout_prob": 0.1, "gradient_checkpointing": false,
      "num_beams": 1, "dropout_rate": 0.1, "initializer_factor": 1.0, "is_encoder_decoder": false,
      "scale_embedding": false, "encoder_layerdrop": 0.0, "decoder_start_token_id": 0, "qkv_bias": true,
      "partial_rotary_factor": 0.5, "ep_size": 1, "n_group": 8, "topk_group": 4, "scoring_func": "sigmoid",
      "aux_loss_alpha": 0.001, "seq_aux": true, "routed_scaling_factor": 2.5, "topk_method": "x",
      "original_max_position_embeddings": 4096, "max_position_embeddings": 1024, "mlp_bias": false})";
  for (const char* type :
       {"llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gemma", "gemma2", "phi3",
        "gpt2", "gpt_neox", "opt", "phi", "bert", "t5", "whisper", "vit", "deepseek_v3"}) {
    EXPECT_THAT(warnings_of("{\"model_type\": \"" + std::string(type) + "\"" + rest), IsEmpty()) << type;
  }
}

TEST(HubNames, OnlyMisspellingsOfTypesAreGuessed) {
  const std::vector<std::string> known = known_model_types();
  for (const char* type : {"lama", "Llama", " llama ", "llmaa", "lllama"}) {
    EXPECT_EQ(model_type_hint(type, known), "did you mean 'llama'?") << type;
  }
  EXPECT_EQ(model_type_hint("GPT-NeoX", known), "did you mean 'gpt_neox'?");
  EXPECT_EQ(model_type_hint("qwen2-moe", known), "did you mean 'qwen2_moe'?");
  EXPECT_EQ(model_type_hint("bret", known), "did you mean 'bert'?");
  for (const char* type : {"grok", "qwen", "phi4", ""})
    EXPECT_EQ(model_type_hint(type, known), "'nest models families' lists the known ones") << type;
}

// Of the types that may be meant, the one that leaves least unread; none where each leaves too much.
TEST(HubNames, AnotherTypeIsProposedWhereItReadsTheConfig) {
  const std::vector<std::string> known{"llama", "mixtral", "rwkv", "qwen3_omni_moe_thinker"};
  const Value config =
      parse_json("config.json", R"({"num_local_experts": 8, "hidden_size": 64, "num_hidden_layers": 2})")
          .root;
  const auto hint = [&](const char* type, const Value& of, std::size_t llama, std::size_t rwkv) {
    return model_type_hint(type, known, of, [&](const std::string& other) -> std::optional<std::size_t> {
      if (other == "llama") return llama;
      if (other == "rwkv") return rwkv;
      return other == "mixtral" ? std::optional<std::size_t>(1) : std::nullopt;
    });
  };
  const std::string list = "'nest models families' lists the known ones";
  const std::string by = " reads it by the keys of another";
  EXPECT_EQ(hint("grok", config, 2, 9), list + "; --like mixtral" + by);
  EXPECT_EQ(hint("grok", config, 0, 9), list + "; --like llama" + by);
  EXPECT_EQ(hint("rwkv7", config, 9, 0), list + "; --like rwkv" + by);
  const Value parts = parse_json("config.json", R"({"thinker_config": {"hidden_size": 64}})").root;
  EXPECT_EQ(hint("qwen3_omni_moe", parts, 0, 0), list) << "nothing says how large it is";
}

}  // namespace
}  // namespace nest::model
