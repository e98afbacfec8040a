// The door for models, clusters and recipes that come over the network: a name of the catalog, an object, or
// the text of a file. Whatever looks like a path is refused, and no name is ever looked up on the host's
// disk.
//
//   {"model": "llama3.1-70b", "cluster_text": "name: mine\naccelerator: h100-sxm\nlevels: ..", "devices": 64}
#pragma once

#include "limits.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/text/plan_json.hpp"

namespace nest::server {

// Keys model or model_text, cluster or cluster_text, recipe or recipe_text; changes are applied to the
// cluster.
[[nodiscard]] PlanInputs read_request_inputs(Reader& request, const Limits& limits, Warnings& warnings);
// The same on so many of its devices as the request says.
[[nodiscard]] PlanInputs read_sized_inputs(Reader& request, const Limits& limits, Warnings& warnings);

// A plan file from a request, as a document in which every name is one of the catalog. Plans without inputs
// get those given, if any.
[[nodiscard]] Document safe_plan(const Value& plan, const std::string& place, const Value* inputs = nullptr);
// The same, opened: within the limits, and complete.
[[nodiscard]] OpenPlan open_safe_plan(const Document& document, const Limits& limits, Warnings& warnings);

}  // namespace nest::server
