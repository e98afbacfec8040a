#include "exports.hpp"

#include <utility>
#include <vector>

#include "api_error.hpp"
#include "nest/frameworks/exporters.hpp"
#include "nest/price/price.hpp"

namespace nest::server {
namespace {

// With its devices and its results; an invalid plan is the client's mistake.
Plan placed_plan(const OpenPlan& open) {
  Pricer pricer(open.inputs);
  const PricedPlan priced = pricer.price(open.plan);
  if (priced.status == PriceStatus::invalid) throw ApiError(400, "plan", priced.reason);
  return with_results(pricer.place(open.plan), priced);
}

Value file_value(const std::string& name, const std::string& text) {
  Value file = Value::object();
  file.set("name", name).set("text", text);
  return file;
}

Value plan_file(const OpenPlan& open, const Release* /*release*/) {
  Value files = Value::array();
  files.push(file_value("plan.json", to_json(plan_value(placed_plan(open), open.inputs)) + "\n"));
  Value out = Value::object();
  out.set("files", std::move(files));
  return out;
}

Value framework_files(const nest::frameworks::Exporter& target, const OpenPlan& open,
                      const Release* release) {
  Value files = Value::array();
  const ExportResult done =
      target.write({.plan = placed_plan(open), .inputs = open.inputs, .release = release},
                   [&](const ExportFile& file) { files.push(file_value(file.name, file.bytes)); });
  if (!done.rule.empty()) throw ApiError(400, "plan", done.sentence, "rule '" + done.rule + "'");
  Value lost = Value::array();
  for (const std::string& sentence : done.lost) lost.push(sentence);
  Value out = Value::object();
  Value releases = Value::array();
  for (const Release* one : done.releases) releases.push(one->name);
  out.set("files", std::move(files)).set("lost", std::move(lost)).set("releases", std::move(releases));
  return out;
}

std::vector<Exporter> make_exporters() {
  std::vector<Exporter> all{{"json", "NEST plan", plan_file}};
  for (const nest::frameworks::Exporter& target : nest::frameworks::exporters()) {
    if (target.name == "chakra") continue;  // binary, and a file for each rank
    all.push_back({target.name, target.title, [&target](const OpenPlan& open, const Release* release) {
                     return framework_files(target, open, release);
                   }});
  }
  return all;
}

}  // namespace

std::span<const Exporter> exporters() {
  static const std::vector<Exporter> kExporters = make_exporters();
  return kExporters;
}

Target find_target(std::string_view spelling) {
  const SpelledRelease spelled = split_release(spelling);
  std::string known;
  for (const Exporter& exporter : exporters()) {
    if (exporter.name == spelled.framework) {
      try {
        return {&exporter, spelled.named ? nest::frameworks::read_target(spelling).release : nullptr};
      } catch (const InputError& error) {
        throw ApiError(400, "request: to", error.problem(), error.hint());
      }
    }
    known += (known.empty() ? "" : ", ") + std::string(exporter.name);
  }
  throw ApiError(400, "request: to", "unknown target '" + std::string(spelled.framework) + "'",
                 "known: " + known);
}

Value exported(const Target& target, const OpenPlan& plan) {
  Value v = target.exporter->write(plan, target.release);
  v.set("to", target.exporter->name);
  return v;
}

}  // namespace nest::server
