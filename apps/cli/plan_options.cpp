#include "plan_options.hpp"

#include <utility>

#include "nest/cluster/catalog.hpp"
#include "nest/price/price.hpp"
#include "plan_question.hpp"

namespace nest::cli {

std::vector<Option> input_options() {
  return {{"--model", "NAME|FILE", "default " + std::string(kDefaultModel)},
          {"--cluster", "NAME|FILE", "default " + std::string(kDefaultCluster)},
          {"--recipe", "NAME|FILE", "default " + std::string(kDefaultRecipe)},
          calibration_option()};
}

Option calibration_option() {
  return {"--calibration", "FILE", "constants learnt from own measurements; 'nest calibrate' makes the file"};
}

Option pipeline_model_option() {
  return asked_option("pipeline-model");
}

bool names_inputs(const Arguments& arguments) {
  return arguments.has("--model") || arguments.has("--cluster") || arguments.has("--recipe");
}

PlanInputs read_plan_inputs(const Arguments& arguments, Warnings& warnings) {
  PlanInputs inputs = load_inputs(arguments.text("--model").value_or(std::string(kDefaultModel)),
                                  arguments.text("--cluster").value_or(std::string(kDefaultCluster)),
                                  arguments.text("--recipe").value_or(std::string(kDefaultRecipe)), warnings);
  calibrate_inputs(inputs, arguments, warnings);
  return inputs;
}

PipelineModel read_pipeline_model(const Arguments& arguments) {
  return read_asked(arguments, "pipeline-model").pipeline_model;
}

void override_inputs(PlanInputs& inputs, const Arguments& arguments, Warnings& warnings) {
  if (const auto model = arguments.text("--model")) set_model(inputs, *model, warnings);
  if (const auto cluster = arguments.text("--cluster")) set_cluster(inputs, load_cluster(*cluster));
  if (const auto recipe = arguments.text("--recipe")) set_recipe(inputs, load_recipe(*recipe));
  calibrate_inputs(inputs, arguments, warnings);
}

std::optional<Calibration> read_calibration_option(const Arguments& arguments) {
  const auto file = arguments.text("--calibration");
  if (!file) return std::nullopt;
  return load_calibration(*file);
}

void calibrate_inputs(PlanInputs& inputs, const Arguments& arguments, Warnings& warnings) {
  if (auto calibration = read_calibration_option(arguments))
    set_calibration(inputs, std::move(*calibration), warnings);
}

OpenPlan open_complete_plan(const std::string& file, const Arguments& arguments, Terminal& terminal) {
  Warnings warnings;
  OpenPlan open = open_plan(file, warnings);
  calibrate_inputs(open.inputs, arguments, warnings);
  terminal.warn(warnings);
  open.plan = Pricer(open.inputs).complete(std::move(open.plan));
  return open;
}

OpenPlan open_degrees(const std::string& file, const Arguments& arguments, Warnings& warnings) {
  const Document document = read_document(file);
  Reader reader(document);
  std::optional<Reader> carried = reader.object_if("inputs");
  PlanInputs inputs = carried ? read_inputs(*carried, warnings) : read_plan_inputs(arguments, warnings);
  if (carried) override_inputs(inputs, arguments, warnings);
  Plan plan = read_plan(reader, inputs.recipe, warnings);
  plan = Pricer(inputs).complete(std::move(plan));
  return {std::move(plan), std::move(inputs)};
}

}  // namespace nest::cli
