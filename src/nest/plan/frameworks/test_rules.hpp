// For tests of rules: the name of the first rule that degrees break.
#pragma once

#include <string_view>

#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::test {

inline std::string_view broken(std::string_view framework, const plan::PlanDegrees& degrees) {
  const plan::FrameworkRule* rule = plan::find_framework_rules(framework)->broken(degrees);
  return rule == nullptr ? "" : rule->name;
}

}  // namespace nest::test
