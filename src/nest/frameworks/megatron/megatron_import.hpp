// Megatron-LM's arguments as a plan: an argument file, or the flags of a launch script. Where devices are is
// not in the flags: rank r runs on device r, or where the rank map of an export says.
//
//   const OpenPlan open =
//       import_megatron({.file = "train.sh", .text = text, .cluster = "h100-spine-leaf"}, warnings);
#pragma once

#include "nest/base/error.hpp"
#include "nest/frameworks/common/import_question.hpp"

namespace nest::frameworks {

// The plan is complete. Sizes that contradict each other, and what a plan cannot say, are
// InputErrors; flags about parallelism that are not understood are warnings.
[[nodiscard]] OpenPlan import_megatron(const ImportQuestion& question, Warnings& warnings);

}  // namespace nest::frameworks
