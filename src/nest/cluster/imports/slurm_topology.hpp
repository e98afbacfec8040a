// Slurm's topology.conf, and what `scontrol show topology` prints of it.
//
//   SwitchName=leaf1 Nodes=node[001-032]
//   SwitchName=spine Switches=leaf[1-4]
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_slurm_topology(std::string_view text);
[[nodiscard]] ImportFacts read_slurm_topology(const ImportFile& file);

// topology.yaml of Slurm 25.05 and later; of several topologies the cluster's default.
[[nodiscard]] bool is_slurm_yaml(std::string_view text);
[[nodiscard]] ImportFacts read_slurm_yaml(const ImportFile& file);

}  // namespace nest::cluster
