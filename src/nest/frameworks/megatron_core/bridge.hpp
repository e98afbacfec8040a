// The export target "megatron-bridge": overrides of one of Megatron Bridge's recipes, and the scripts that
// start it on the plan's devices. A sample of overrides.txt:
//
//   model.tensor_model_parallel_size=8
//   model.pipeline_model_parallel_layout='Et*19|(tttttttttttttttttttt|)*2,t*21L'
//   ddp.use_distributed_optimizer=true
#pragma once

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] ExportResult export_bridge(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
