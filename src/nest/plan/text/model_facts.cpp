#include "nest/plan/text/model_facts.hpp"

#include <utility>

namespace nest::plan {

Value model_facts(const PlanInputs& inputs, const Training& training) {
  Value names = Value::array();
  Value v = Value::object();
  if (const LayerProfile* profile = inputs.profile()) {
    for (const ProfileLayer& layer : profile->strategies.front().layers) names.push(layer.name);
    v.set("name", profile->name).set("parameters", profile->parameters());
  } else {
    BuildOptions options{.mtp = training.mtp};
    if (training.sequence > 0) options.sequence = training.sequence;
    const Model model = build_model(std::get<ModelSpec>(inputs.source), options);
    for (const Layer& layer : model.layers) names.push(layer.name);
    v.set("name", model.name).set("parameters", model.parameters());
  }
  v.set("layers", std::move(names));
  return v;
}

std::string_view version_text() {
  return NEST_VERSION;
}

}  // namespace nest::plan
