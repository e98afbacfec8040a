#include "nest/model/zoo.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "nest/base/closest.hpp"
#include "nest/base/files.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "nest/model/onnx/read_onnx.hpp"

namespace nest::model {
namespace {

// "meta-llama/Llama-3.1-8B" and "llama3.1-8b" are one name: organisation, letter case, - and _ do not tell
// models apart. Dots do: opt-1.3b is not opt-13b.
std::string canonical(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string out;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (c != '-' && c != '_') out += static_cast<char>(std::tolower(u));
  }
  return out;
}

std::vector<std::string> aliases_of(const Document& document) {
  std::vector<std::string> aliases;
  const Value* about = document.root.find("nest");
  const Value* list = about != nullptr ? about->find("aliases") : nullptr;
  if (list == nullptr || list->as_array() == nullptr) return aliases;
  for (const Value& v : *list->as_array()) {
    if (v.as_string() != nullptr) aliases.push_back(*v.as_string());
  }
  return aliases;
}

Document parse_zoo_file(const EmbeddedFile& file) {
  return parse_json("zoo model " + std::string(file.name), std::string(file.text));
}

// Fine-tuned and converted forms of a model have its shape: "Llama-3.1-70B-Instruct" is "llama3.1-70b".
std::string without_variant(std::string name) {
  constexpr std::array<std::string_view, 7> kVariants{"instruct", "chat", "base", "hf",
                                                      "thinking", "it",   "pt"};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view variant : kVariants) {
      if (name.size() <= variant.size() + 2 || !name.ends_with(variant)) continue;
      name.resize(name.size() - variant.size());
      again = true;
    }
  }
  return name;
}

// "qwen3-235b" is the only model that begins so: a size that others follow ("-a22b") names one model.
const EmbeddedFile* only_beginning(const std::string& wanted) {
  const bool size = wanted.size() > 3 && wanted.back() == 'b' &&
                    std::isdigit(static_cast<unsigned char>(wanted[wanted.size() - 2])) != 0;
  const EmbeddedFile* found = nullptr;
  for (const EmbeddedFile& file : model_files()) {
    if (!size || !canonical(file.name).starts_with(wanted)) continue;
    if (found != nullptr) return nullptr;
    found = &file;
  }
  return found;
}

const EmbeddedFile* find_canonical(const std::string& wanted) {
  for (const EmbeddedFile& file : model_files()) {
    if (canonical(file.name) == wanted) return &file;
  }
  // Aliases stand inside the files; only a name that is no file name pays for reading them.
  for (const EmbeddedFile& file : model_files()) {
    if (file.text.find("\"aliases\"") == std::string_view::npos) continue;
    const auto aliases = aliases_of(parse_zoo_file(file));
    if (std::any_of(aliases.begin(), aliases.end(), [&](const auto& a) { return canonical(a) == wanted; }))
      return &file;
  }
  return nullptr;
}

const EmbeddedFile* find_zoo_file(std::string_view name) {
  // "Qwen3-235B-A22B-Instruct-2507": a month of release, which changes no shape.
  constexpr std::size_t kMonth = 5;
  const std::string_view end = name.size() > kMonth ? name.substr(name.size() - kMonth) : "";
  const bool dated = end.starts_with('-') && end.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (dated && find_canonical(canonical(name)) == nullptr) name.remove_suffix(kMonth);
  const std::string wanted = canonical(name);
  if (const EmbeddedFile* file = find_canonical(wanted)) return file;
  const std::string plain = without_variant(wanted);
  if (plain != wanted) {
    if (const EmbeddedFile* file = find_canonical(plain)) return file;
  }
  return only_beginning(plain);
}

ModelSpec read_zoo_file(const EmbeddedFile& file) {
  Warnings ignored;
  return read_hub_config(parse_zoo_file(file), std::string(file.name), ignored);
}

// config.json says little as a name; the folder it lies in usually is the model's name.
std::string name_from_path(const std::string& path) {
  const std::filesystem::path p(path);
  if (p.stem() != "config") return printable(p.stem().string());
  const std::string folder = p.parent_path().filename().string();
  return folder.empty() || folder == "." || folder == ".." ? "config" : printable(folder);
}

