#include "plan_options.hpp"

#include <utility>

#include "nest/cluster/catalog.hpp"
#include "nest/price/price.hpp"
#include "plan_question.hpp"

namespace nest::cli {

std::vector<Option> input_options() {
  return {{"--model", "NAME|FILE", "default " + std::string(kDefaultModel)},
          {"--cluster", "NAME|FILE", "default " + std::string(kDefaultCluster)},
          {"--recipe", "NAME|FILE", "default " + std::string(kDefaultRecipe)}};
}

Option pipeline_model_option() {
  return asked_option("pipeline-model");
}

bool names_inputs(const Arguments& arguments) {
  return arguments.has("--model") || arguments.has("--cluster") || arguments.has("--recipe");
}

PlanInputs read_plan_inputs(const Arguments& arguments, Warnings& warnings) {
  return load_inputs(arguments.text("--model").value_or(std::string(kDefaultModel)),
                     arguments.text("--cluster").value_or(std::string(kDefaultCluster)),
                     arguments.text("--recipe").value_or(std::string(kDefaultRecipe)), warnings);
}

PipelineModel read_pipeline_model(const Arguments& arguments) {
  return read_asked(arguments, "pipeline-model").pipeline_model;
}

void override_inputs(PlanInputs& inputs, const Arguments& arguments, Warnings& warnings) {
  if (const auto model = arguments.text("--model")) set_model(inputs, *model, warnings);
  if (const auto cluster = arguments.text("--cluster")) inputs.cluster = load_cluster(*cluster);
  if (const auto recipe = arguments.text("--recipe")) inputs.recipe = load_recipe(*recipe);
}

OpenPlan open_complete_plan(const std::string& file, Terminal& terminal) {
  Warnings warnings;
  OpenPlan open = open_plan(file, warnings);
  terminal.warn(warnings);
  open.plan = Pricer(open.inputs).complete(std::move(open.plan));
  return open;
}

}  // namespace nest::cli
