// The rules of each framework, with those of all its releases: one function and one file for each. What
// several of them ask of a plan's degrees stands once in degree_rules.hpp. A new framework is a file here,
// a row in framework_tables() and one in framework_releases.cpp.
#pragma once

#include <vector>

#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::plan {

[[nodiscard]] FrameworkRules accelerate_table();
[[nodiscard]] FrameworkRules deepspeed_table();
[[nodiscard]] FrameworkRules maxtext_table();
[[nodiscard]] FrameworkRules megatron_table();
[[nodiscard]] FrameworkRules torchtitan_table();

// All of them, in the order in which they are shown.
[[nodiscard]] const std::vector<FrameworkRules>& framework_tables();

}  // namespace nest::plan
