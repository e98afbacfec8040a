#include "plan_options.hpp"

#include <utility>

#include "nest/cluster/catalog.hpp"
#include "nest/price/price.hpp"

namespace nest::cli {

std::vector<Option> input_options() {
  return {{"--model", "NAME|FILE", "default llama3.1-70b"},
          {"--cluster", "NAME|FILE", "default h100-spine-leaf"},
          {"--recipe", "NAME|FILE", "default megatron"}};
}

Option pipeline_model_option() {
  return {
      "--pipeline-model", "MODEL",
      "1f1b (default: the schedule's own formula), sum-max or paper ((m + p - 1) times the longest stage)"};
}

bool names_inputs(const Arguments& arguments) {
  return arguments.has("--model") || arguments.has("--cluster") || arguments.has("--recipe");
}

PlanInputs read_plan_inputs(const Arguments& arguments, Warnings& warnings) {
  return load_inputs(arguments.text("--model").value_or("llama3.1-70b"),
                     arguments.text("--cluster").value_or("h100-spine-leaf"),
                     arguments.text("--recipe").value_or(std::string(kDefaultRecipe)), warnings);
}

PipelineModel read_pipeline_model(const Arguments& arguments) {
  const std::string word = arguments.text("--pipeline-model").value_or("1f1b");
  const auto model = find_pipeline_model(word);
  if (!model) throw UsageError("--pipeline-model: 1f1b, sum-max or paper is expected, not '" + word + "'");
  return *model;
}

void override_inputs(PlanInputs& inputs, const Arguments& arguments, Warnings& warnings) {
  if (const auto model = arguments.text("--model")) set_model(inputs, *model, warnings);
  if (const auto cluster = arguments.text("--cluster")) inputs.cluster = load_cluster(*cluster);
  if (const auto recipe = arguments.text("--recipe")) inputs.recipe = load_recipe(*recipe);
}

Value priced_value(const PricedPlan& priced) {
  Value v = Value::object();
  v.set("status", name_of(priced.status)).set("reason", priced.reason);
  if (priced.status == PriceStatus::invalid) return v;
  v.set("predicted", to_value(priced.predicted));
  Value stages = Value::array();
  for (const StageCost& cost : priced.stages) {
    Value stage = Value::object();
    stage.set("time", to_value(cost.time())).set("memory", to_value(cost.memory));
    stages.push(std::move(stage));
  }
  v.set("stages", std::move(stages));
  return v;
}

OpenPlan open_complete_plan(const std::string& file, Terminal& terminal) {
  Warnings warnings;
  OpenPlan open = open_plan(file, warnings);
  terminal.warn(warnings);
  open.plan = Pricer(open.inputs).complete(std::move(open.plan));
  return open;
}

}  // namespace nest::cli
