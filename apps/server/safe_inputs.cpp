#include "safe_inputs.hpp"

#include <fmt/format.h>

#include <utility>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/onnx/read_onnx.hpp"
#include "nest/price/price.hpp"

namespace nest::server {
namespace {

constexpr std::size_t kLongestName = 100;

// Names are letters, digits and a little punctuation. Anything that could be a path is not one; models may have
// an organisation, as on the Hub ("meta-llama/Llama-3.1-8B"), which only the catalog is asked for.
void check_name(const std::string& kind, const std::string& place, const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '+';
  };
  if (kind == "model" && is_onnx_name(name)) {
    throw InputError(
        "request", place, "a name of the catalog is expected; ONNX files cannot be sent",
        "'nest plan --model FILE.onnx -o plan.json' writes a plan, whose inputs.model can be sent");
  }
  const bool file = name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml");
  std::string letters = name;
  const std::size_t slash = name.find('/');
  if (kind == "model" && slash != std::string::npos && slash > 0) letters.erase(slash, 1);
  const bool odd = name.empty() || name.size() > kLongestName || name.starts_with('.') ||
                   name.find("..") != std::string::npos ||
                   !std::all_of(letters.begin(), letters.end(), plain);
  if (odd || file) {
    throw InputError("request", place, "a name of the catalog is expected; files of the host cannot be read",
                     "send the file's text as " + place.substr(place.rfind('.') + 1) + "_text");
  }
}

// The name under which the catalog has it.
std::string catalog_name(const std::string& kind, const std::string& place, const std::string& name) {
  check_name(kind, place, name);
  if (kind == "model") return zoo_model(name).name;
  if (kind == "cluster") return catalog_cluster(name).name();
  return named_recipe(name).name;
}

// A document of a member of the request: an object, or a text with lines of its own.
std::optional<Document> given(Reader& request, const std::string& key) {
  const std::string text_key = key + "_text";
  const Value* text = request.find(text_key);
  const Value* value = request.find(key);
  if (text != nullptr && value != nullptr)
    request.fail_at(text_key, "'" + key + "' and '" + text_key + "' exclude each other");
  if (text != nullptr) {
    if (text->as_string() == nullptr) request.fail_at(text_key, "the text of a file is expected");
    return parse_document(key, *text->as_string());
  }
  if (value == nullptr || value->as_string() != nullptr) return std::nullopt;
  if (value->as_object() == nullptr) request.fail_at(key, "a name or a group of keys is expected");
  return parse_json("request: " + key, to_json(*value));
}

std::string name_or(Reader& request, const std::string& key, std::string_view fallback) {
  const Value* value = request.find(key);
  return value == nullptr ? std::string(fallback) : catalog_name(key, key, *value->as_string());
}

void replace(Value& object, const std::string& key, Value value) {
  for (Value::Member& member : *object.as_object()) {
    if (member.first == key) {
      member.second = std::move(value);
      return;
    }
  }
  object.set(key, std::move(value));
}

// Something else for levels by their names: {"node": 4.5e11}. `read` takes one value.
template <class Read>
void change_levels(Value& file, Reader& given, const std::string& key, const Read& read) {
  Value levels = *file.find("levels");
  for (const std::string& name : given.keys()) {
    bool found = false;
    for (Value& level : *levels.as_array()) {
      if (*level.find("name")->as_string() != name) continue;
      replace(level, key, read(name));
      found = true;
    }
    if (!found) given.fail_at(name, "the cluster has no level '" + name + "'");
  }
  replace(file, "levels", std::move(levels));
}

// {"memory_bytes": 8e10, "bandwidth_bytes_per_s": {"node": 4.5e11}, "oversubscription": {"spine": 2}}
Cluster changed(const Cluster& cluster, Reader changes) {
  Value file = cluster_file_value(cluster);
  if (changes.has("memory_bytes")) {
    const Bytes memory = changes.bytes("memory_bytes");
    if (memory.value < 1) changes.fail_at("memory_bytes", "more than 0 bytes are expected");
    Value chip = *file.find("accelerator");
    if (chip.as_string() != nullptr) {
      const std::string base = *chip.as_string();
      chip = Value::object();
      chip.set("base", base);
    }
    replace(chip, "memory", memory.value);
    replace(file, "accelerator", std::move(chip));
  }
  if (auto rates = changes.object_if("bandwidth_bytes_per_s")) {
    change_levels(file, *rates, "bandwidth",
                  [&](const std::string& name) { return rates->bandwidth(name).value; });
  }
  if (auto ratios = changes.object_if("oversubscription")) {
    change_levels(file, *ratios, "oversubscription", [&](const std::string& name) {
      const double ratio = ratios->number(name);
      if (!(ratio >= 1)) ratios->fail_at(name, "oversubscription is at least 1");
      return ratio;
    });
  }
  changes.done();
  return read_cluster(parse_json("cluster", to_json(file)));
}

void check_size(const Cluster& cluster, const Limits& limits) {
  if (cluster.devices() > limits.devices) {
    throw InputError("request", "cluster",
                     fmt::format("{} devices are more than the {} that this server plans for",
                                 format_digits(cluster.devices()), format_digits(limits.devices)));
  }
}

std::size_t layers_of(const ModelSource& source) {
  if (const LayerProfile* profile = std::get_if<LayerProfile>(&source))
    return profile->strategies.empty() ? 0 : profile->strategies.front().layers.size();
  return build_model(std::get<ModelSpec>(source)).layers.size();
}

void check_layers(const ModelSource& source, const Limits& limits) {
  const std::size_t layers = layers_of(source);
  if (layers > limits.layers) {
    throw InputError(
        "request", "model",
        fmt::format("{} layers are more than the {} that this server plans for", layers, limits.layers));
  }
}

}  // namespace

