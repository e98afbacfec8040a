// network.yml of ASTRA-sim's analytical backends: dimensions from the inside out, whose GB/s are 2^30 bytes.
//
//   topology: [ Ring, Switch ]
//   npus_count: [ 8, 4 ]
//   bandwidth: [ 400.0, 50.0 ]     # of a link
//   latency: [ 500.0, 2000.0 ]     # ns, of a link
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_astra_sim(std::string_view text);
[[nodiscard]] ImportFacts read_astra_sim(const ImportFile& file);

}  // namespace nest::cluster
