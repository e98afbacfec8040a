// The export target "megatron": Megatron-LM's arguments and the scripts that start it on the plan's devices.
#pragma once

#include <string>

#include "nest/frameworks/common/exporter.hpp"
#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

// The order of ranks that torchrun can give, where there is one; Megatron-FSDP has the usual one only.
[[nodiscard]] RankMap megatron_ranks(const ExportQuestion& question);
// A line of a script that sets CUDA_DEVICE_MAX_CONNECTIONS, where Megatron-core insists on it.
[[nodiscard]] std::string connections_line(const Parallelism& parallelism);

[[nodiscard]] ExportResult export_megatron(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
