// The export target "torchtitan": a TOML for the release 0.2.2 and a function of a config registry in Python
// for the main branch, whichever of them can run the plan, with the modules of every stage, and a schedule of its own where no named one has
// its order.
#pragma once

#include <span>

#include "nest/frameworks/common/export_rule.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const ExportRule> torchtitan_rules();
[[nodiscard]] ExportResult export_torchtitan(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