PlanInputs read_request_inputs(Reader& request, const Limits& limits, Warnings& warnings) {
  PlanInputs inputs{{}, {}, catalog_cluster(kDefaultCluster), named_recipe(kDefaultRecipe), {}};
  if (const auto document = given(request, "model")) {
    set_model(inputs, *document, warnings);
    check_layers(inputs.source, limits);
  } else {
    const std::string name = name_or(request, "model", kDefaultModel);
    inputs.source = zoo_model(name);
    inputs.model = name;
  }
  if (const auto document = given(request, "cluster")) {
    inputs.cluster = read_cluster(*document);
  } else {
    inputs.cluster = catalog_cluster(name_or(request, "cluster", kDefaultCluster));
  }
  if (const auto document = given(request, "recipe")) {
    inputs.recipe = read_own_recipe(*document);
  } else {
    inputs.recipe = named_recipe(name_or(request, "recipe", kDefaultRecipe));
  }
  if (request.has("changes")) inputs.cluster = changed(inputs.cluster, request.object("changes"));
  check_size(inputs.cluster, limits);
  if (request.has("calibration") && request.find("calibration")->as_string() != nullptr)
    request.fail_at("calibration", "a group of keys is expected");
  if (const auto document = given(request, "calibration")) {
    set_calibration(inputs, read_calibration(Reader(*document)), warnings);
  } else if (limits.calibration) {
    set_calibration(inputs, *limits.calibration, warnings);
  }
  return inputs;
}

PlanInputs read_sized_inputs(Reader& request, const Limits& limits, Warnings& warnings) {
  PlanInputs inputs = read_request_inputs(request, limits, warnings);
  if (request.has("devices"))
    inputs.cluster = with_devices(inputs.cluster, request.whole("devices", {1, limits.devices}));
  return inputs;
}

Document safe_plan(const Value& plan, const std::string& place, const Value* inputs) {
  if (plan.as_object() == nullptr) throw InputError("request", place, "a plan is expected: a group of keys");
  Value safe = plan;
  if (safe.find("inputs") == nullptr && inputs != nullptr) safe.set("inputs", *inputs);
  for (Value::Member& member : *safe.as_object()) {
    if (member.first != "inputs" || member.second.as_object() == nullptr) continue;
    for (Value::Member& input : *member.second.as_object()) {
      if (input.second.as_string() == nullptr) continue;
      if (input.first != "model" && input.first != "cluster" && input.first != "recipe") continue;
      const std::string where = place + ".inputs." + input.first;
      input.second = catalog_name(input.first, where, *input.second.as_string());
    }
  }
  return parse_json("request: " + place, to_json(safe));
}

OpenPlan open_safe_plan(const Document& document, const Limits& limits, Warnings& warnings) {
  OpenPlan open = read_plan_file(document, warnings);
  check_size(open.inputs.cluster, limits);
  check_layers(open.inputs.source, limits);
  open.plan = Pricer(open.inputs).complete(std::move(open.plan));
  return open;
}

}  // namespace nest::server
