#include "plan_options.hpp"

#include <optional>
#include <utility>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/plan/text/contents_text.hpp"
#include "nest/price/price.hpp"
#include "plan_question.hpp"

namespace nest::cli {
namespace {

// In place of what the object has there.
void put(Value& object, const char* key, Value value) {
  std::erase_if(*object.as_object(), [&](const Value::Member& m) { return m.first == key; });
  object.set(key, std::move(value));
}

}  // namespace

std::vector<Option> input_options() {
  return {{"--model", "NAME|FILE", "default " + std::string(kDefaultModel)},
          like_option(),
          {"--cluster", "NAME|FILE", "default " + std::string(kDefaultCluster)},
          {"--recipe", "NAME|FILE", "default " + std::string(kDefaultRecipe)},
          calibration_option()};
}

Option like_option() {
  return {"--like", "TYPE", "read a config.json by the keys of this model type ('nest models families')"};
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
                                  arguments.text("--recipe").value_or(std::string(kDefaultRecipe)), warnings,
                                  arguments.text("--like").value_or(""));
  calibrate_inputs(inputs, arguments, warnings);
  return inputs;
}

PipelineModel read_pipeline_model(const Arguments& arguments) {
  return read_asked(arguments, "pipeline-model").pipeline_model;
}

void override_inputs(PlanInputs& inputs, const Arguments& arguments, Warnings& warnings) {
  if (const auto model = arguments.text("--model"))
    set_model(inputs, *model, warnings, arguments.text("--like").value_or(""));
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

std::vector<Option> with_plan_file_options(std::vector<Option> options) {
  const std::vector<Option> inputs{
      {"--model", "NAME|FILE", "the model, for a file that does not name it"},
      like_option(),
      {"--cluster", "NAME|FILE", "the cluster, for a file that does not name it, or another one"},
      {"--recipe", "NAME|FILE", "the recipe, likewise (default " + std::string(kDefaultRecipe) + ")"},
      calibration_option()};
  options.insert(options.end(), inputs.begin(), inputs.end());
  for (Option& option : asked_options({AskedSection::training})) {
    if (option.name == "--global-batch")
      option.text = "the number of sequences in a step, in place of the plan's";
    options.push_back(std::move(option));
  }
  return options;
}

Document read_plan_document(const std::string& file, const Arguments& arguments) {
  Document document = read_document(file);
  if (document.root.as_object() == nullptr) return document;
  const Asked asked = read_asked(arguments);
  if (!asked.batches.empty()) throw UsageError("--global-batch: a plan has one batch");
  const Value* carried = document.root.find("inputs");
  const bool changed = asked.devices || arguments.has("--calibration");
  if (names_inputs(arguments) || (changed && carried != nullptr)) {
    std::optional<PlanInputs> inputs;
    Warnings warnings;  // whoever reads the plan has the same
    if (carried == nullptr) {
      inputs = read_plan_inputs(arguments, warnings);
    } else {
      Reader reader(document);
      Reader group = reader.object("inputs");
      inputs = read_inputs(group, warnings);
      override_inputs(*inputs, arguments, warnings);
    }
    if (asked.devices) inputs->cluster = with_devices(inputs->cluster, *asked.devices);
    put(document.root, "inputs", to_value(*inputs));
  }
  if (!asked.global_batch && !asked.sequence && !asked.precision && !asked.optimizer &&
      asked.contents.usual() && !asked.mtp)
    return document;
  const Value* said = document.root.find("training");
  Value training = said != nullptr && said->as_object() != nullptr ? *said : Value::object();
  if (asked.global_batch) {
    put(training, "global_batch", *asked.global_batch);
    put(training, "micro_batches", 0);  // follows from the rest
  }
  if (asked.sequence) put(training, "sequence", *asked.sequence);
  Value contents = Value::object();
  set_contents(contents, asked.contents);
  for (const Value::Member& m : *contents.as_object()) put(training, m.first.c_str(), m.second);
  if (asked.mtp) put(training, "mtp", true);
  if (asked.precision) put(training, "precision", name_of(*asked.precision));
  if (asked.optimizer) put(training, "optimizer", name_of(*asked.optimizer));
  put(document.root, "training", std::move(training));
  return document;
}

OpenPlan open_degrees(const std::string& file, const Arguments& arguments, Warnings& warnings) {
  OpenPlan open = read_plan_file(read_plan_document(file, arguments), warnings);
  open.plan = Pricer(open.inputs).complete(std::move(open.plan));
  return open;
}

OpenPlan open_complete_plan(const std::string& file, const Arguments& arguments, Terminal& terminal) {
  Warnings warnings;
  OpenPlan open = open_degrees(file, arguments, warnings);
  terminal.warn(warnings);
  return open;
}

}  // namespace nest::cli
