// What nvidia-smi prints of one host: the matrix of `topo -m`, the list of `-L`, and the XML of `-q -x`.
//
//         GPU0  GPU1  NIC0  CPU Affinity  NUMA Affinity
//   GPU0   X    NV18  PIX   0-47          0
//   GPU1  NV18   X    NODE  0-47          0
//   NIC0  PIX   NODE   X
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

// Both take the accelerator that somebody states; empty: by the file.
//
// The matrix, with the list of GPUs before it where somebody keeps both in a file.
[[nodiscard]] bool is_nvidia_topo(std::string_view text);
[[nodiscard]] ImportFacts read_nvidia_topo(const ImportFile& file, const std::string& accelerator);

[[nodiscard]] bool is_nvidia_query(std::string_view text);
[[nodiscard]] ImportFacts read_nvidia_query(const ImportFile& file, const std::string& accelerator);

}  // namespace nest::cluster
