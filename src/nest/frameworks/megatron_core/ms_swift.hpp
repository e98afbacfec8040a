// The export target "ms-swift": arguments of ms-swift's `megatron pt` and `megatron sft`, and the scripts that
// start them on the plan's devices. A sample of swift_args.txt:
//
//   --tensor_model_parallel_size 8
//   --pipeline_model_parallel_layout Et*19|(tttttttttttttttttttt|)*2,t*21L
#pragma once

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] ExportResult export_ms_swift(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
