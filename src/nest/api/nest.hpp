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

#include "nest/api/strategy.hpp"          // IWYU pragma: export
#include "nest/base/drawing/table.hpp"    // IWYU pragma: export
#include "nest/base/units.hpp"            // IWYU pragma: export
#include "nest/cluster/catalog.hpp"       // IWYU pragma: export
#include "nest/cluster/resize.hpp"        // IWYU pragma: export
#include "nest/frameworks/exporters.hpp"  // IWYU pragma: export
#include "nest/model/blocks/build.hpp"    // IWYU pragma: export
#include "nest/model/zoo.hpp"             // IWYU pragma: export
#include "nest/plan/inputs.hpp"           // IWYU pragma: export
#include "nest/plan/text/plan_json.hpp"   // IWYU pragma: export
#include "nest/price/price.hpp"           // IWYU pragma: export
#include "nest/recipe/recipe.hpp"         // IWYU pragma: export
#include "nest/solve/ask/search.hpp"      // IWYU pragma: export

namespace nest {

using base::Bytes;
using base::DeviceId;
using base::format;
using base::InputError;
using base::LayerId;
using base::Seconds;
using base::spell;
using base::Table;
using base::to_json;
using base::Value;
using base::Warnings;
using cluster::Cluster;
using cluster::load_cluster;
using cluster::with_devices;
using frameworks::Exporter;
using frameworks::exporters;
using frameworks::ExportFile;
using frameworks::find_exporter;
using model::build_model;
using model::BuildOptions;
using model::load_model;
using model::ModelSource;
using model::ModelSpec;
using model::zoo_model;
using plan::load_inputs;
using plan::open_plan;
using plan::OpenPlan;
using plan::Plan;
using plan::plan_value;
using plan::PlanInputs;
using plan::PlanStatus;
using plan::Prediction;
using plan::read_plan;
using plan::Stage;
using plan::Training;
using price::PricedPlan;
using price::PriceOptions;
using price::Pricer;
using price::PriceStatus;
using price::with_results;
using question::Choice;
using question::Objective;
using question::PlanQuestion;
using question::read_choice;
using question::SearchOptions;
using question::SearchProgress;
using question::SearchSpace;
using recipe::load_recipe;
using recipe::Recipe;
using solve::ask;
using solve::search;
using solve::SearchResult;
using solve::SearchStats;

[[nodiscard]] std::string_view version();

// A model by name or config.json, built. A layer profile has no operators to build: an InputError says so.
[[nodiscard]] Model open_model(const std::string& name_or_file, const BuildOptions& options,
                               Warnings& warnings);

}  // namespace nest
