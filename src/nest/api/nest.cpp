#include "nest/api/nest.hpp"

#include <variant>

#include "nest/frameworks/exporters.hpp"

namespace nest {

std::string_view version() {
  return NEST_VERSION;
}

Model open_model(const std::string& name_or_file, const BuildOptions& options, Warnings& warnings,
                 const std::string& like) {
  const ModelSource source = load_model(name_or_file, warnings, like);
  if (const ModelSpec* spec = std::get_if<ModelSpec>(&source)) {
    Model model = build_model(*spec, options);
    if (std::string beyond = beyond_positions(*spec, model.sequence); !beyond.empty())
      warnings.push_back(std::move(beyond));
    return model;
  }
  throw InputError(name_or_file, "", "is a layer profile, which has costs and no operators",
                   "it brings its own costs: 'nest models show' lists them");
}

PricedPlan price_plan(const Plan& plan, const PlanInputs& inputs) {
  Pricer pricer(inputs);
  return pricer.price(pricer.complete(plan));
}

ExportedPlan export_plan(const Plan& plan, const PlanInputs& inputs, std::string_view target) {
  const frameworks::ExportTarget to = frameworks::read_target(target);
  Pricer pricer(inputs);
  const Plan placed = pricer.place(pricer.complete(plan));
  const PricedPlan priced = pricer.price(placed);
  if (priced.status == PriceStatus::invalid) throw InputError("", "plan", priced.reason);
  ExportedPlan out;
  const frameworks::ExportResult done =
      to.exporter->write({.plan = with_results(placed, priced), .inputs = inputs, .release = to.release},
                         [&](const ExportFile& file) { out.files.push_back(file); });
  if (!done.rule.empty()) throw InputError("", "plan", done.sentence, "rule '" + done.rule + "'");
  out.lost = done.lost;
  out.next = done.next;
  return out;
}

}  // namespace nest
