// The data files of this room, compiled in: data/accelerators.yaml, data/nodes.yaml and every file of
// data/clusters.
#pragma once

#include <span>

#include "nest/base/embedded.hpp"

namespace nest::cluster {

[[nodiscard]] std::span<const EmbeddedFile> accelerator_files();
[[nodiscard]] std::span<const EmbeddedFile> cluster_files();
[[nodiscard]] std::span<const EmbeddedFile> node_files();

}  // namespace nest::cluster
