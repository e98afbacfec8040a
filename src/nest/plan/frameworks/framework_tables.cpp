#include "nest/plan/frameworks/framework_tables.hpp"

#include <algorithm>
#include <array>

namespace nest::plan {
namespace {

constexpr std::array<std::string_view, 3> kOnMegatronCore{"megatron-bridge", "verl", "ms-swift"};

}  // namespace

std::string_view recipe_of(std::string_view framework) {
  const bool core =
      std::find(kOnMegatronCore.begin(), kOnMegatronCore.end(), framework) != kOnMegatronCore.end();
  return core ? "megatron" : framework;
}

const std::vector<FrameworkRules>& framework_tables() {
  static const std::vector<FrameworkRules> kAll{
      megatron_table(), torchtitan_table(),      deepspeed_table(), accelerate_table(),
      maxtext_table(),  megatron_bridge_table(), verl_table(),      ms_swift_table(),
  };
  return kAll;
}

}  // namespace nest::plan
