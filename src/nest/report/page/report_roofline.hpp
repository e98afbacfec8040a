// The operators of a plan's layers under the roof of its accelerator: FLOPs, bytes of memory and time of each,
// as one device of the plan runs it for one micro-batch. A drawing puts FLOPs by byte against FLOPs by second.
//
//   {"peak_flops_per_s": 9.89e14, "bandwidth_bytes_per_s": 3.35e12, "reached_bytes_per_s": 2.9e12,
//    "layers": [{"name": "decoder", "count": 80, "operators": [{"name": "qkv", "kind": "matmul",
//                "forward_flops": 8.6e11, "forward_bytes": 3.4e8, "forward_s": 1.2e-3, "backward_s": ..}]}]}
#pragma once

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::report {

// Bytes are those of inputs, parameters and outputs, once each. A backward pass has twice the FLOPs and bytes
// of the forward pass. Null for a layer profile, which tells nothing of operators.
[[nodiscard]] Value roofline_value(const Plan& plan, const PlanInputs& inputs);

}  // namespace nest::report
