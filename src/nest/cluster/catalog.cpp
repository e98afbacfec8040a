#include "nest/cluster/catalog.hpp"

#include <algorithm>
#include <filesystem>

#include "nest/base/closest.hpp"
#include "nest/base/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/embedded_files.hpp"

namespace nest {
namespace {

const EmbeddedFile* embedded(std::string_view name) {
  const auto files = cluster_files();
  const auto it =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) { return f.name == name; });
  return it == files.end() ? nullptr : &*it;
}

bool looks_like_a_file(std::string_view text) {
  if (text.find('/') != std::string_view::npos) return true;
  for (const std::string_view ending : {".yaml", ".yml", ".json"}) {
    if (text.ends_with(ending)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> cluster_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : cluster_files()) names.emplace_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

Cluster catalog_cluster(std::string_view name) {
  if (const EmbeddedFile* file = embedded(name)) {
    return read_cluster(
        parse_document("data/clusters/" + std::string(name) + ".yaml", std::string(file->text)));
  }
  const std::string guess = did_you_mean(name, cluster_names());
  throw InputError("", "", "unknown cluster '" + std::string(name) + "'",
                   guess.empty() ? "'nest clusters' lists the known ones" : guess);
}

Cluster load_cluster(const std::string& name_or_path) {
  std::error_code ignored;
  const bool is_file =
      looks_like_a_file(name_or_path) ||
      (embedded(name_or_path) == nullptr && std::filesystem::is_regular_file(name_or_path, ignored));
  return is_file ? read_cluster(read_document(name_or_path)) : catalog_cluster(name_or_path);
}

}  // namespace nest
