// The public face of the library: what `find_package(nest)` gives. Include this one header.
//
//   nest::Warnings warnings;
//   const nest::PlanInputs inputs = nest::load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
//   nest::Asked asked;  // its fields are the options of `nest plan`
//   asked.devices = 16;
//   asked.global_batch = 64;
//   asked.framework = "megatron";
//   nest::set_asked(asked, "pipeline", "1..2");
//   const nest::PlanQuestion question = nest::make_question(inputs, asked);
//   const nest::SearchResult found = nest::ask(question);
//   if (found.plans.empty()) throw std::runtime_error(found.reason);
//   const nest::Plan& plan = found.plans.front();
//   const nest::PricedPlan priced = nest::price_plan(plan, question.inputs);
//   const nest::ExportedPlan exported = nest::export_plan(plan, question.inputs, "megatron");
//   const std::string json = nest::to_json(nest::plan_value(plan, question.inputs));
//
// Bad input throws nest::InputError {file, place, problem, hint}. The library prints nothing and never exits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/api/strategy.hpp"                // IWYU pragma: export
#include "nest/base/drawing/table.hpp"          // IWYU pragma: export
#include "nest/base/error.hpp"                  // IWYU pragma: export
#include "nest/base/units.hpp"                  // IWYU pragma: export
#include "nest/cluster/catalog.hpp"             // IWYU pragma: export
#include "nest/cluster/resize.hpp"              // IWYU pragma: export
#include "nest/frameworks/common/exporter.hpp"  // IWYU pragma: export
#include "nest/model/blocks/build.hpp"          // IWYU pragma: export
#include "nest/model/zoo.hpp"                   // IWYU pragma: export
#include "nest/plan/inputs.hpp"                 // IWYU pragma: export
#include "nest/plan/text/plan_json.hpp"         // IWYU pragma: export
#include "nest/price/price.hpp"                 // IWYU pragma: export
#include "nest/question/make_question.hpp"      // IWYU pragma: export
#include "nest/recipe/recipe.hpp"               // IWYU pragma: export
#include "nest/solve/ask/search.hpp"            // IWYU pragma: export

namespace nest {

using base::Bytes;
using base::Deadline;
using base::DeviceId;
using base::format;
using base::InputError;
using base::LayerId;
using base::Seconds;
using base::spell;
using base::Table;
using base::to_json;
using base::to_json_line;
using base::Value;
using base::Warnings;
using cluster::Cluster;
using cluster::load_cluster;
using cluster::with_devices;
using estimate::name_of;
using frameworks::Exporter;
using frameworks::ExportFile;
using model::build_model;
using model::BuildOptions;
using model::load_model;
using model::ModelSource;
using model::ModelSpec;
using model::zoo_model;
using plan::load_inputs;
using plan::name_of;
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
using price::name_of;
using price::PricedPlan;
using price::PriceOptions;
using price::Pricer;
using price::PriceStatus;
using price::with_results;
using question::Asked;
using question::Choice;
using question::make_question;
using question::Objective;
using question::PlanQuestion;
using question::read_choice;
using question::SearchOptions;
using question::SearchProgress;
using question::SearchSpace;
using question::set_asked;
using question::spell;
using recipe::load_recipe;
using recipe::name_of;
using recipe::Recipe;
using solve::ask;
using solve::search;
using solve::SearchResult;
using solve::SearchStats;

[[nodiscard]] std::string_view version();

// A model by name or config.json, built. A layer profile has no operators to build: an InputError says so.
// `like`: the model type by whose keys a config.json is read; empty: its own.
[[nodiscard]] Model open_model(const std::string& name_or_file, const BuildOptions& options,
                               Warnings& warnings, const std::string& like = {});

// Time and memory of a plan, complete or not; many plans of the same inputs are priced faster by one Pricer.
// A plan that cannot be run is a status, not an error.
[[nodiscard]] PricedPlan price_plan(const Plan& plan, const PlanInputs& inputs);

struct ExportedPlan {
  std::vector<ExportFile> files;
  std::vector<std::string> lost;  // what the target cannot say, a sentence each
  std::vector<std::string> next;  // what to do with the files: commands
};
// A plan as the files of a training framework or launcher, by the names of `nest export --to`. Throws an
// InputError where there is no such target, the plan cannot be run, or it breaks one of the target's rules.
[[nodiscard]] ExportedPlan export_plan(const Plan& plan, const PlanInputs& inputs, std::string_view target);

}  // namespace nest
