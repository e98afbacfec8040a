// Clusters by a name alone: an instance type or server ("Standard_ND96isr_H100_v5", "DGX H100", "GB200 NVL72"), or a slice
// of TPUs ("v5p-256").
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

// Of a vendor of data/nodes.yaml. Throws an InputError with a guess where there is no such name.
[[nodiscard]] ImportFacts read_shape_name(const std::string& name, const std::string& vendor);

// Names count TensorCores up to v5p and of TPU7x, chips of v5e and v6e.
[[nodiscard]] ImportFacts read_tpu_name(const std::string& name);
// gcloud compute tpus tpu-vm describe NAME --format=json: acceleratorType, or acceleratorConfig with a topology.
[[nodiscard]] bool is_tpu(std::string_view text);
[[nodiscard]] ImportFacts read_tpu(const ImportFile& file);

}  // namespace nest::cluster
