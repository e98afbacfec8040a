#include "nest/model/hub_config.hpp"

#include <algorithm>
#include <array>

#include "nest/base/closest.hpp"
#include "nest/model/hub_families.hpp"

namespace nest {
namespace {

struct Family {
  const char* type;
  const char* class_prefix;  // of architectures[0], for files without model_type
  ModelSpec (*read)(Reader&, const std::string&);
};

constexpr std::array<Family, 21> kFamilies{{
    {"bert", "Bert", read_bert},
    {"clip", "CLIP", read_clip},
    {"deepseek_v2", "DeepseekV2", read_deepseek},
    {"deepseek_v3", "DeepseekV3", read_deepseek},
    {"gemma", "Gemma", read_llama_like},
    {"gemma2", "Gemma2", read_llama_like},
    {"gpt2", "GPT2", read_gpt2},
    {"gpt_neox", "GPTNeoX", read_gpt_neox},
    {"llama", "Llama", read_llama_like},
    {"mistral", "Mistral", read_llama_like},
    {"mixtral", "Mixtral", read_llama_like},
    {"opt", "OPT", read_opt},
    {"phi", "Phi", read_phi},
    {"phi3", "Phi3", read_llama_like},
    {"qwen2", "Qwen2", read_llama_like},
    {"qwen2_moe", "Qwen2Moe", read_llama_like},
    {"qwen3", "Qwen3", read_llama_like},
    {"qwen3_moe", "Qwen3Moe", read_llama_like},
    {"t5", "T5", read_t5},
    {"vit", "ViT", read_vit},
    {"whisper", "Whisper", read_whisper},
}};

// "LlamaForCausalLM" -> llama: the longest class prefix followed by "For" or "Model".
const Family* by_architecture(Reader& r) {
  const Value* names = r.find("architectures");
  if (names == nullptr || names->as_array() == nullptr || names->as_array()->empty()) return nullptr;
  const std::string* name = names->as_array()->front().as_string();
  if (name == nullptr) return nullptr;
  for (const Family& f : kFamilies) {
    const std::string prefix = f.class_prefix;
    if (!name->starts_with(prefix)) continue;
    const std::string rest = name->substr(prefix.size());
    if (rest.starts_with("For") || rest == "Model" || rest == "LMHeadModel") return &f;
  }
  return nullptr;
}

[[noreturn]] void refuse(Reader& r, const std::string& type) {
  const std::vector<std::string> known = known_model_types();
  std::string hint = did_you_mean(type, known);
  if (hint.empty()) {
    hint = "known:";
    for (const std::string& k : known) hint += (k == known.front() ? " " : ", ") + k;
  }
  if (const Value* inside = r.find("text_config");
      inside != nullptr && inside->find("model_type") != nullptr) {
    const std::string* inner = inside->find("model_type")->as_string();
    if (inner != nullptr) hint = "its text_config is a '" + *inner + "': give that part as a file of its own";
  }
  r.fail_at("model_type", "the model_type '" + type + "' is not known", hint);
}

const Family& family_of(Reader& r) {
  if (!r.has("model_type")) {
    if (const Family* f = by_architecture(r)) return *f;
    r.fail(
        "neither a model_type nor a known architecture is given, so this is no config.json that can be read",
        "add \"model_type\": \"llama\" or the like");
  }
  const std::string type = r.text("model_type");
  const auto it =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& f) { return type == f.type; });
  if (it == kFamilies.end()) refuse(r, type);
  return *it;
}

}  // namespace

std::vector<std::string> known_model_types() {
  std::vector<std::string> types;
  types.reserve(kFamilies.size());
  for (const Family& f : kFamilies) types.emplace_back(f.type);
  return types;
}

ModelSpec read_hub_config(const Document& document, const std::string& name, Warnings& warnings) {
  Reader r(document);
  const Family& family = family_of(r);
  ModelSpec spec = family.read(r, family.type);
  spec.family = family.type;
  spec.name = name;
  // Keys every file has and no shape depends on: known, so that they draw no warning.
  for (const char* key :
       {"architectures", "_name_or_path", "torch_dtype", "dtype", "transformers_version", "nest"}) {
    static_cast<void>(r.has(key));
  }
  r.warn_unknown(warnings);
  return spec;
}

}  // namespace nest
