// The export target "megatron": Megatron-LM's arguments and the scripts that start it on the plan's devices.
#pragma once

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] ExportResult export_megatron(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
