// The export target "chakra": one execution trace for each NPU (trace.RANK.et), and what ASTRA-sim needs to
// run them: communicator groups, a system and two network files.
//
//   AstraSim_Analytical_Congestion_Unaware --workload-configuration=trace --system-configuration=system.json
//     --network-configuration=network.yml --remote-memory-configuration=remote_memory.json
//     --comm-group-configuration=comm_groups.json
#pragma once

#include "nest/frameworks/chakra/chakra_program.hpp"
#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] ExportResult write_chakra(const ExportQuestion& question, const ExportSink& sink);
[[nodiscard]] ExportResult write_chakra(const ExportQuestion& question, const ExportSink& sink,
                                        const ChakraOptions& options);

}  // namespace nest::frameworks
