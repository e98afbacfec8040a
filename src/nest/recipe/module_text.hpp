// Sets of modules as people write them.
//
//   read_modules("layernorm+moe_act", '+')   -> {layernorm, moe_act}
//   read_modules("layernorm+moe_atc", '+')   -> "there is no module 'moe_atc'; did you mean 'moe_act'?"
#pragma once

#include <string>
#include <string_view>

#include "nest/recipe/recompute_modules.hpp"

namespace nest::recipe {

struct ReadModules {
  RecomputeModules modules;
  std::string problem;  // empty where there is none
};

// Names with this between them.
[[nodiscard]] ReadModules read_modules(std::string_view text, char between);

// "core_attn, mla_up_proj, ..": all there are.
[[nodiscard]] std::string all_modules();

}  // namespace nest::recipe
