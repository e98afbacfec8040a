#include "nest/model/hub/hub_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::model {
namespace {

constexpr std::array<std::string_view, 12> kCounted{"ForCausalLM",
                                                    "ForConditionalGeneration",
                                                    "LMHeadModel",
                                                    "Model",
                                                    "ForMaskedLM",
                                                    "ForPreTraining",
                                                    "WithLMHeadModel",
                                                    "ForImageClassification",
                                                    "ForVisionText2Text",
                                                    "MTModel",
                                                    "Decoder",
                                                    "ForTextToText"};
constexpr std::array<std::string_view, 11> kOther{"ForSequenceClassification",
                                                  "ForTokenClassification",
                                                  "ForQuestionAnswering",
                                                  "ForMultipleChoice",
                                                  "ForNextSentencePrediction",
                                                  "ForAudioClassification",
                                                  "ForMaskedImageModeling",
                                                  "DoubleHeadsModel",
                                                  "EncoderModel",
                                                  "TextModel",
                                                  "VisionModel"};

struct Synonym {
  const char* key;
  std::array<const char*, 4> meant;  // the first that the family reads
};
constexpr std::array<const char*, 4> kLayers{"num_hidden_layers", "n_layer", "num_layers", "encoder_layers"};
constexpr std::array<const char*, 4> kHidden{"hidden_size", "n_embd", "d_model", ""};
constexpr std::array<const char*, 4> kHeads{"num_attention_heads", "n_head", "num_heads",
                                            "encoder_attention_heads"};
constexpr std::array<const char*, 4> kKvHeads{"num_key_value_heads", "", "", ""};
constexpr std::array<const char*, 4> kFfn{"intermediate_size", "ffn_dim", "d_ff", "n_inner"};
constexpr std::array<const char*, 4> kPositions{"max_position_embeddings", "n_positions", "", ""};
constexpr std::array<Synonym, 27> kSynonyms{{
    {"num_hidden_layers", kLayers},
    {"num_layers", kLayers},
    {"n_layer", kLayers},
    {"n_layers", kLayers},
    {"hidden_size", kHidden},
    {"n_embd", kHidden},
    {"d_model", kHidden},
    {"dim", kHidden},
    {"hidden_dim", kHidden},
    {"num_attention_heads", kHeads},
    {"n_head", kHeads},
    {"n_heads", kHeads},
    {"num_heads", kHeads},
    {"num_kv_heads", kKvHeads},
    {"n_kv_heads", kKvHeads},
    {"n_head_kv", kKvHeads},
    {"multi_query_group_num", kKvHeads},
    {"intermediate_size", kFfn},
    {"ffn_dim", kFfn},
    {"d_ff", kFfn},
    {"n_inner", kFfn},
    {"ffn_hidden_size", kFfn},
    {"n_positions", kPositions},
    {"n_ctx", kPositions},
    {"seq_length", kPositions},
    {"max_seq_len", kPositions},
    {"max_sequence_length", kPositions},
}};

std::string digits_of(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c) == 0; });
  return text;
}

