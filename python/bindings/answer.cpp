#include "answer.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "interruptible.hpp"
#include "nest/base/error.hpp"
#include "nest/question/state_choices.hpp"
#include "nest/report/answer/plans_beside.hpp"
#include "nest/report/answer/whole_answer.hpp"
#include "nest/report/answer/why_not_text.hpp"
#include "nest/report/answer/why_text.hpp"
#include "nest/solve/ask/answer.hpp"
#include "nest/solve/ask/relaxations.hpp"
#include "nest/solve/ask/why.hpp"
#include "plan.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

// What a search found, with its question.
struct Answer {
  Question question;
  SearchResult found;
  AdviceList advice;
};

Answer solve(const Question& asked, bool advise, nb::object callback) {
  PlanQuestion question = asked.ask();
  Progress progress(std::move(callback), question.options.deadline);
  question.options.progress = progress.listener();
  auto out = interruptibly<Answer>(progress, [&] {
    Answer made{asked, nest::solve::answer(question, {.asking = progress.phases()}), {}};
    if (advise && made.found.status == PlanStatus::infeasible)
      made.advice = advise_unfit(question, made.found, {.asking = progress.phases()});
    return made;
  });
  if (out.found.status == PlanStatus::disagreement)
    throw InputError("", "", "this is a bug in nest, not in your input: " + out.found.reason);
  return out;
}

Value value_of(const Answer& a, bool stats) {
  WholeAnswer also{.warnings = a.question.warnings(), .stats = stats};
  if (a.found.plans.empty() && a.found.status != PlanStatus::limit) also.advice = &a.advice;
  return whole_answer(a.question.made(), a.found, also);
}

PlanHandle handle_of(const Answer& a, const Plan& plan) {
  return {a.question.inputs(), plan, a.question.price_options()};
}

// The plan to take, then the others, best first.
std::vector<PlanHandle> plans_of(const Answer& a) {
  std::vector<PlanHandle> out;
  if (a.found.plans.empty()) return out;
  out.push_back(handle_of(a, a.found.plan()));
  for (const Plan* plan : plans_beside(a.found)) out.push_back(handle_of(a, *plan));
  return out;
}

// The question of further searches: of one batch and of one combination of dtypes, where any of several was asked for.
PlanQuestion further(const Answer& a) {
  return settled(a.question.ask(), a.found.plan());
}

void need_plan(const Answer& a) {
  if (a.found.plans.empty()) throw InputError("", "answer", "there is no plan to compare with");
}

// What is not the plan to take, and what would make it the best.
Value why_not_value_of(const Answer& a, const PlanQuestion& question, const WhyNot& other,
                       Progress& progress) {
  Relaxations loosened;
  // The plan to take stands in for the best one: nothing has to be loosened for it.
  if (other.found.status != PlanStatus::disagreement && !other.chosen)
    loosened = relaxations(question, other, a.found.plans.front(), {.asking = progress.phases()});
  return why_not_value(other, loosened, {a.found, question.inputs, question.options});
}

nb::object why_not_of(const Answer& a, const std::string& choice, nb::object callback) {
  need_plan(a);
  SearchSpace space = a.question.made().asked.choices;
  if (const auto problem = pin_choices(choice, space)) throw InputError("", "choice", problem->what);
  PlanQuestion question = further(a);
  Progress progress(std::move(callback), question.options.deadline);
  question.options.progress = progress.listener();
  const auto value = interruptibly<Value>(progress, [&] {
    return why_not_value_of(a, question, why_not(question, choice, a.found.plan()), progress);
  });
  return to_python(value);
}

nb::object why_not_handle(const Answer& a, const PlanHandle& rival, nb::object callback) {
  need_plan(a);
  PlanQuestion question = further(a);
  Progress progress(std::move(callback), question.options.deadline);
  const auto value = interruptibly<Value>(progress, [&] {
    return why_not_value_of(a, question, why_not_plan(question, "plan", rival.plan(), a.found.plan()),
                            progress);
  });
  return to_python(value);
}

nb::object why_of(const Answer& a, nb::object callback) {
  need_plan(a);
  PlanQuestion question = further(a);
  Progress progress(std::move(callback), question.options.deadline);
  question.options.progress = progress.listener();
  const auto value = interruptibly<Value>(progress, [&] {
    const Why list = why(question, a.found.plan(), {.asking = progress.phases()});
    return to_value(list, {a.found, question.inputs, question.options});
  });
  return to_python(value);
}

}  // namespace

void add_answer(nb::module_& module) {
  nb::class_<Answer>(module, "Answer")
      .def(
          "value", [](const Answer& a, bool stats) { return to_python(value_of(a, stats)); },
          nb::arg("stats"), nb::sig("def value(self, stats: bool) -> dict[str, typing.Any]"))
      .def(
          "json", [](const Answer& a, bool stats) { return to_json(value_of(a, stats)); }, nb::arg("stats"))
      .def_prop_ro("status", [](const Answer& a) { return std::string(name_of(a.found.status)); })
      .def_prop_ro("reason", [](const Answer& a) { return a.found.reason; })
      .def_prop_ro("bound", [](const Answer& a) { return a.found.lower_bound.value; })
      .def("plans", plans_of, nb::sig("def plans(self) -> list[Plan]"))
      .def("why_not", why_not_of, nb::arg("choice"), nb::arg("progress").none(),
           nb::sig("def why_not(self, choice: str, progress: typing.Callable[[Progress], object] | None) -> "
                   "dict[str, typing.Any]"))
      .def("why_not_plan", why_not_handle, nb::arg("plan"), nb::arg("progress").none(),
           nb::sig("def why_not_plan(self, plan: Plan, progress: typing.Callable[[Progress], object] | None) "
                   "-> dict[str, typing.Any]"))
      .def("why", why_of, nb::arg("progress").none(),
           nb::sig("def why(self, progress: typing.Callable[[Progress], object] | None) -> "
                   "list[dict[str, typing.Any]]"));
  module.def("solve", solve, nb::arg("question"), nb::arg("advise"), nb::arg("progress").none(),
             nb::sig("def solve(question: Question, advise: bool, progress: typing.Callable[[Progress], "
                     "object] | None) -> Answer"));
}

}  // namespace nest::python
