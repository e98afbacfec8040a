// What NVIDIA's topograph writes with its engine "graph": every instance with the switches above it, the nearest first.
//
//   {"instances": [{"id": "i1", "network_layers": ["leaf-a", "spine-a"],
//                   "labels": {"accelerator.topograph.run/domain": "nvl-1"}}]}
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_topograph(std::string_view text);
[[nodiscard]] ImportFacts read_topograph(const ImportFile& file);

}  // namespace nest::cluster