// "llama3.1" of "llama3.1-70b": family and version, which a guess should not change.
std::string family_of(std::string_view name) {
  return canonical(name.substr(0, name.find('-')));
}

std::string letters_of(std::string_view name) {
  const std::string family = family_of(name);
  return family.substr(0, family.find_first_of("0123456789"));
}

// One guess where one is nearest and of the same family; several where they are equally near, where they all
// begin as the given name does, or where only the family's letters agree (gpt4).
std::string name_hint(std::string_view name) {
  constexpr std::size_t kMostShown = 3;
  const std::vector<std::string> names = zoo_names();
  std::vector<std::string> begin_so;
  for (const std::string& n : names) {
    if (canonical(n).starts_with(canonical(name)) && canonical(name).size() >= 3) begin_so.push_back(n);
  }
  if (begin_so.size() > 1) {
    std::string hint = "names that begin so:";
    for (std::size_t i = 0; i < begin_so.size() && i < kMostShown; ++i)
      hint += (i == 0 ? " " : ", ") + begin_so[i];
    return hint + (begin_so.size() > kMostShown ? ", ..." : "");
  }
  const std::optional<std::string> best = closest(name, names);
  if (!best) return {};
  const int edits = edit_distance(name, *best);
  std::vector<std::string> guesses = nearest(name, names, edits, kMostShown);
  if (family_of(name) != family_of(*best) && letters_of(name) == letters_of(*best)) {
    std::vector<std::string> relatives = names;
    std::erase_if(relatives, [&](const std::string& n) { return letters_of(n) != letters_of(name); });
    guesses = nearest(name, relatives, static_cast<int>(name.size()), kMostShown);
  }
  if (guesses.empty()) guesses.push_back(*best);
  std::string list;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    const bool last = i + 1 == guesses.size();
    list += (i == 0 ? "'" : last ? " or '" : ", '") + guesses[i] + "'";
  }
  return "did you mean " + list + "?";
}

}  // namespace

std::vector<std::string> zoo_names() {
  return names_of(model_files());
}

ModelSpec zoo_model(std::string_view name) {
  if (const EmbeddedFile* file = find_zoo_file(name)) return read_zoo_file(*file);
  const std::string hint = name_hint(name);
  throw InputError(
      "", "", "there is no model '" + std::string(name) + "'",
      hint.empty() ? "'nest models' lists them; a config.json or a layer profile is given as a file" : hint);
}

ModelSource read_model(const Document& document, Warnings& warnings) {
  if (is_model_text(document.root)) return read_model_text(document);
  if (is_layer_profile(document)) return read_layer_profile(document);
  const Value* name = document.root.find("_name_or_path");
  const bool named = name != nullptr && name->as_string() != nullptr && !name->as_string()->empty();
  return read_hub_config(document, named ? *name->as_string() : "config", warnings);
}

ModelSource load_model(const std::string& name_or_file, Warnings& warnings, const std::string& like) {
  const auto known = [&](ModelSpec spec) {
    if (!like.empty())
      warnings.push_back("--like has no effect on " + spec.name + ", which is known by name");
    return spec;
  };
  if (const EmbeddedFile* file = find_embedded(model_files(), name_or_file))
    return known(read_zoo_file(*file));
  if (!looks_like_file(name_or_file) && !is_onnx_name(name_or_file)) return known(zoo_model(name_or_file));
  if (is_onnx_name(name_or_file)) {
    if (!like.empty()) warnings.push_back("--like has no effect on an ONNX file");
    return read_onnx(name_or_file, warnings);
  }
  // "meta-llama/Llama-3.1-8B" could be a file; where there is none, it is a name of the hub.
  if (!std::filesystem::exists(name_or_file)) {
    if (const EmbeddedFile* file = find_zoo_file(name_or_file)) return known(read_zoo_file(*file));
  }
  Document document = read_document(name_or_file);
  if (is_model_text(document.root)) return read_model_text(document);
  if (is_layer_profile(document)) return read_layer_profile(document);
  if (!like.empty()) mark_like(document, like);
  return read_hub_config(document, name_from_path(name_or_file), warnings);
}

}  // namespace nest::model
