// Nodes of Kubernetes: kubectl get nodes -o json (or yaml). Accelerators are counted by the device plugins, and labels of
// cloud providers and of topograph say where nodes lie.
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_kubernetes_nodes(std::string_view text);
[[nodiscard]] ImportFacts read_kubernetes_nodes(const ImportFile& file);

}  // namespace nest::cluster
