#include "nest/model/hub/hub_config.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "nest/base/document/file_kind.hpp"
#include "nest/base/document/mismatch.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/hub/family.hpp"
#include "nest/model/hub/family_defaults.hpp"
#include "nest/model/hub/family_fields.hpp"
#include "nest/model/hub/family_stacks.hpp"
#include "nest/model/hub/hub_details.hpp"
#include "nest/model/hub/hub_families.hpp"
#include "nest/model/hub/hub_fields.hpp"
#include "nest/model/hub/hub_names.hpp"
#include "nest/model/hub/layer_lists.hpp"
#include "nest/model/hub/parts.hpp"
#include "nest/model/hub/size_blame.hpp"
#include "nest/model/hub/unread_keys.hpp"

namespace nest::model {
namespace {

// A type that a reader of its own knows; data/families has the others.
struct Coded {
  const char* type;
  const char* class_prefix;  // of architectures[0], for files without model_type
  ModelSpec (*read)(Reader&, const std::string&);
  bool has_parts = false;  // the file has groups of keys for its towers
};

struct Family {
  std::string type;
  std::string class_prefix;
  ModelSpec (*read)(Reader&, const std::string&);
};

constexpr std::array<Coded, 21> kFamilies{{
    {"bert", "Bert", read_bert},
    {"clip", "CLIP", read_clip, true},
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

std::optional<Family> by_type(const std::string& type) {
  const auto it =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Coded& f) { return type == f.type; });
  if (it != kFamilies.end()) return Family{type, it->class_prefix, it->read};
  if (described_by_data(type)) return Family{type, class_prefix_of(type), read_by_data};
  return std::nullopt;
}

// "LlamaForCausalLM" -> llama.
std::optional<Family> by_architecture(const std::string& name) {
  // The types with readers of their own first: others share the classes of some.
  for (const Coded& f : kFamilies) {
    if (head_of(name, f.class_prefix) != ModelHead::unknown) return by_type(f.type);
  }
  for (const std::string& type : types_of_data()) {
    if (head_of(name, class_prefix_of(type)) != ModelHead::unknown) return by_type(type);
  }
  return std::nullopt;
}

ModelSpec read_config(const Document& given, const std::string& name, Warnings& warnings);

std::optional<std::size_t> unread_by(const Reader& r, const std::string& type) {
  Document document{r.document().file, r.document().text, r.value(), r.document().is_json};
  mark_like(document, type);
  Warnings ignored;
  try {
    return read_config(document, "", ignored).details.unread.size();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// A model that cannot be built has steps that do not fit: in a file of somebody's own, that file is wrong.
std::string problem_of(const ModelSpec& spec) {
  try {
    return size_problem(spec);
  } catch (const InputError& e) {
    const bool own = described_as_part(spec.family) && describe_family(spec.family).own;
    if (!own || e.file() != "data/families") throw;
    throw InputError(describe_family(spec.family).file, e.place(), e.problem(), e.hint());
  }
}

// How a file of an unknown type can be read whose language model is of a known one.
std::string part_hint(const Reader& r) {
  const std::optional<std::string> part = text_part_of(r.value());
  if (!part) return "";
  const Value* type = r.value().find(*part)->find("model_type");
  if (type == nullptr || type->as_string() == nullptr || !by_type(*type->as_string())) return "";
  const bool image = *part == "text_config" && r.value().find("vision_config") != nullptr;
  const char* whole = image ? "--like llava reads it with its image tower, and " : "";
  return "its " + *part + " is a " + quoted(*type) + ": " + whole + "--like " + *type->as_string() +
         " reads that part alone";
}

[[noreturn]] void refuse(Reader& r, const std::string& type) {
  std::string hint = part_hint(r);
  if (hint.empty() && r.path().empty()) {
    hint = model_type_hint(type, known_model_types(), r.value(),
                           [&](const std::string& other) { return unread_by(r, other); });
  }
  if (hint.empty()) hint = model_type_hint(type, known_model_types());
  r.fail_at("model_type", "the model_type " + quoted(type) + " is not known", hint);
}

// The type that a config is read like, where somebody asked for it (mark_like).
std::optional<std::string> like_of(const Reader& r) {
  const Value* about = r.value().find("nest");
  const Value* like = about != nullptr ? about->find("like") : nullptr;
  if (like == nullptr || like->as_string() == nullptr) return std::nullopt;
  if (!by_type(*like->as_string())) {
    r.fail_at("nest", "the model type '" + *like->as_string() + "' of 'like' is not known",
              model_type_hint(*like->as_string(), known_model_types()));
  }
  return *like->as_string();
}

Family family_of(Reader& r, const std::optional<std::string>& architecture) {
  if (r.has("model_type")) {
    const std::string type = r.text("model_type");
    const std::optional<Family> f = by_type(type);
    if (!f) refuse(r, type);
    return *f;
  }
  if (architecture) {
    if (const std::optional<Family> f = by_architecture(*architecture)) return *f;
    r.fail_at("architectures",
              "the architecture '" + *architecture + "' is not known, and no model_type is given",
              "add \"model_type\": \"llama\" or the like");
  }
  const FileKind kind = kind_of(r.document());
  const bool other = kind != FileKind::unknown && kind != FileKind::model;
  r.fail("the file has neither a model_type nor a known architecture, so it cannot be read as a config.json",
         other ? looks_like(r.document()) : "add \"model_type\": \"llama\" or the like");
}

// Those that the reader of the type did not ask for.
void check_lists(const Reader& r, const std::string& type) {
  std::vector<std::string> read;
  for (const auto& [key, value] : *r.value().as_object()) {
    if (r.knows(key)) read.push_back(key);
  }
  check_other_lists(r, type, read, std::nullopt);
}

void check_blocks(const Reader& r, const ModelSpec& spec) {
  for (const StackSpec& stack : spec.stacks) {
    for (const BlockSpec& block : stack.blocks) check_rotary(r, block.attention);
  }
}

// Whether a type is made of parts, so that it reads the whole of a file that has them.
bool has_parts(const std::string& type) {
  const auto* const coded =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Coded& f) { return type == f.type; });
  if (coded != kFamilies.end()) return coded->has_parts;
  return !describe_family(type).stacks.empty();
}

// What the whole says of the ends of its language model, where that does not say it.
void take_ends(Value& root, const std::string& part) {
  const Value* tied = root.find("tie_word_embeddings");
  if (tied == nullptr) return;
  for (auto& [key, value] : *root.as_object()) {
    if (key == part && value.find("tie_word_embeddings") == nullptr) value.set("tie_word_embeddings", *tied);
  }
}

constexpr std::string_view kByDefault = "by the defaults of this type, ";

// What is wrong with a key that the file leaves out is wrong with the type whose default it has.
[[noreturn]] void blame_type(const Document& given, const InputError& e) {
  const std::size_t comma = e.place().find(", ");
  const std::string path = comma == std::string::npos ? "" : e.place().substr(comma + 2);
  const bool stated = path.empty() || given.root.find(path.substr(0, path.find_first_of(".["))) != nullptr;
  if (stated || given.root.find("model_type") == nullptr) throw e;
  throw InputError(e.file(), "line " + std::to_string(given.line_of({"model_type"})) + ", model_type",
                   std::string(kByDefault) + path + ": " + e.problem(), e.hint());
}

ModelSpec read_config(const Document& given, const std::string& name, Warnings& warnings) {
  Reader plain(given);
  const std::optional<std::string> like = like_of(plain);
  const std::optional<std::string> architecture = like ? std::nullopt : architecture_of(plain);
  const Family family = like ? *by_type(*like) : family_of(plain, architecture);
  Document document = given;
  // A type without parts reads the language model of a whole that has them.
  std::optional<std::string> part;
  if (like && !has_parts(family.type)) part = text_part_of(document.root);
  if (part) {
    take_ends(document.root, *part);
  } else {
    document.root = with_defaults(document.root, family.type);
  }
  Reader whole(document);
  if (part) warnings.push_back(left_out_warning(whole, *like, *part));
  Reader r = part ? whole.object(*part) : whole;
  static_cast<void>(r.has("model_type"));
  ModelSpec spec;
  try {
    spec = read_part(r, family.type);
    if (spec.head.kind != HeadSpec::Kind::contrast) check_alone(r, family.type, spec);
  } catch (const InputError& e) {
    blame_type(given, e);
  }
  if (architecture) warn_of_head(r, *architecture, family.class_prefix, family.type, warnings);
  spec.family = family.type;
  spec.name = name;
  // Keys every file has and no shape depends on: known, so that they draw no warning.
  for (const char* key :
       {"architectures", "_name_or_path", "torch_dtype", "dtype", "transformers_version", "nest"}) {
    static_cast<void>(r.has(key));
  }
  warn_of_synonyms(r, family.type, warnings);
  for (const auto& [key, value] : *r.value().as_object()) {
    if (is_harmless_key(key)) static_cast<void>(r.has(key));
  }
  r.warn_unknown(warnings);
  return spec;
}

}  // namespace

std::vector<std::string> known_model_types() {
  std::vector<std::string> types = types_of_data();
  types.reserve(types.size() + kFamilies.size());
  for (const Coded& f : kFamilies) types.emplace_back(f.type);
  std::sort(types.begin(), types.end());
  return types;
}

ModelType describe_model_type(const std::string& type) {
  Value config = Value::object();
  Warnings ignored;
  ModelType known;
  try {
    known.defaults =
        read_hub_config(parse_json(type, to_json_line(config.set("model_type", type))), type, ignored);
    known.special = known.defaults->details.special;
  } catch (const InputError& e) {
    known.refusal = e.problem();
    if (known.refusal.starts_with(kByDefault)) known.refusal.erase(0, kByDefault.size());
    known.special = special_parts_of(type);
  }
  return known;
}

ModelSpec read_part(Reader& r, const std::string& type) {
  const std::optional<Family> family = by_type(type);
  if (!family && !described_as_part(type)) refuse(r, type);
  ModelSpec spec = family ? family->read(r, type) : read_by_data(r, type);
  check_blocks(r, spec);
  if (!family) return spec;
  if (!described_by_data(type)) {
    refuse_unread_parts(r, type, {});
    check_lists(r, type);
    spec.details = read_details(r, type);
    spec.details.unread = unread_keys(r, {});
  }
  return spec;
}

void mark_like(Document& document, const std::string& type) {
  if (document.root.as_object() == nullptr) return;
  if (!by_type(type)) {
    throw InputError("", "--like", "the model type '" + type + "' is not known",
                     model_type_hint(type, known_model_types()));
  }
  Value about = document.root.find("nest") != nullptr ? *document.root.find("nest") : Value::object();
  std::erase_if(*document.root.as_object(), [](const Value::Member& m) { return m.first == "nest"; });
  if (about.as_object() == nullptr) about = Value::object();
  std::erase_if(*about.as_object(), [](const Value::Member& m) { return m.first == "like"; });
  document.root.set("nest", about.set("like", type));
}

ModelSpec read_hub_config(const Document& document, const std::string& name, Warnings& warnings) {
  ModelSpec spec = read_config(document, name, warnings);
  const std::string absurd = problem_of(spec);
  if (absurd.empty()) return spec;
  blame_size(document, absurd, [](const Document& changed) {
    Warnings ignored;
    return problem_of(read_config(changed, "", ignored));
  });
}

}  // namespace nest::model
