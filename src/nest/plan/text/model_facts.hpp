// What a plan's JSON says about its model and about this program.
#pragma once

#include <string_view>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::plan {

// {"name", "parameters", "layers": [names]}
[[nodiscard]] Value model_facts(const PlanInputs& inputs, const Training& training);

[[nodiscard]] std::string_view version_text();

}  // namespace nest::plan
