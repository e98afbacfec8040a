#include "nest/base/document/file_kind.hpp"

#include <array>

namespace nest::base {

FileKind kind_of(const Document& document) {
  const auto has = [&](const char* key) { return document.root.find(key) != nullptr; };
  const std::string* format = has("format") ? document.root.find("format")->as_string() : nullptr;
  const bool named_levels = has("levels") && document.root.find("levels")->as_object() != nullptr;
  if (has("learnt_from") || named_levels) return FileKind::calibration;
  if (has("strategies") || (format != nullptr && *format == "nest-layer-profile")) return FileKind::profile;
  if (has("model_type") || has("architectures")) return FileKind::model;
  if (has("levels")) return FileKind::cluster;
  if (has("links")) return FileKind::graph;
  if (has("optimizer") || has("overlap") || has("precision")) return FileKind::recipe;
  return FileKind::unknown;
}

std::string looks_like(const Document& document) {
  static constexpr std::array<const char*, 7> kWords{
      "",
      "a model's config.json: nest models show ",
      "a layer profile: nest models show ",
      "a cluster file: nest clusters show ",
      "a graph file: nest clusters from-graph ",
      "a recipe: nest recipes show ",
      "a calibration: nest plan --calibration ",
  };
  const FileKind kind = kind_of(document);
  if (kind == FileKind::unknown) return {};
  return std::string("this looks like ") + kWords[static_cast<std::size_t>(kind)] + document.file;
}

}  // namespace nest::base
