// What the catalog has, as the API lists it: models, clusters and recipes by name, and each in full.
#pragma once

#include <string>

#include "nest/base/document/value.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/model/zoo.hpp"

namespace nest::server {

// {"models": [{"name", "family", "parameters", "active_parameters", "blocks", "hidden", "positions"}]}
[[nodiscard]] Value list_models();
// What `nest models show --json` prints, and under "default_sequence" how many tokens a sequence has where
// nothing is said. Unknown names are an ApiError with status 404.
[[nodiscard]] Value show_model(const std::string& name);
[[nodiscard]] Value show_model(const ModelSource& source);

// {"clusters": [{"name", "devices", "accelerator", "memory_bytes", "levels": [{"name", "size",
//  "bandwidth_bytes_per_s"}]}]}
[[nodiscard]] Value list_clusters();
// What `nest clusters show --json` prints, and under "file" the cluster as a file.
[[nodiscard]] Value show_cluster(const std::string& name);
[[nodiscard]] Value show_cluster(const Cluster& cluster);

// {"recipes": [{"name", ..}], "frameworks": [..], "choices": [{"name", "argument", "text"}], "targets": [..]}
[[nodiscard]] Value list_recipes();

}  // namespace nest::server
