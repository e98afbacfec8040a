// The clusters that come with the program (data/clusters), and the door for any other: a name or a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

// In alphabetical order.
[[nodiscard]] std::vector<std::string> cluster_names();

// Throws an InputError with a guess where there is no such cluster.
[[nodiscard]] Cluster catalog_cluster(std::string_view name);

// A catalogued name, or a file (see looks_like_file of base).
[[nodiscard]] Cluster load_cluster(const std::string& name_or_path);

}  // namespace nest::cluster
