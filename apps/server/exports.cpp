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

Value plan_file(const OpenPlan& open) {
  Value files = Value::array();
  files.push(file_value("plan.json", to_json(plan_value(placed_plan(open), open.inputs)) + "\n"));
  Value out = Value::object();
  out.set("files", std::move(files));
  return out;
}

Value framework_files(const nest::frameworks::Exporter& target, const OpenPlan& open) {
  Value files = Value::array();
  const ExportResult done =
      target.write({.plan = placed_plan(open), .inputs = open.inputs},
                   [&](const ExportFile& file) { files.push(file_value(file.name, file.bytes)); });
  if (!done.rule.empty()) throw ApiError(400, "plan", done.sentence, "rule '" + done.rule + "'");
  Value lost = Value::array();
  for (const std::string& sentence : done.lost) lost.push(sentence);
  Value out = Value::object();
  out.set("files", std::move(files)).set("lost", std::move(lost));
  return out;
}

std::vector<Exporter> make_exporters() {
  std::vector<Exporter> all{{"json", "NEST plan", plan_file}};
  for (const nest::frameworks::Exporter& target : nest::frameworks::exporters()) {
    if (target.name == "chakra") continue;  // binary, and a file for each rank
    all.push_back({target.name, target.title,
                   [&target](const OpenPlan& open) { return framework_files(target, open); }});
  }
  return all;
}

}  // namespace

std::span<const Exporter> exporters() {
  static const std::vector<Exporter> kExporters = make_exporters();
  return kExporters;
}

const Exporter& find_exporter(std::string_view name) {
  std::string known;
  for (const Exporter& exporter : exporters()) {
    if (exporter.name == name) return exporter;
    known += (known.empty() ? "" : ", ") + std::string(exporter.name);
  }
  throw ApiError(400, "request: to", "unknown target '" + std::string(name) + "'", "known: " + known);
}

Value exported(const Exporter& exporter, const OpenPlan& plan) {
  Value v = exporter.write(plan);
  v.set("to", exporter.name);
  return v;
}

}  // namespace nest::server
