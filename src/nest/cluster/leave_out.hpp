// A cluster without the parts that a list names (absent.hpp).
#pragma once

#include <string>
#include <vector>

#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

// Entries may be ranges ("node[03-05]"). Throws an InputError without a file where an entry names nothing.
[[nodiscard]] Cluster leave_out(ClusterParts whole, std::vector<std::string> entries);

}  // namespace nest::cluster
