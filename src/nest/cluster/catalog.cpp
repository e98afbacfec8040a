#include "nest/cluster/catalog.hpp"

#include "nest/base/closest.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/embedded_files.hpp"

namespace nest::cluster {
std::vector<std::string> cluster_names() {
  return names_of(cluster_files());
}

Cluster catalog_cluster(std::string_view name) {
  if (const EmbeddedFile* file = find_embedded(cluster_files(), name)) {
    return read_cluster(
        parse_document("data/clusters/" + std::string(name) + ".yaml", std::string(file->text)));
  }
  const std::string guess = did_you_mean(name, cluster_names());
  throw InputError("", "", "unknown cluster '" + std::string(name) + "'",
                   guess.empty() ? "'nest clusters' lists the known ones" : guess);
}

Cluster load_cluster(const std::string& name_or_path) {
  const bool is_file =
      find_embedded(cluster_files(), name_or_path) == nullptr && looks_like_file(name_or_path);
  return is_file ? read_cluster(read_document(name_or_path)) : catalog_cluster(name_or_path);
}

}  // namespace nest::cluster
