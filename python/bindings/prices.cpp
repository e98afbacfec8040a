#include "prices.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "interruptible.hpp"
#include "nest/base/error.hpp"
#include "nest/plan/text/plan_columns.hpp"
#include "nest/price/price_rows.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "plan.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

using Whole = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Degrees of many plans and what they cost.
struct Prices {
  Question question;
  std::shared_ptr<const PlanColumns> columns;
  RowOptions options;
  PricedRows rows;
};

// What a column leaves open is the question's; its micro-batches follow.
PlanColumns open_columns(const Question& question) {
  Training training = question.made().training;
  training.micro_batch = training.micro_batches = 0;
  return {question.made().inputs.recipe, std::move(training)};
}

Prices price_columns(
    const Question& question, const std::vector<std::pair<std::string, nb::object>>& numbers,
    const std::vector<std::pair<std::string, std::pair<nb::object, std::vector<std::string>>>>& words) {
  auto columns = std::make_shared<PlanColumns>(open_columns(question));
  const auto whole = [](const nb::object& object) {
    const auto array = nb::cast<Whole>(object);
    return std::vector<std::int64_t>(array.data(), array.data() + array.size());
  };
  for (const auto& [key, values] : numbers) columns->add(key, whole(values));
  for (const auto& [key, coded] : words) {
    const std::vector<std::int64_t> codes = whole(coded.first);
    columns->add(key, {codes.begin(), codes.end()}, coded.second);
  }
  const RowOptions options{.devices = question.made().inputs.cluster.devices()};
  const Deadline deadline;
  Progress progress(nb::none(), deadline);
  PricedRows rows;
  const auto work = [&] {
    RowOptions stopping = options;
    stopping.go_on = [&](std::size_t /*done*/) { return !deadline.cancelled(); };
    Question::LentPricer pricer(question);
    price_rows(*pricer, *columns, stopping, rows);
  };
  run_interruptibly(progress, work);
  return {question, std::move(columns), options, std::move(rows)};
}

// A view of a column, which lives as long as the array does.
template <class T>
nb::object array_of(nb::handle owner, const std::vector<T>& values) {
  using Array = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;
  return nb::cast(Array(values.data(), {values.size()}, owner), nb::rv_policy::reference);
}

nb::object column(nb::handle self, const std::string& name) {
  const PricedRows& rows = nb::cast<const Prices&>(self).rows;
  if (name == "devices") return array_of(self, rows.devices);
  const std::pair<const char*, const std::vector<double>*> known[] = {
      {"step", &rows.step_s},
      {"tokens_per_s", &rows.tokens_per_s},
      {"mfu", &rows.mfu},
      {"bubble_fraction", &rows.bubble_fraction},
      {"memory_bytes", &rows.memory_bytes},
      {"fits_probability", &rows.fits_probability}};
  for (const auto& [key, values] : known) {
    if (name == key) return array_of(self, *values);
  }
  for (std::size_t i = 0; i < kBreakdownKeys.size(); ++i) {
    if (name == kBreakdownKeys[i].key) return array_of(self, rows.breakdown[i]);
  }
  throw InputError("", "column", "there is no column '" + name + "'");
}

std::vector<std::string> statuses(const Prices& prices) {
  std::vector<std::string> out;
  for (const PriceStatus status : prices.rows.status) out.emplace_back(name_of(status));
  return out;
}

std::size_t checked(const Prices& prices, std::size_t row) {
  if (row >= prices.columns->size()) throw nb::index_error("there is no such plan");
  return row;
}

// A row as an evaluate line has it.
nb::object row_value(const Prices& prices, std::size_t row) {
  (void)checked(prices, row);
  Value value;
  {
    const nb::gil_scoped_release released;
    PricedPlan priced;
    priced.status = PriceStatus::invalid;
    try {
      Question::LentPricer pricer(prices.question);
      priced = (*pricer).price(row_plan(*pricer, *prices.columns, row, prices.options));
    } catch (const InputError& error) {
      priced.reason = error.what();
    }
    value = priced_value(priced);
  }
  return to_python(value);
}

PlanHandle row_handle(const Prices& prices, std::size_t row) {
  (void)checked(prices, row);
  const nb::gil_scoped_release released;
  Question::LentPricer pricer(prices.question);
  Plan plan = row_plan(*pricer, *prices.columns, row, prices.options);
  const PricedPlan priced = (*pricer).price(plan);
  if (priced.status == PriceStatus::invalid) throw InputError("", "plan", priced.reason);
  plan = with_results((*pricer).place(std::move(plan)), priced);
  return {prices.question.inputs(), std::move(plan), prices.question.price_options()};
}

std::vector<std::string> breakdown_keys() {
  std::vector<std::string> keys;
  for (const auto& one : kBreakdownKeys) keys.emplace_back(one.key);
  return keys;
}

}  // namespace

void add_prices(nb::module_& module) {
  nb::class_<Prices>(module, "Prices")
      .def("__len__", [](const Prices& p) { return p.rows.status.size(); })
      .def("column", column, nb::arg("name"), nb::sig("def column(self, name: str) -> typing.Any"))
      .def_prop_ro("status", statuses)
      .def_prop_ro("reasons", [](const Prices& p) { return p.rows.reasons; })
      .def_prop_ro("fits",
                   [](const Prices& p) {
                     std::vector<bool> out;
                     for (const PriceStatus s : p.rows.status) out.push_back(s == PriceStatus::feasible);
                     return out;
                   })
      .def("value", row_value, nb::arg("row"), nb::sig("def value(self, row: int) -> dict[str, typing.Any]"))
      .def("plan", row_handle, nb::arg("row"));
  module.def("price_columns", price_columns, nb::arg("question"), nb::arg("numbers"), nb::arg("words"),
             nb::sig("def price_columns(question: Question, numbers: list[tuple[str, typing.Any]], words: "
                     "list[tuple[str, tuple[typing.Any, list[str]]]]) -> Prices"));
  module.def("number_keys", &PlanColumns::number_keys);
  module.def("word_keys", &PlanColumns::word_keys);
  module.def("breakdown_keys", breakdown_keys);
}

}  // namespace nest::python
