// torchtitan's TOML (0.2.2) as a plan. The model is that of the registry's flavor, if the zoo has one of its
// shape; the number of ranks is not in the file.
//
//   const OpenPlan open = import_torchtitan({.file = "train.toml", .text = text, .devices = 64}, warnings);
#pragma once

#include "nest/base/error.hpp"
#include "nest/frameworks/common/import_question.hpp"

namespace nest::frameworks {

// The plan is complete. Sizes that contradict each other, and what a plan cannot say, are InputErrors; settings
// of parallelism that are not understood are warnings.
[[nodiscard]] OpenPlan import_torchtitan(const ImportQuestion& question, Warnings& warnings);

}  // namespace nest::frameworks
