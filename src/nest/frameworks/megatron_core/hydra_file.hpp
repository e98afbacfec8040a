// Settings as a file of Hydra's overrides, one a line below the section that they belong to:
//
//   # model
//   model.tensor_model_parallel_size=8
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/megatron_core/core_knobs.hpp"

namespace nest::frameworks {

// Sections come in the order of their first setting.
[[nodiscard]] std::string hydra_text(const std::vector<Setting>& settings);

// Lines of a bash script that read such a file beside it into an array.
[[nodiscard]] std::string hydra_reader(std::string_view file, std::string_view array);

}  // namespace nest::frameworks
