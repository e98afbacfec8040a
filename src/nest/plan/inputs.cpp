#include "nest/plan/inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "nest/base/files.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "nest/model/onnx/read_onnx.hpp"

namespace nest::plan {
namespace {

// A group inside a larger document as a document of its own, for readers that take whole files.
Document part_of(const Reader& inputs, const std::string& key, const Value& value) {
  const Document& whole = inputs.document();
  return parse_json(whole.file + ": " + spell(inputs.path()) + (inputs.path().empty() ? "" : ".") + key,
                    to_json(value));
}

// What stands in a plan for a model file: its whole text, with the name that the file's own name gave it. Of an ONNX
// file, what was made of it.
Value written_out(const std::string& file, const ModelSource& source, const std::string& like) {
  if (is_onnx_name(file)) return model_text(std::get<ModelSpec>(source));
  Document document = read_document(file);
  if (!like.empty()) mark_like(document, like);
  Value text = std::move(document.root);
  const auto* spec = std::get_if<ModelSpec>(&source);
  if (spec == nullptr) return text;
  if (Value::Object* members = text.as_object()) {
    std::erase_if(*members, [](const Value::Member& m) { return m.first == "_name_or_path"; });
    text.set("_name_or_path", spec->name);
  }
  return text;
}

}  // namespace

FabricConstants PlanInputs::constants() const {
  return fabric_constants(cluster, recipe);
}

std::span<const SubgraphStrategy> PlanInputs::strategy_table() const {
  return strategies.empty() ? subgraph_strategies() : strategies;
}

std::int64_t PlanInputs::default_sequence() const {
  if (const LayerProfile* own = profile()) return own->sequence;
  const auto& spec = std::get<ModelSpec>(source);
  if (spec.default_sequence > 0) return spec.default_sequence;
  return spec.positions > 0 ? std::min(spec.positions, kDefaultLongestSequence) : kDefaultLongestSequence;
}

void warn_of_sequence(const PlanInputs& inputs, std::int64_t sequence, Warnings& warnings) {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (spec == nullptr) return;
  if (std::string beyond = beyond_positions(*spec, sequence); !beyond.empty())
    warnings.push_back(std::move(beyond));
}

const std::string& PlanInputs::model_name() const {
  const LayerProfile* own = profile();
  return own != nullptr ? own->name : std::get<ModelSpec>(source).name;
}

void set_model(PlanInputs& inputs, const std::string& model, Warnings& warnings, const std::string& like) {
  inputs.source = load_model(model, warnings, like);
  std::error_code ignored;
  const bool file =
      is_onnx_name(model) || (looks_like_file(model) && std::filesystem::exists(model, ignored));
  inputs.model = file ? written_out(model, inputs.source, like) : Value(model);
}

void set_model(PlanInputs& inputs, const Document& model, Warnings& warnings) {
  inputs.source = read_model(model, warnings);
  inputs.model = model.root;
}

Recipe read_own_recipe(const Document& recipe) {
  const Value* framework = recipe.root.find("framework");
  const std::string* name = framework != nullptr ? framework->as_string() : nullptr;
  return read_recipe(recipe, name != nullptr ? *name : std::string(kDefaultRecipe));
}

namespace {

// Runs something on the inputs as they are shipped.
void without_calibration(PlanInputs& inputs, const std::function<void()>& change) {
  if (inputs.calibration) apply_calibration(inverse(*inputs.calibration), inputs.recipe, inputs.cluster);
  change();
  if (inputs.calibration) apply_calibration(*inputs.calibration, inputs.recipe, inputs.cluster);
}

}  // namespace

void set_cluster(PlanInputs& inputs, Cluster shipped) {
  without_calibration(inputs, [&] { inputs.cluster = std::move(shipped); });
}

void set_recipe(PlanInputs& inputs, Recipe shipped) {
  without_calibration(inputs, [&] { inputs.recipe = std::move(shipped); });
}

void set_calibration(PlanInputs& inputs, Calibration calibration, Warnings& warnings) {
  without_calibration(inputs, [&] {
    for (const std::string& w : calibration_warnings(calibration, inputs.recipe, inputs.cluster))
      warnings.push_back(w);
    inputs.calibration = std::move(calibration);
  });
}

PlanInputs load_inputs(const std::string& model, const std::string& cluster, const std::string& recipe,
                       Warnings& warnings, const std::string& like) {
  PlanInputs inputs{{}, {}, load_cluster(cluster), load_recipe(recipe), {}, {}};
  set_model(inputs, model, warnings, like);
  return inputs;
}

PlanInputs read_inputs(Reader& inputs, Warnings& warnings) {
  const Value* model = inputs.find("model");
  const Value* cluster = inputs.find("cluster");
  const Value* recipe = inputs.find("recipe");
  if (model == nullptr) inputs.fail("'model' is missing: a name or a group of keys");
  if (cluster == nullptr) inputs.fail("'cluster' is missing: a name or a group of keys");
  const auto word = [&](const char* key, const Value& value) {
    if (value.as_string() == nullptr) inputs.fail_at(key, "a name or a group of keys is expected");
    return *value.as_string();
  };
  ModelSource source = model->as_object() != nullptr ? read_model(part_of(inputs, "model", *model), warnings)
                                                     : load_model(word("model", *model), warnings);
  Cluster place = cluster->as_object() != nullptr ? read_cluster(inputs.object("cluster"))
                                                  : load_cluster(word("cluster", *cluster));
  Recipe how;
  if (recipe == nullptr) {
    how = named_recipe(kDefaultRecipe);
  } else if (recipe->as_object() != nullptr) {
    how = read_own_recipe(part_of(inputs, "recipe", *recipe));
  } else {
    how = load_recipe(word("recipe", *recipe));
  }
  PlanInputs out{*model, std::move(source), std::move(place), std::move(how), {}, {}};
  if (auto learnt = inputs.object_if("calibration")) {
    out.calibration = read_calibration(std::move(*learnt));
    for (const std::string& w : calibration_warnings(*out.calibration, out.recipe, out.cluster))
      warnings.push_back(w);
  }
  return out;
}

Value to_value(const PlanInputs& inputs) {
  Value v = Value::object();
  v.set("model", inputs.model).set("cluster", cluster_file_value(inputs.cluster));
  v.set("recipe", to_value(inputs.recipe));
  if (inputs.calibration) v.set("calibration", to_value(*inputs.calibration));
  return v;
}

}  // namespace nest::plan
