#include "nest/model/zoo.hpp"

#include <filesystem>

#include "nest/base/files.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "nest/model/onnx/read_onnx.hpp"
#include "nest/model/zoo_names.hpp"

namespace nest::model {
namespace {

Document parse_zoo_file(const EmbeddedFile& file) {
  return parse_json("zoo model " + std::string(file.name), std::string(file.text));
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

bool is_config(const Document& document) {
  return !is_model_text(document.root) && !is_layer_profile(document);
}

// A model in any of the formats that JSON and YAML have; `name` is that of a config.json.
ModelSource read_as(const Document& document, const std::string& name, Warnings& warnings) {
  if (is_config(document)) return read_hub_config(document, name, warnings);
  if (is_model_text(document.root)) return read_model_text(document);
  return read_layer_profile(document);
}

}  // namespace

std::vector<std::string> zoo_names() {
  return names_of(model_files());
}

ModelSpec zoo_model(std::string_view name) {
  if (const EmbeddedFile* file = file_of_name(model_files(), name)) return read_zoo_file(*file);
  const std::string hint = name_hint(model_files(), name);
  throw InputError(
      "", "", "there is no model '" + std::string(name) + "'",
      hint.empty() ? "'nest models' lists them; a config.json or a layer profile is given as a file" : hint);
}

ModelSource read_model(const Document& document, Warnings& warnings) {
  const Value* name = document.root.find("_name_or_path");
  const bool named = name != nullptr && name->as_string() != nullptr && !name->as_string()->empty();
  return read_as(document, named ? *name->as_string() : "config", warnings);
}

ModelSource load_model(const std::string& name_or_file, Warnings& warnings, const std::string& like) {
  const auto known = [&](ModelSpec spec) {
    if (!like.empty())
      warnings.push_back("--like has no effect on " + spec.name + ", which is known by name");
    return spec;
  };
  if (const EmbeddedFile* file = find_embedded(model_files(), name_or_file))
    return known(read_zoo_file(*file));
  if (is_onnx_name(name_or_file)) {
    if (!like.empty()) warnings.push_back("--like has no effect on an ONNX file");
    return read_onnx(name_or_file, warnings);
  }
  if (!looks_like_file(name_or_file)) return known(zoo_model(name_or_file));
  // "meta-llama/Llama-3.1-8B" could be a file; where there is none, it is a name of the hub.
  if (!std::filesystem::exists(name_or_file)) {
    if (const EmbeddedFile* file = file_of_name(model_files(), name_or_file))
      return known(read_zoo_file(*file));
  }
  Document document = read_document(name_or_file);
  if (!like.empty() && is_config(document)) mark_like(document, like);
  return read_as(document, name_from_path(name_or_file), warnings);
}

}  // namespace nest::model
