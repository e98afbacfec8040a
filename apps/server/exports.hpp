// What POST /api/v1/export can write a plan as: the plan itself, and every export target of nest/frameworks
// whose files are few and readable.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/plan/text/plan_json.hpp"

namespace nest::server {

struct Exporter {
  std::string_view name;   // "json"
  std::string_view title;  // "NEST plan"
  // {"files": [{"name": "plan.json", "text": ".."}], "lost": [".."]}
  std::function<Value(const OpenPlan&)> write;
};

[[nodiscard]] std::span<const Exporter> exporters();
// An ApiError with the known names where there is none.
[[nodiscard]] const Exporter& find_exporter(std::string_view name);
[[nodiscard]] Value exported(const Exporter& exporter, const OpenPlan& plan);

}  // namespace nest::server
