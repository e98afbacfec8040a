// What POST /api/v1/export can write a plan as: the plan itself, and every export target of nest/frameworks
// whose files are few and readable.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"
#include "nest/plan/text/plan_json.hpp"

namespace nest::server {

struct Exporter {
  std::string_view name;   // "json"
  std::string_view title;  // "NEST plan"
  // {"files": [{"name": "plan.json", "text": ".."}], "lost": [".."]}
  std::function<Value(const OpenPlan&, const Release*)> write;
};

struct Target {
  const Exporter* exporter = nullptr;
  const Release* release = nullptr;  // none: nobody named one
};

[[nodiscard]] std::span<const Exporter> exporters();
// "megatron" or "megatron@core_v0.16"; an ApiError with the known names where there is none.
[[nodiscard]] Target find_target(std::string_view spelling);
[[nodiscard]] Value exported(const Target& target, const OpenPlan& plan);

}  // namespace nest::server
