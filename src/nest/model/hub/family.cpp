#include "nest/model/hub/family.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "nest/model/hub/family_blocks.hpp"
#include "nest/model/hub/family_fields.hpp"
#include "nest/model/hub/family_files.hpp"
#include "nest/model/hub/family_stacks.hpp"
#include "nest/model/hub/hub_details.hpp"
#include "nest/model/hub/hub_fields.hpp"
#include "nest/model/hub/layer_lists.hpp"
#include "nest/model/hub/parts.hpp"
#include "nest/model/hub/unread_keys.hpp"

namespace nest::model {
namespace {

// What the config itself says stands before the family's value.
void read_numbers(Fields& f, ModelDetails& out) {
  for (const auto& [name, expression] : f.family().numbers) {
    const Value v = f.evaluate(expression);
    const double* real = v.as_real();
    const std::int64_t* whole = v.as_int();
    if (real != nullptr || whole != nullptr)
      out.numbers.try_emplace(name, real != nullptr ? *real : static_cast<double>(*whole));
  }
}

bool squares_relu(Reader& r, const Described& family) {
  Fields block(r, family, family.block);
  block.set_layer(0);
  return block.has("activation") && block.word_or("activation", "") == "relu2";
}

// Keys that the family's file has to do with, though not with this config's values.
std::vector<std::string> mentioned(const Reader& r, const Described& family) {
  std::vector<std::string> keys;
  keys.reserve(family.defaults.size());
  std::string parts;
  for (const auto& [name, steps] : family.parts) parts += to_json_line(steps);
  for (const auto& [key, value] : *r.value().as_object()) {
    if (parts.find(key) != std::string::npos) keys.push_back(key);
  }
  for (const auto& [key, value] : family.defaults) keys.push_back(key);
  const auto add = [&](const Described::Section& section) {
    for (const auto& [name, expression] : section) {
      const std::vector<std::string> names = expression.names();
      keys.insert(keys.end(), names.begin(), names.end());
    }
  };
  for (const Described::Section* section : {&family.names, &family.model, &family.block, &family.numbers})
    add(*section);
  for (const Value& stack : family.stacks) {
    for (const char* section : {"model", "block"}) {
      Described::Section own;
      if (const Value* fields = stack.find(section)) read_expressions(*fields, own, family.file);
      add(own);
    }
    const Value* config = stack.find("config");
    if (config != nullptr && config->as_string() != nullptr) keys.push_back(*config->as_string());
  }
  return keys;
}

// Keys that the file states and the family knows draw no warning.
void know(Reader& r, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (r.value().find(key) != nullptr) static_cast<void>(r.has(key));
  }
}

// One entry for each layer, of a kind that the family knows.
void check_lists(Reader& r, Fields& f, const std::string& type) {
  const Described& family = f.family();
  std::optional<std::int64_t> layers;
  if (f.has("layers") && family.stacks.empty()) layers = f.whole("layers", {0, kMostLayers}, 0);
  std::vector<std::string> read;
  for (const auto& [key, list] : family.lists) {
    read.push_back(key);
    const Value* given = r.value().find(key);
    const auto usual = family.defaults.find(key);
    // Parts of a config hold the defaults of their type.
    if (given == nullptr || (usual != family.defaults.end() && *given == usual->second)) continue;
    std::optional<std::int64_t> length = layers;
    if (list.length) {
      const Value said = f.evaluate(*list.length);
      length = said.as_int() == nullptr ? std::nullopt : std::optional(*said.as_int());
    }
    check_layer_list(r, key, type, list.known, length);
  }
  check_other_lists(r, type, read, layers);
}

ModelSpec one_stack(Reader& r, const Described& family, Fields& f) {
  ModelSpec spec;
  spec.stacks.push_back(stack_of(r, family, f));
  read_head(f, spec, spec.stacks.back().stem.vocab);
  if (spec.mtp_layers > 0) spec.mtp_block = prediction_block(r, family, f, spec.stacks.back());
  spec.details = read_details(r, family.details);
  read_numbers(f, spec.details);
  if (squares_relu(r, family)) spec.details.numbers.try_emplace("squared_relu", 1);
  return spec;
}

}  // namespace

std::vector<std::string> types_of_data() {
  std::vector<std::string> types;
  for (const FamilyFile& file : family_table()) {
    if (!file.prefix.empty()) types.push_back(file.name);
  }
  return types;
}

bool described_by_data(const std::string& type) {
  return !class_prefix_of(type).empty();
}

bool described_as_part(const std::string& type) {
  const std::vector<FamilyFile>& all = family_table();
  return std::any_of(all.begin(), all.end(), [&](const FamilyFile& f) { return f.name == type; });
}

std::string class_prefix_of(const std::string& type) {
  const std::vector<FamilyFile>& all = family_table();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const FamilyFile& f) { return f.name == type; });
  return found == all.end() ? std::string() : found->prefix;
}

std::vector<std::string> special_parts_of(const std::string& type) {
  return described_as_part(type) ? describe_family(type).special : std::vector<std::string>();
}

ModelSpec read_by_data(Reader& r, const std::string& type) {
  const Described& family = describe_family(type);
  Fields f(r, family, family.model);
  check_lists(r, f, type);
  ModelSpec spec = family.stacks.empty() ? one_stack(r, family, f) : read_stacks(r, family);
  const std::vector<std::string> known = mentioned(r, family);
  refuse_unread_parts(r, type, known);
  for (const std::string& part : family.special) spec.details.special.push_back(part);
  for (std::string& key : unread_keys(r, known)) spec.details.unread.push_back(std::move(key));
  know(r, known);
  return spec;
}

}  // namespace nest::model
