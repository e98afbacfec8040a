// The public face of the library: what `find_package(nest)` gives. Include this one header.
//
//   nest::Warnings warnings;
//   const nest::Model model = nest::open_model("llama3.1-70b", {.micro_batch = 1, .sequence = 8192},
//   warnings); const nest::Cluster cluster = nest::load_cluster("h100-spine-leaf"); const nest::Recipe recipe
//   = nest::load_recipe("megatron");
//
//   nest::PlanInputs inputs = nest::load_inputs("llama3.1-70b", "h100-spine-leaf", "megatron", warnings);
//   const nest::SearchResult found = nest::search(inputs, {.sequence = inputs.default_sequence()}, {});
//   found.plans.front().predicted->step, nest::plan_value(found.plans.front(), inputs)
//
// Bad input throws nest::InputError {file, place, problem, hint}. The library prints nothing and never exits.
#pragma once

#include <string>
#include <string_view>

#include "nest/cluster/catalog.hpp"       // IWYU pragma: export
#include "nest/frameworks/exporters.hpp"  // IWYU pragma: export
#include "nest/model/build.hpp"           // IWYU pragma: export
#include "nest/model/zoo.hpp"             // IWYU pragma: export
#include "nest/plan/inputs.hpp"           // IWYU pragma: export
#include "nest/plan/plan_json.hpp"        // IWYU pragma: export
#include "nest/plan/price.hpp"            // IWYU pragma: export
#include "nest/recipe/recipe.hpp"         // IWYU pragma: export
#include "nest/solve/search.hpp"          // IWYU pragma: export

namespace nest {

[[nodiscard]] std::string_view version();

// A model by name or config.json, built. A layer profile has no operators to build: an InputError says so.
[[nodiscard]] Model open_model(const std::string& name_or_file, const BuildOptions& options,
                               Warnings& warnings);

}  // namespace nest
