// Plans side by side: those that a request brings, the answers to its questions, and what differs from the
// first. {"plans": [{"name", "status", "predicted", "parallelism"}], "differences": [{"name", "choices",
// ..}]}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limits.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "plan_request.hpp"

namespace nest::server {

struct ComparedPlan {
  std::string name;
  std::string status;
  std::string reason;        // where there is no plan
  std::optional<Plan> plan;  // complete, with results
  PlanInputs inputs;
};

struct CompareRequest {
  std::vector<ComparedPlan> plans;
  std::vector<PlanRequest> questions;
  std::vector<std::string> with;  // baselines that get the first question too
  std::string session;
};

// {"plans": [plan, ..], "questions": [{..as for /plan..}], "with": ["manual", ..]}: two or more in all.
[[nodiscard]] CompareRequest read_compare_request(Reader& request, const Limits& limits);
[[nodiscard]] Value compare_value(const std::vector<ComparedPlan>& plans);

}  // namespace nest::server
