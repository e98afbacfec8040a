// The clusters that come with the program (data/clusters), and the door for any other: a name or a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/cluster/cluster.hpp"

namespace nest {

// In alphabetical order.
[[nodiscard]] std::vector<std::string> cluster_names();

// Throws an InputError with a guess where there is no such cluster.
[[nodiscard]] Cluster catalog_cluster(std::string_view name);

// A file where the text has a '/', ends in .yaml, .yml or .json, or names a file that exists and no
// catalogued cluster; otherwise a name.
[[nodiscard]] Cluster load_cluster(const std::string& name_or_path);

}  // namespace nest
