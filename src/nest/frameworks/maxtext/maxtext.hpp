// The export target "maxtext": MaxText's settings for TPUs and GPUs, the command that trains, and the one that
// compiles the plan for its TPUs without having any.
#pragma once

#include <span>

#include "nest/frameworks/common/export_rule.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const ExportRule> maxtext_rules();
[[nodiscard]] ExportResult export_maxtext(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
