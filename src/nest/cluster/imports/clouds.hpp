// What cloud providers say of instances, as JSON:
//
//   aws ec2 describe-instance-topology       NetworkNodes, the nearest last; CapacityBlockId of UltraServers
//   aws ec2 describe-instance-types          what an instance type has, where data/nodes.yaml does not know it
//   gcloud compute instances list --format=json      resourceStatus.physicalHostTopology
//   oci compute compute-host list            HPC islands, network and local blocks; or the rdmaTopologyData of hosts
//   az vm list, az vmss list-instances       names of sizes alone: Azure tells nothing of its network
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_aws(std::string_view text);
[[nodiscard]] ImportFacts read_aws(const ImportFile& file);

[[nodiscard]] bool is_gcp(std::string_view text);
[[nodiscard]] ImportFacts read_gcp(const ImportFile& file);

[[nodiscard]] bool is_oci(std::string_view text);
[[nodiscard]] ImportFacts read_oci(const ImportFile& file);

[[nodiscard]] bool is_azure(std::string_view text);
[[nodiscard]] ImportFacts read_azure(const ImportFile& file);

}  // namespace nest::cluster
