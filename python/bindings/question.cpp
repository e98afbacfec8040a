#include "question.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "errors.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/price/run/run_cost.hpp"
#include "nest/question/asked_value.hpp"
#include "nest/question/make_question.hpp"
#include "own_strategy.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

const std::string& name_or_file(const Value& value, const std::string& place) {
  const std::string* name = value.as_string();
  if (name == nullptr) throw InputError("", place, "a name, a file or a group of keys is expected");
  return *name;
}

template <class Result>
Result read_group(const std::string& file, const Value& value,
                  const std::function<Result(const Document&)>& read) {
  std::optional<Result> result;
  reading_memory([&] { result.emplace(read(as_document(file, value))); });
  return std::move(*result);
}

Recipe open_recipe(const Value& given) {
  if (given.as_object() == nullptr) return load_recipe(name_or_file(given, "recipe"));
  return read_group<Recipe>("recipe", given, read_own_recipe);
}

Calibration open_calibration(const Value& given) {
  if (given.as_object() == nullptr) return load_calibration(name_or_file(given, "calibration"));
  return read_group<Calibration>("calibration", given,
                                 [](const Document& d) { return read_calibration(Reader(d)); });
}

Asked read_asked(const nb::dict& options) {
  Asked asked;
  for (const auto [key, object] : options) {
    const std::string name = nb::cast<std::string>(key);
    const Value value = from_python(object, name);
    if (value.is_null()) continue;
    naming_keywords([&] { set_asked_value(asked, name, value); });
  }
  return asked;
}

Question make(PlanInputs inputs, Asked asked, Warnings warnings) {
  std::optional<Question> question;
  naming_keywords([&] {
    question.emplace(std::move(inputs), std::move(asked), std::move(warnings));
    // Prices for other accelerators only are told before any search.
    const PlanQuestion& made = question->made();
    (void)RunCosts(made.asked.run, made.inputs, made.training);
  });
  return std::move(*question);
}

Question open(nb::handle model, nb::handle cluster, nb::handle recipe, const std::string& like,
              nb::handle calibration, const std::vector<OwnStrategy>& strategies, const nb::dict& options) {
  const GivenInputs given{from_python(model, "model"), from_python(cluster, "cluster"),
                          from_python(recipe, "recipe"), like, from_python(calibration, "calibration")};
  Asked asked = read_asked(options);
  const nb::gil_scoped_release released;
  Warnings warnings;
  PlanInputs inputs = open_inputs(given, warnings);
  if (!strategies.empty()) inputs.strategies = table_with(strategies);
  return make(std::move(inputs), std::move(asked), std::move(warnings));
}

// The same inputs, with other things asked besides or in place of what was.
Question change(const Question& question, const nb::dict& options) {
  Asked asked = question.made().asked;
  for (const auto [key, object] : options) {
    const std::string name = nb::cast<std::string>(key);
    const Value value = from_python(object, name);
    naming_keywords([&] {
      if (value.is_null()) throw AskedError(name, {std::string(kNoAskedValue)});
      set_asked_value(asked, name, value);
    });
  }
  const nb::gil_scoped_release released;
  return make(question.whole_inputs(), std::move(asked), question.warnings());
}

// What was pickled: the inputs as plan files hold them, and the options' texts.
Question restore(nb::handle inputs, const nb::dict& options) {
  const Document document = as_document("inputs", from_python(inputs, "inputs"));
  Asked asked = read_asked(options);
  const nb::gil_scoped_release released;
  Reader reader(document);
  Warnings warnings;
  PlanInputs read = read_inputs(reader, warnings);
  return make(std::move(read), std::move(asked), std::move(warnings));
}

nb::object fields() {
  nb::list out;
  for (const AskedField& field : asked_fields()) {
    if (!field.option && field.key.empty()) continue;
    std::string keyword = field.key.empty() ? field.name : field.key;
    std::replace(keyword.begin(), keyword.end(), '-', '_');
    nb::dict one;
    one["name"] = field.name;
    one["argument"] = field.argument;
    one["text"] = field.text;
    one["varies"] = field.varies;
    out.append(one);
  }
  return out;
}

}  // namespace

