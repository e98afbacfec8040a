// The table of baselines: what each does, knows and leaves out. Help, manual and `nest compare` come from it.
#pragma once

#include <span>
#include <string_view>

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

[[nodiscard]] std::span<const Baseline> baselines();
// Null where there is none of the name.
[[nodiscard]] const Baseline* find_baseline(std::string_view name);

// What it finds until the question's deadline; status `limit` where that is nothing.
[[nodiscard]] BaselineResult ask_baseline(const Baseline& baseline, const PlanQuestion& question,
                                          const BaselineOptions& options = {});

}  // namespace nest::solve
