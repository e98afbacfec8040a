#include "nest/model/hub/family_defaults.hpp"

#include <utility>

#include "nest/model/hub/family.hpp"
#include "nest/model/hub/family_fields.hpp"

namespace nest::model {

namespace {

// The keys of the whole without the groups that are its other parts.
Value without_parts(Value config, const Described& family) {
  for (const Value& said : family.stacks) {
    const Value* part = said.find("config");
    if (part == nullptr || part->as_string() == nullptr) continue;
    std::erase_if(*config.as_object(), [&](const Value::Member& m) { return m.first == *part->as_string(); });
  }
  return config;
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion): along the parts of a config, which tests show to end
Value with_defaults(Value config, const std::string& type) {
  if (!described_as_part(type)) return config;
  const Described family = describe_family(type);
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
    if (flat) {
      own = without_parts(std::move(own), family);
      for (auto& [name, value] : *own.as_object()) {
        if (name == "model_type") value = inner;
      }
    }
    const Value* usual = said.find("usual");
    if (usual != nullptr && usual->as_object() != nullptr) {
      for (const auto& [name, value] : *usual->as_object()) {
        if (own.find(name) == nullptr) own.set(name, value);
      }
    }
    Value filled = with_defaults(std::move(own), *inner.as_string());
    if (described_as_part(*inner.as_string())) {
      for (const auto& [name, value] : describe_family(*inner.as_string()).defaults) {
        if (filled.find(name) == nullptr) filled.set(name, value);
      }
    }
    put(part, filled);
  }
  return config;
}

}  // namespace nest::model
