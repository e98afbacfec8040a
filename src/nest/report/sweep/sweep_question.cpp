#include "nest/report/sweep/sweep_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/document/document.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/fewer_nodes.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/model/zoo.hpp"
#include "nest/question/make_question.hpp"

namespace nest::report {
namespace {

[[noreturn]] void refuse(const FieldValue& field, const std::string& what, const std::string& hint = {}) {
  throw InputError("", field.first + "=" + field.second, what, hint);
}

// A number, true, false, or else a text (quantities keep their unit: readers take them).
Value plain(const std::string& text) {
  if (text == "true" || text == "false") return {text == "true"};
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc{} && read.ptr == end)
    return {whole};
  double real = 0;
  if (const auto read = std::from_chars(text.data(), end, real); read.ec == std::errc{} && read.ptr == end)
    return {real};
  return {text};
}

std::vector<std::string> keys_of(const Value& value) {
  std::vector<std::string> keys;
  if (const auto* object = value.as_object()) {
    for (const auto& [key, inner] : *object) keys.push_back(key);
  }
  return keys;
}

// The entry of a list: by its number, or by its "name".
Value* entry_of(Value::Array& list, const std::string& step) {
  std::size_t index = 0;
  const auto read = std::from_chars(step.data(), step.data() + step.size(), index);
  if (read.ec == std::errc{} && read.ptr == step.data() + step.size())
    return index < list.size() ? &list[index] : nullptr;
  const auto at = std::find_if(list.begin(), list.end(), [&](const Value& entry) {
    const Value* name = entry.find("name");
    return name != nullptr && name->as_string() != nullptr && *name->as_string() == step;
  });
  return at == list.end() ? nullptr : &*at;
}

// The member with that key; keys that a file may have but this one leaves out are made.
Value* member_of(Value& value, const std::string& step) {
  auto* object = value.as_object();
  const auto at = std::find_if(object->begin(), object->end(),
                               [&](const Value::Member& member) { return member.first == step; });
  if (at != object->end()) return &at->second;
  value.set(step, {});
  return &value.as_object()->back().second;
}

// Puts a value at a place such as levels.2.bandwidth.
void set_place(Value& root, std::string_view place, const FieldValue& field) {
  Value* at = &root;
  while (!place.empty()) {
    const std::size_t dot = std::min(place.find('.'), place.size());
    const std::string step(place.substr(0, dot));
    place.remove_prefix(std::min(dot + 1, place.size()));
    if (auto* list = at->as_array()) {
      at = entry_of(*list, step);
      if (at == nullptr) {
        std::vector<std::string> names;
        for (const Value& entry : *list) {
          const Value* name = entry.find("name");
          if (name != nullptr && name->as_string() != nullptr) names.push_back(*name->as_string());
        }
        refuse(field, fmt::format("there is no '{}' among {} entries", step, list->size()),
               names.empty() ? "" : fmt::format("their names are {}", fmt::join(names, ", ")));
      }
    } else if (at->as_object() != nullptr) {
      // A last step may be a key that is left out; readers refuse those that do not exist.
      if (!place.empty() && at->find(step) == nullptr) {
        const std::string guess = did_you_mean(step, keys_of(*at));
        refuse(field, "there is no '" + step + "'",
               guess.empty() ? fmt::format("there are {}", fmt::join(keys_of(*at), ", ")) : guess);
      }
      at = member_of(*at, step);
    } else {
      refuse(field, "'" + step + "' lies inside " + std::string(at->kind_name()));
    }
  }
  *at = plain(field.second);
}

enum class Kind { name, place, asked };

struct Known {
  Kind kind = Kind::name;
  std::string root;   // model, cluster or recipe
  std::string place;  // after the root's dot
};

Known kind_of(const FieldValue& field) {
  const std::size_t dot = field.first.find('.');
  const std::string root = field.first.substr(0, dot);
  const bool file = root == "model" || root == "cluster" || root == "recipe";
  if (file && dot == std::string::npos) return {Kind::name, root, ""};
  if (file) return {Kind::place, root, field.first.substr(dot + 1)};
  const AskedField* asked = find_asked_field(field.first);
  if (asked != nullptr && asked->varies) return {Kind::asked, "", ""};
  std::vector<std::string> known{"model", "cluster", "recipe"};
  for (const AskedField& one : asked_fields()) {
    if (one.varies) known.push_back(one.name);
  }
  const std::string guess = did_you_mean(field.first, known);
  refuse(field, "there is no field '" + field.first + "'",
         guess.empty()
             ? "try devices, global-batch, tensor, cluster.levels.0.bandwidth or recipe.overlap.tensor"
             : guess);
}

void set_name(PlanInputs& inputs, const std::string& root, const std::string& value) {
  Warnings unheard;
  if (root == "model")
    set_model(inputs, value, unheard);
  else if (root == "cluster")
    set_cluster(inputs, load_cluster(value));
  else
    set_recipe(inputs, load_recipe(value));
}

void set_in_file(PlanInputs& inputs, const Known& known, const FieldValue& field) {
  const std::string file = "--vary " + field.first + "=" + field.second;
  if (known.root == "cluster") {
    Value value = cluster_file_value(inputs.cluster);
    // An accelerator by name becomes one like it, with this and that changed.
    Value* chip = member_of(value, "accelerator");
    if (known.place.starts_with("accelerator.") && chip->as_string() != nullptr) {
      Value like = Value::object();
      like.set("base", *chip->as_string());
      *chip = std::move(like);
    }
    set_place(value, known.place, field);
    inputs.cluster = read_cluster(parse_json(file, to_json(value)));
  } else if (known.root == "recipe") {
    Value value = to_value(inputs.recipe);
    set_place(value, known.place, field);
    inputs.recipe = read_recipe(parse_json(file, to_json(value)), inputs.recipe.name);
  } else {
    if (inputs.model.as_object() == nullptr)
      refuse(field, "the fields of a model by name are fixed",
             "give --model a config.json or a layer profile");
    set_place(inputs.model, known.place, field);
    Warnings unheard;
    const Document text = parse_json(file, to_json(inputs.model));
    inputs.source = read_model(text, unheard);
  }
}

// make_question says what is wrong where the number is impossible.
Cluster with_equal_devices(const Cluster& cluster, std::int64_t devices) {
  try {
    return with_devices(cluster, devices);
  } catch (const InputError&) {
    try {
      return first_devices(cluster, devices);
    } catch (const InputError&) {
      return cluster;
    }
  }
}

}  // namespace

