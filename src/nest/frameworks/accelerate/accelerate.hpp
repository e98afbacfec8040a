// The export target "accelerate": Hugging Face Accelerate's configuration, a module with the same for scripts and
// Trainers of one's own, and a script that trains the plan's model for a few steps to check what was predicted.
#pragma once

#include <span>

#include "nest/base/embedded.hpp"
#include "nest/frameworks/common/export_rule.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const ExportRule> accelerate_rules();
[[nodiscard]] ExportResult export_accelerate(const ExportQuestion& question, const ExportSink& sink);

// nest_plan.py and train_smoke.py, which read the plan from nest_plan.json; made by cmake/embed.cmake.
[[nodiscard]] std::span<const EmbeddedFile> accelerate_files();

}  // namespace nest::frameworks