// Letter case, surrounding spaces and - for _ do not tell types apart.
std::string normal(const std::string& type) {
  const std::size_t first = std::min(type.find_first_not_of(' '), type.size());
  std::string out = lower_case(type.substr(first, type.find_last_not_of(' ') + 1 - first));
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

bool is_swap(const std::string& a, const std::string& b) {
  std::string x = a;
  std::string y = b;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y && edit_distance(a, b) == 1;
}

bool is_misspelling(const std::string& type, const std::string& known) {
  if (type == known || is_swap(type, known)) return true;
  constexpr std::size_t kLongEnough = 5;  // among short names one letter makes another one
  return known.size() >= kLongEnough && edit_distance(type, known) == 1 &&
         digits_of(type) == digits_of(known);
}

// Keys that tell what an unknown type is built like.
struct Telling {
  std::string_view key;
  std::string_view type;
};
constexpr std::array<Telling, 7> kTelling{{{"kv_lora_rank", "deepseek_v3"},
                                           {"num_local_experts", "mixtral"},
                                           {"num_experts", "qwen3_moe"},
                                           {"n_routed_experts", "glm4_moe"},
                                           {"n_embd", "gpt2"},
                                           {"type_vocab_size", "bert"},
                                           {"", "llama"}}};

// Types whose name begins the given one, or that it begins: "rwkv" for "rwkv7". The longest first.
std::vector<std::string> relatives_of(const std::string& given, std::span<const std::string> known) {
  constexpr std::size_t kTellingLetters = 3;
  std::vector<std::string> out;
  for (const std::string& k : known) {
    const bool shorter = k.size() >= kTellingLetters && given.starts_with(k);
    if (shorter || k.starts_with(given + "_")) out.push_back(k);
  }
  std::ranges::sort(out, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  return out;
}

// Whether a config says how deep and how wide its model is, so that another type need not guess it.
bool states_sizes(const Value& config) {
  const auto states = [&](const auto& keys) {
    return std::ranges::any_of(keys, [&](const char* key) {
      const Value* said = config.find(key);
      return *key != '\0' && said != nullptr && !said->is_null();
    });
  };
  return states(kLayers) && states(kHidden);
}

// The type that leaves least of a config unread, where that is next to nothing.
std::optional<std::string> like_hint(const std::string& given, std::span<const std::string> known,
                                     const Value& config, const UnreadKeys& unread) {
  if (!unread || !states_sizes(config)) return std::nullopt;
  std::vector<std::string> candidates = relatives_of(given, known);
  for (const Telling& t : kTelling) {
    if (t.key.empty() || config.find(t.key) != nullptr) candidates.emplace_back(t.type);
  }
  std::optional<std::string> best;
  std::size_t least = 3;  // keys more than such a type could have
  for (const std::string& candidate : candidates) {
    const std::optional<std::size_t> left = unread(candidate);
    if (!left || *left >= least) continue;
    best = candidate;
    least = *left;
  }
  return best;
}

std::string counted_parts(std::string_view type) {
  if (type == "bert") return "BertModel's parts, with the masked-language-model head apart";
  if (type == "vit") return "the encoder with a classifier";
  if (type == "clip") return "both towers with their projections";
  return "the model with the language-model head";
}

}  // namespace

std::optional<std::string> architecture_of(Reader& r) {
  const Value* names = r.find("architectures");
  if (names == nullptr || names->as_array() == nullptr || names->as_array()->empty()) return std::nullopt;
  const std::string* name = names->as_array()->front().as_string();
  return name == nullptr ? std::nullopt : std::optional(printable(*name));
}

ModelHead head_of(std::string_view architecture, std::string_view class_prefix) {
  // Files of the first Llama say LLaMA.
  if (!lower_case(architecture).starts_with(lower_case(class_prefix))) return ModelHead::unknown;
  const std::string_view rest = architecture.substr(class_prefix.size());
  if (std::find(kCounted.begin(), kCounted.end(), rest) != kCounted.end()) return ModelHead::counted;
  return std::find(kOther.begin(), kOther.end(), rest) != kOther.end() ? ModelHead::other
                                                                       : ModelHead::unknown;
}

void warn_of_head(const Reader& r, const std::string& architecture, std::string_view class_prefix,
                  const std::string& type, Warnings& warnings) {
  const ModelHead head = head_of(architecture, class_prefix);
  if (head == ModelHead::counted) return;
  warnings.push_back(r.place_of("architectures") + "the architecture '" + architecture +
                     (head == ModelHead::other ? "' has another head; counted is "
                                               : "' is not known for model_type " + type + "; counted is ") +
                     counted_parts(type));
}

void warn_of_synonyms(Reader& r, const std::string& type, Warnings& warnings) {
  std::vector<std::string> told;  // known only afterwards: they are nothing that the family reads
  for (const Synonym& s : kSynonyms) {
    if (r.knows(s.key) || r.value().find(s.key) == nullptr) continue;
    std::vector<std::string> meant;
    std::copy_if(s.meant.begin(), s.meant.end(), std::back_inserter(meant),
                 [&](const char* key) { return r.knows(key); });
    // Where one of them is given too, it counts, and nothing was lost.
    const bool given = std::any_of(meant.begin(), meant.end(), [&](const auto& key) { return r.has(key); });
    if (meant.empty() || given) continue;
    warnings.push_back(r.place_of(s.key) + "the key '" + s.key + "' is not read for model_type " + type +
                       "; did you mean '" + meant.front() + "'?");
    told.emplace_back(s.key);
  }
  for (const std::string& key : told) static_cast<void>(r.has(key));
}

std::string model_type_hint(const std::string& type, std::span<const std::string> known, const Value& config,
                            const UnreadKeys& unread) {
  const std::string given = normal(type);
  // "GPT-NeoX" is gpt_neox in another spelling, before it is gpt_neo with a slip.
  if (std::find(known.begin(), known.end(), given) != known.end()) return "did you mean '" + given + "'?";
  for (const std::string& k : known) {
    if (is_misspelling(given, k)) return "did you mean '" + k + "'?";
  }
  const std::optional<std::string> like = like_hint(given, known, config, unread);
  const std::string list = "'nest models families' lists the known ones";
  return like ? list + "; --like " + *like + " reads it by the keys of another" : list;
}

}  // namespace nest::model
