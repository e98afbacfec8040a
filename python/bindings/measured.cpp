#include "measured.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/document/yaml_text.hpp"
#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/frameworks/open_launch.hpp"
#include "nest/report/answer/budget.hpp"
#include "nest/validate/calibrate/calibrate.hpp"
#include "plan.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

namespace fs = std::filesystem;

// A launch file, and what it does not say, by the names of `nest import`.
ImportQuestion import_question(const std::string& file, const Value& given) {
  ImportQuestion question{.file = file, .text = read_file(file)};
  const auto text = [&](const char* key) -> std::optional<std::string> {
    const Value* value = given.find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (value->as_string() == nullptr) throw InputError("", key, "a text is expected");
    return *value->as_string();
  };
  const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
    const Value* value = given.find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (value->as_int() == nullptr || *value->as_int() < 1)
      throw InputError("", key, "a whole number from 1 on is expected");
    return *value->as_int();
  };
  question.model = text("model");
  question.cluster = text("cluster").value_or(std::string(kDefaultCluster));
  question.recipe = text("recipe");
  question.devices = whole("devices").value_or(0);
  GivenSizes& sizes = question.given;
  sizes.global_batch = whole("global_batch");
  sizes.micro_batch = whole("micro_batch");
  sizes.sequence = whole("sequence");
  sizes.tensor = whole("tensor");
  sizes.context = whole("context");
  sizes.expert = whole("expert");
  sizes.pipeline = whole("pipeline");
  if (const auto word = text("precision")) {
    sizes.precision = find_precision(*word);
    if (!sizes.precision) throw InputError("", "precision", "'" + *word + "' is none of its values");
  }
  if (const auto word = text("recompute")) {
    sizes.recompute = find_policy(*word);
    if (!sizes.recompute || *sizes.recompute == RecomputePolicy::modules)
      throw InputError("", "recompute", "'" + *word + "' is none of its values");
  }
  question.beside = [folder = fs::path(file).parent_path()](const std::string& name) {
    const std::string path = (folder / name).string();
    std::error_code error;
    return fs::is_regular_file(path, error) ? std::optional(read_file(path)) : std::nullopt;
  };
  if (const auto ranks = text("ranks")) {
    question.rank_map_file = *ranks;
    question.rank_map = read_file(*ranks);
  }
  return question;
}

const Importer* kind_of(const std::string& name) {
  if (name.empty()) return nullptr;
  if (const Importer* importer = find_importer(name)) return importer;
  std::vector<std::string> names;
  for (const Importer& each : importers()) names.emplace_back(each.name);
  throw InputError("", "kind", "there is no kind '" + name + "'", did_you_mean(name, names));
}

PlanHandle read_launch(const std::string& file, const std::string& kind, nb::handle given) {
  const Value sizes = from_python(given, "");
  const nb::gil_scoped_release released;
  Warnings unheard;
  OpenPlan open = open_launch(import_question(file, sizes), kind_of(kind), unheard);
  if (const Value* calibration = sizes.find("calibration"); calibration != nullptr && !calibration->is_null())
    set_calibration(open.inputs, load_calibration(*calibration->as_string()), unheard);
  Pricer pricer(open.inputs);
  Plan plan = pricer.complete(std::move(open.plan));
  const PricedPlan priced = pricer.price(plan);
  if (priced.status == PriceStatus::invalid) throw InputError(file, "", priced.reason);
  plan = with_results(pricer.place(std::move(plan)), priced);
  return {std::make_shared<const PlanInputs>(std::move(open.inputs)), std::move(plan)};
}

nb::object check_plan_budget(const PlanHandle& handle, const std::string& budget) {
  Value value;
  {
    const nb::gil_scoped_release released;
    const std::vector<Budget> budgets = read_budgets(budget);
    Pricer pricer(handle.inputs(), handle.options());
    const PricedPlan priced = pricer.price(handle.plan());
    if (priced.status == PriceStatus::invalid) throw InputError("", "plan", priced.reason);
    value = to_value(check_budgets(budgets, with_results(handle.plan(), priced)));
    value.set("status", name_of(priced.status)).set("reason", priced.reason);
    value.set("predicted", to_value(priced.predicted));
  }
  return to_python(value);
}

// What was measured, and which of these texts are plans that a table names.
struct Measurements {
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::pair<std::string, std::string>> plans;  // by name, as JSON
  std::optional<std::string> plan;                         // that ran, by name
  bool unseen = false;
};

nb::object calibrate_from(const Measurements& from, const GivenInputs& given) {
  CalibrationQuestion question;
  for (const auto& [name, text] : from.files) question.files.push_back({name, text});
  question.plan = from.plan;
  question.unseen = from.unseen;
  Warnings warnings;
  question.open = [&](const std::string& name) {
    const auto own = std::ranges::find(from.plans, name, &std::pair<std::string, std::string>::first);
    const Document document = own != from.plans.end() ? parse_json(name, own->second) : read_document(name);
    std::optional<OpenPlan> open;
    if (document.root.find("inputs") != nullptr) {
      open = read_plan_file(document, warnings);
    } else {
      PlanInputs inputs = open_inputs(given, warnings);
      Reader reader(document);
      Plan plan = read_plan(reader, inputs.recipe, warnings);
      open = OpenPlan{std::move(plan), std::move(inputs)};
    }
    open->plan = Pricer(open->inputs).complete(std::move(open->plan));
    return PreparedRun{std::move(open->inputs), std::move(open->plan), 1};
  };
  question.inputs = [&] { return open_inputs(given, warnings); };
  Value value;
  Value calibration;
  {
    const nb::gil_scoped_release released;
    const CalibrationAnswer answer = nest::validate::calibrate(question);
    warnings.insert(warnings.end(), answer.warnings.begin(), answer.warnings.end());
    value = to_value(answer);
    calibration = to_value(answer.calibration);
  }
  Value told = Value::array();
  for (const std::string& warning : warnings) told.push(warning);
  return nb::make_tuple(to_python(value), to_python(calibration), to_python(told), to_yaml(calibration));
}

nb::object calibrate(const std::vector<std::pair<std::string, std::string>>& files,
                     const std::vector<std::pair<std::string, std::string>>& plans,
                     std::optional<std::string> plan, bool unseen, nb::handle model, nb::handle cluster,
                     nb::handle recipe) {
  const GivenInputs given{from_python(model, "model"), from_python(cluster, "cluster"),
                          from_python(recipe, "recipe"), "", Value()};
  return calibrate_from({files, plans, std::move(plan), unseen}, given);
}

}  // namespace

void add_measured(nb::module_& module) {
  module.def("read_launch", read_launch, nb::arg("file"), nb::arg("kind"), nb::arg("given"),
             nb::sig("def read_launch(file: str, kind: str, given: dict[str, typing.Any]) -> Plan"));
  module.def("check", check_plan_budget, nb::arg("plan"), nb::arg("budget"),
             nb::sig("def check(plan: Plan, budget: str) -> dict[str, typing.Any]"));
  module.def("calibrate", calibrate, nb::arg("files"), nb::arg("plans"), nb::arg("plan").none(),
             nb::arg("unseen"), nb::arg("model"), nb::arg("cluster"), nb::arg("recipe"),
             nb::sig("def calibrate(files: list[tuple[str, str]], plans: list[tuple[str, str]], plan: str | "
                     "None, unseen: bool, model: object, cluster: object, recipe: object) -> "
                     "tuple[dict[str, typing.Any], dict[str, typing.Any], list[str], str]"));
}

}  // namespace nest::python
