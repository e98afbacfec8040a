#include "nest/model/hub/family_defaults.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/model/hub/family.hpp"
#include "nest/model/hub/family_fields.hpp"
#include "nest/model/hub/parts.hpp"

namespace nest::model {

namespace {

// The keys of the whole as those of one of its parts, which older files keep there: without what stands in groups of its own,
// and with a mark for messages, which name keys of the file.
Value as_part(Value config, const Value& type) {
  const std::vector<std::string> others = parts_of_config(config);
  Value about = config.find("nest") == nullptr ? Value() : *config.find("nest");
  if (about.as_object() == nullptr) about = Value::object();
  std::erase_if(*config.as_object(), [&](const Value::Member& m) {
    return m.first == "nest" || std::ranges::find(others, m.first) != others.end();
  });
  for (auto& [name, value] : *config.as_object()) {
    if (name == "model_type") value = type;
  }
  return config.set("nest", about.set(kFlatPart, true));
}

constexpr int kMostInEachOther = 16;  // parts in each other

// NOLINTNEXTLINE(misc-no-recursion): along the parts of a config, which are counted
Value filled_in(Value config, const std::string& type, int depth) {
  if (!described_as_part(type)) return config;
  const Described& family = describe_family(type);
  if (depth > kMostInEachOther)
    throw InputError(family.file, "stacks", "its parts stand in each other without end");
  if (config.as_object() == nullptr) config = Value::object();
  const auto put = [&](const std::string& key, const Value& value) {
    for (auto& [name, given] : *config.as_object()) {
      if (name != key) continue;
      given = value;
      return;
    }
    config.set(key, value);
  };
  for (const Value& said : family.stacks) {
    const Value* key = said.find("config");
    const Value* kind = said.find("family");
    if (key == nullptr || kind == nullptr) continue;
    const auto names = [&](const std::string& name) {
      const Value* given = config.find(name);
      if (given != nullptr && !given->is_null()) return *given;
      const auto usual = family.defaults.find(name);
      return usual == family.defaults.end() ? Value() : usual->second;
    };
    // A part that is left out stays so.
    const Value* when = said.find("when");
    if (when != nullptr && !is_true(expression_of(*when).evaluate(names))) continue;
    const std::string part = *key->as_string();
    const Value inner = expression_of(*kind).evaluate(names);
    if (inner.as_string() == nullptr) continue;
    // Older files hold the keys of this part beside the others.
    const bool flat =
        said.find("or_whole") != nullptr && (config.find(part) == nullptr || config.find(part)->is_null());
    Value own = flat ? config : names(part);
    if (own.as_object() == nullptr) own = Value::object();
    if (flat) own = as_part(std::move(own), inner);
    const Value* usual = said.find("usual");
    if (usual != nullptr && usual->as_object() != nullptr) {
      for (const auto& [name, value] : *usual->as_object()) {
        if (own.find(name) == nullptr) own.set(name, value);
      }
    }
    Value filled = filled_in(std::move(own), *inner.as_string(), depth + 1);
    if (described_as_part(*inner.as_string())) {
      for (const auto& [name, value] : describe_family(*inner.as_string()).defaults) {
        if (filled.find(name) == nullptr) filled.set(name, value);
      }
    }
    put(part, filled);
  }
  return config;
}

}  // namespace

Value with_defaults(Value config, const std::string& type) {
  return filled_in(std::move(config), type, 0);
}

}  // namespace nest::model
