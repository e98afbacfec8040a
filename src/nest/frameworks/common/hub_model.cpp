#include "nest/frameworks/common/hub_model.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "nest/base/document/document.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {

namespace {

void set_member(Value& group, const std::string& key, Value value) {
  for (Value::Member& member : *group.as_object()) {
    if (member.first == key) {
      member.second = std::move(value);
      return;
    }
  }
  group.set(key, std::move(value));
}

// In the group of the language model, which is the whole file or a part of it.
void state_positions(Value& config, std::int64_t positions) {
  constexpr const char* kKey = "max_position_embeddings";
  constexpr const char* kPart = "text_config";
  const Value* part = config.find(kPart);
  if (part == nullptr || part->as_object() == nullptr) return set_member(config, kKey, positions);
  Value text = *part;
  set_member(text, kKey, positions);
  set_member(config, kPart, std::move(text));
}

}  // namespace

std::optional<Value> hub_config(const PlanInputs& inputs, std::int64_t sequence) {
  if (inputs.profile() != nullptr || is_model_text(inputs.model)) return std::nullopt;
  Value config = inputs.model;
  if (config.as_object() == nullptr) {
    const auto files = model_files();
    const auto at = std::find_if(files.begin(), files.end(),
                                 [&](const EmbeddedFile& file) { return file.name == inputs.model_name(); });
    if (at == files.end()) return std::nullopt;
    config = parse_json(std::string(at->name), std::string(at->text)).root;
  }
  std::erase_if(*config.as_object(), [](const Value::Member& member) { return member.first == "nest"; });
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (spec != nullptr && !beyond_positions(*spec, sequence).empty()) state_positions(config, sequence);
  return config;
}

}  // namespace nest::frameworks
