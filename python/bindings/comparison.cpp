#include "comparison.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "interruptible.hpp"
#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/report/answer/comparison_text.hpp"
#include "nest/solve/ask/verify.hpp"
#include "nest/solve/baselines/baselines.hpp"
#include "nest/solve/baselines/common/judge.hpp"
#include "nest/solve/baselines/compare.hpp"
#include "plan.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

struct Compared {
  Question question;
  Comparison all;
};

// The callback has the GIL while it runs. It gives a Plan, or None where it has none.
BaselineResult ask_python(const nb::object& find, const PlanQuestion& question) {
  BaselineResult result;
  std::optional<Plan> plan;
  {
    const nb::gil_scoped_acquire acquired;
    const nb::object found = find();
    if (!found.is_none()) plan = nb::cast<const PlanHandle&>(found).plan();
  }
  if (!plan) {
    result.reason = "it found no plan";
    return result;
  }
  Pricer pricer = pricer_of(question);
  judge(std::move(*plan), pricer, result);
  return result;
}

void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Baseline& baseline : baselines()) known.emplace_back(baseline.name);
  for (const std::string& name : names) {
    if (find_baseline(name) == nullptr)
      throw InputError("", "baselines", "there is no baseline '" + name + "'", did_you_mean(name, known));
  }
}

// Every plan that is shown is checked and priced once more, ours and theirs.
void verify(const Comparison& all, const PlanQuestion& question) {
  for (const ComparedPlan& one : all.plans) {
    if (!one.result.plan || one.result.status == PlanStatus::infeasible) continue;
    if (const auto problem = verify_plan(*one.result.plan, question.inputs, question.options.price_options()))
      throw InputError("", one.name, "this is a bug in nest, not in your input: " + *problem);
  }
}

Compared compare_all(const Question& question, const std::vector<std::string>& names,
                     const std::vector<std::pair<std::string, nb::object>>& own, std::int64_t evaluations,
                     std::int64_t seed, nb::object callback) {
  check_names(names);
  PlanQuestion asked = question.ask();
  Progress progress(std::move(callback), asked.options.deadline);
  asked.options.progress = progress.listener();
  CompareOptions options;
  options.baseline.evaluations = evaluations;
  options.baseline.seed = static_cast<std::uint64_t>(seed);
  options.asking = [phase = progress.phases()](std::string_view name) { phase(std::string(name)); };
  // References to Python objects are made and let go with the GIL held.
  for (const auto& entry : own)
    options.own.emplace_back(entry.first,
                             [&entry](const PlanQuestion& q) { return ask_python(entry.second, q); });
  auto all = interruptibly<Comparison>(progress, [&] {
    Comparison made = compare(asked, names, options);
    verify(made, asked);
    return made;
  });
  return {question, std::move(all)};
}

}  // namespace

void add_comparison(nb::module_& module) {
  nb::class_<Compared>(module, "Comparison")
      .def(
          "value", [](const Compared& c) { return to_python(to_value(c.all)); },
          nb::sig("def value(self) -> dict[str, typing.Any]"))
      .def("text", [](const Compared& c) { return comparison_text(c.all, c.question.made()); })
      .def("svg", [](const Compared& c) { return comparison_svg(c.all, c.question.made()); })
      .def(
          "plans",
          [](const Compared& c) {
            nb::dict out;
            for (const ComparedPlan& one : c.all.plans) {
              if (!one.result.plan) continue;
              out[one.name.c_str()] =
                  nb::cast(PlanHandle(c.question.inputs(), *one.result.plan, c.question.price_options()));
            }
            return out;
          },
          nb::sig("def plans(self) -> dict[str, Plan]"));
  module.def("compare", compare_all, nb::arg("question"), nb::arg("names"), nb::arg("own"),
             nb::arg("evaluations"), nb::arg("seed"), nb::arg("progress").none(),
             nb::sig("def compare(question: Question, names: collections.abc.Sequence[str], own: "
                     "list[tuple[str, typing.Callable[[], Plan | None]]], evaluations: int, seed: int, "
                     "progress: typing.Callable[[Progress], object] | None) -> Comparison"));
}

}  // namespace nest::python
