#include "catalog.hpp"

#include <utility>

#include "api_error.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/frameworks/exporters.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/describe.hpp"
#include "nest/model/zoo.hpp"
#include "nest/question/space_options.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::server {
namespace {

// 404, with the library's guess at what was meant.
template <class Find>
auto found(const Find& find) {
  try {
    return find();
  } catch (const InputError& error) {
    ApiError api = as_api_error(error);
    throw ApiError(404, api.where, api.what(), api.hint);
  }
}

std::int64_t default_sequence(const ModelSpec& spec) {
  if (spec.default_sequence > 0) return spec.default_sequence;
  return spec.positions > 0 ? std::min(spec.positions, kDefaultLongestSequence) : kDefaultLongestSequence;
}

}  // namespace

Value list_models() {
  Value list = Value::array();
  for (const std::string& name : zoo_names()) {
    const ModelSpec spec = zoo_model(name);
    const Model model = build_model(spec);
    Value row = Value::object();
    row.set("name", name).set("family", model.family).set("parameters", model.parameters());
    row.set("active_parameters", model.active_parameters()).set("blocks", model.blocks());
    row.set("hidden", model.hidden);
    row.set("positions", model.positions > 0 ? Value(model.positions) : Value());
    row.set("sequence", default_sequence(spec));
    list.push(std::move(row));
  }
  Value out = Value::object();
  out.set("models", std::move(list));
  return out;
}

Value show_model(const std::string& name) {
  return show_model(ModelSource(found([&] { return zoo_model(name); })));
}

Value show_model(const ModelSource& source) {
  if (const LayerProfile* profile = std::get_if<LayerProfile>(&source)) {
    Value v = describe(*profile);
    v.set("default_sequence", profile->sequence);
    return v;
  }
  const ModelSpec& spec = std::get<ModelSpec>(source);
  Value v = describe(build_model(spec));
  v.set("default_sequence", default_sequence(spec));
  return v;
}

Value list_clusters() {
  Value list = Value::array();
  for (const std::string& name : cluster_names()) {
    const Cluster c = catalog_cluster(name);
    Value row = Value::object();
    row.set("name", name).set("devices", c.devices()).set("accelerator", c.device_name());
    row.set("memory_bytes", c.device_memory().value);
    Value levels = Value::array();
    for (const Level& level : c.levels()) {
      Value one = Value::object();
      one.set("name", level.name).set("bandwidth_bytes_per_s", level.bandwidth.value);
      levels.push(std::move(one));
    }
    row.set("levels", std::move(levels));
    list.push(std::move(row));
  }
  Value out = Value::object();
  out.set("clusters", std::move(list));
  return out;
}

Value show_cluster(const std::string& name) {
  return show_cluster(found([&] { return catalog_cluster(name); }));
}

Value show_cluster(const Cluster& cluster) {
  Value v = cluster_summary(cluster);
  v.set("file", cluster_file_value(cluster));
  return v;
}

Value list_recipes() {
  Value recipes = Value::array();
  for (const std::string& name : recipe_names()) {
    Value row = Value::object();
    row.set("name", name);
    Value recipe = to_value(named_recipe(name));
    for (Value::Member& member : *recipe.as_object()) {
      if (member.first != "name") row.set(std::move(member.first), std::move(member.second));
    }
    recipes.push(std::move(row));
  }
  Value frameworks = Value::array();
  for (const FrameworkRules& rules : all_framework_rules()) frameworks.push(rules.name);
  Value choices = Value::array();
  for (const SpaceOption& option : space_options()) {
    Value row = Value::object();
    row.set("name", option.name).set("argument", option.argument).set("text", option.text);
    choices.push(std::move(row));
  }
  Value out = Value::object();
  out.set("recipes", std::move(recipes)).set("frameworks", std::move(frameworks));
  out.set("choices", std::move(choices)).set("targets", nest::frameworks::exporters_value());
  return out;
}

}  // namespace nest::server
