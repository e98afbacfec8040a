#include "nest/api/nest.hpp"

#include <variant>

#include "nest/base/closest.hpp"
#include "nest/frameworks/exporters.hpp"

namespace nest {

std::string_view version() {
  return NEST_VERSION;
}

Model open_model(const std::string& name_or_file, const BuildOptions& options, Warnings& warnings) {
  const ModelSource source = load_model(name_or_file, warnings);
  if (const ModelSpec* spec = std::get_if<ModelSpec>(&source)) return build_model(*spec, options);
  throw InputError(name_or_file, "", "is a layer profile, which has costs and no operators",
                   "it brings its own costs: 'nest models show' lists them");
}

PricedPlan price_plan(const Plan& plan, const PlanInputs& inputs) {
  Pricer pricer(inputs);
  return pricer.price(pricer.complete(plan));
}

ExportedPlan export_plan(const Plan& plan, const PlanInputs& inputs, std::string_view target) {
  const Exporter* exporter = frameworks::find_exporter(target);
  if (exporter == nullptr) {
    std::vector<std::string> known;
    for (const Exporter& one : frameworks::exporters()) known.emplace_back(one.name);
    throw InputError("", std::string(target), "there is no such target", base::did_you_mean(target, known));
  }
  Pricer pricer(inputs);
  const Plan placed = pricer.place(pricer.complete(plan));
  const PricedPlan priced = pricer.price(placed);
  if (priced.status == PriceStatus::invalid) throw InputError("", "plan", priced.reason);
  ExportedPlan out;
  const frameworks::ExportResult done =
      exporter->write({.plan = with_results(placed, priced), .inputs = inputs},
                      [&](const ExportFile& file) { out.files.push_back(file); });
  if (!done.rule.empty()) throw InputError("", "plan", done.sentence, "rule '" + done.rule + "'");
  out.lost = done.lost;
  out.next = done.next;
  return out;
}

}  // namespace nest
