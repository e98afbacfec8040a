#include "nest/frameworks/common/hub_model.hpp"

#include <algorithm>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {

std::optional<Value> hub_config(const PlanInputs& inputs) {
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
  return config;
}

}  // namespace nest::frameworks
