// rocm-smi --showtopo, as text or with --json: the kinds of links between the GPUs of a host, their weights and hops.
//
//   ========================== Link Type between two GPUs ==========================
//          GPU0         GPU1
//   GPU0   0            XGMI
//   GPU1   XGMI         0
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_rocm_topo(std::string_view text);
[[nodiscard]] ImportFacts read_rocm_topo(const ImportFile& file, const std::string& accelerator);

}  // namespace nest::cluster