Cluster open_cluster(const Value& given) {
  if (given.as_object() == nullptr) return load_cluster(name_or_file(given, "cluster"));
  return read_group<Cluster>("cluster", given, [](const Document& d) { return read_cluster(d); });
}

PlanInputs open_inputs(const GivenInputs& given, Warnings& warnings) {
  PlanInputs inputs{{}, {}, open_cluster(given.cluster), open_recipe(given.recipe), {}, {}};
  if (given.model.as_object() != nullptr) {
    Document document = as_document("model", given.model);
    if (!given.like.empty()) mark_like(document, given.like);
    reading_memory([&] { set_model(inputs, document, warnings); });
  } else {
    set_model(inputs, name_or_file(given.model, "model"), warnings, given.like);
  }
  if (!given.calibration.is_null()) set_calibration(inputs, open_calibration(given.calibration), warnings);
  return inputs;
}

Question::Question(PlanInputs inputs, Asked asked, Warnings warnings)
    : made_(std::make_shared<const PlanQuestion>(make_question(std::move(inputs), asked))),
      inputs_(made_, &made_->inputs),
      warnings_(std::move(warnings)) {}

PlanQuestion Question::ask() const {
  PlanQuestion question = *made_;
  question.options.deadline = Deadline(question.asked.time_limit);
  return question;
}

PriceOptions Question::price_options() const {
  return {.pipeline_model = made_->options.pipeline_model};
}

PlanInputs Question::whole_inputs() const {
  PlanInputs inputs = made_->inputs;
  if (made_->whole) inputs.cluster = *made_->whole;
  return inputs;
}

Question::LentPricer::LentPricer(const Question& question) : question_(&question) {
  {
    const std::scoped_lock lock(question.pool_->mutex);
    auto& idle = question.pool_->idle;
    if (!idle.empty()) {
      pricer_ = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (!pricer_) pricer_ = std::make_unique<Pricer>(question.made().inputs, question.price_options());
}

Question::LentPricer::~LentPricer() {
  const std::scoped_lock lock(question_->pool_->mutex);
  question_->pool_->idle.push_back(std::move(pricer_));
}

void add_question(nb::module_& module) {
  nb::class_<Question>(module, "Question")
      .def("change", change, nb::arg("options"),
           nb::sig("def change(self, options: dict[str, typing.Any]) -> Question"))
      .def_prop_ro("warnings",
                   [](const Question& q) {
                     Warnings all = q.warnings();
                     all.insert(all.end(), q.made().notes.begin(), q.made().notes.end());
                     return all;
                   })
      .def_prop_ro(
          "asked", [](const Question& q) { return to_python(to_value(q.made().asked)); },
          nb::sig("def asked(self) -> dict[str, str]"))
      .def_prop_ro(
          "inputs", [](const Question& q) { return to_python(to_value(q.whole_inputs())); },
          nb::sig("def inputs(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "value", [](const Question& q) { return to_python(to_value(q.made())); },
          nb::sig("def value(self) -> dict[str, typing.Any]"))
      .def_prop_ro("model", [](const Question& q) { return q.made().inputs.model_name(); })
      .def_prop_ro("cluster", [](const Question& q) { return q.made().inputs.cluster.name(); })
      .def_prop_ro("devices", [](const Question& q) { return q.made().inputs.cluster.devices(); });
  module.def(
      "question", open, nb::arg("model"), nb::arg("cluster"), nb::arg("recipe"), nb::arg("like"),
      nb::arg("calibration").none(), nb::arg("strategies"), nb::arg("options"),
      nb::sig("def question(model: object, cluster: object, recipe: object, like: str, calibration: "
              "object, strategies: collections.abc.Sequence[Strategy], options: dict[str, typing.Any]) "
              "-> Question"));
  module.def("restore_question", restore, nb::arg("inputs"), nb::arg("options"),
             nb::sig("def restore_question(inputs: dict[str, typing.Any], options: dict[str, str]) -> "
                     "Question"));
  module.def("option_fields", fields, nb::sig("def option_fields() -> list[dict[str, typing.Any]]"),
             "The options of `nest plan` as the library's table has them.");
}

}  // namespace nest::python
