// The rules of each framework, with those of all its releases: one function and one file for each. What
// several of them ask of a plan's degrees stands once in degree_rules.hpp. A new framework is a file here,
// a row in framework_tables() and one in framework_releases.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::plan {

[[nodiscard]] FrameworkRules accelerate_table();
[[nodiscard]] FrameworkRules deepspeed_table();
[[nodiscard]] FrameworkRules megatron_bridge_table();
[[nodiscard]] FrameworkRules maxtext_table();
[[nodiscard]] FrameworkRules megatron_table();
[[nodiscard]] FrameworkRules ms_swift_table();
[[nodiscard]] FrameworkRules torchtitan_table();
[[nodiscard]] FrameworkRules verl_table();

// The release of Megatron-core that a framework built on it comes with, or is usually installed with.
inline constexpr std::string_view kBridgeCore = "core_v0.19";
inline constexpr std::string_view kMsSwiftCore = "core_v0.18";
inline constexpr std::string_view kVerlCore = "core_v0.15";

// The recipe that has what a framework overlaps and holds in memory: its name, or that of what it is built on.
[[nodiscard]] std::string_view recipe_of(std::string_view framework);

// All of them, in the order in which they are shown.
[[nodiscard]] const std::vector<FrameworkRules>& framework_tables();

}  // namespace nest::plan