PlanQuestion question_with(const SweepBase& base, const std::vector<FieldValue>& fields) {
  std::vector<std::pair<Known, const FieldValue*>> order;
  order.reserve(fields.size());
  for (const FieldValue& field : fields) order.emplace_back(kind_of(field), &field);
  // As given within a kind: `fields` lie in a row.
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.kind, a.second) < std::pair(b.first.kind, b.second);
  });
  SweepBase point = base;
  for (const auto& [known, field] : order) {
    if (known.kind == Kind::name) {
      set_name(point.inputs, known.root, field->second);
    } else if (known.kind == Kind::place) {
      set_in_file(point.inputs, known, *field);
    } else if (const auto problem = find_asked_field(field->first)->read(field->second, point.asked)) {
      refuse(*field, problem->what);
    }
  }
  if (base.several_clusters && point.asked.devices)
    point.inputs.cluster = with_equal_devices(point.inputs.cluster, *point.asked.devices);
  try {
    return make_question(std::move(point.inputs), point.asked);
  } catch (const AskedError& error) {
    const AskedField* refused = find_asked_field(error.field());
    for (const FieldValue& field : fields) {
      if (refused != nullptr && find_asked_field(field.first) == refused)
        refuse(field, error.problem(), error.hint());
    }
    throw;
  }
}

}  // namespace nest::report
