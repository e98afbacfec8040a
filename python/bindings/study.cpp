#include "study.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "interruptible.hpp"
#include "nest/base/error.hpp"
#include "nest/question/asked_value.hpp"
#include "nest/report/sweep/sweep_chart.hpp"
#include "nest/report/sweep/sweep_findings.hpp"
#include "nest/report/sweep/sweep_page.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

// Rows of a study, with what was asked.
struct Study {
  std::shared_ptr<const Sweep> sweep;
  std::vector<SweepRow> rows;
};

SweepAxis axis_of(const std::string& field, const nb::object& values) {
  const Value given = from_python(values, field);
  // "12.5GB/s..400GB/s:log6", as the command takes it.
  if (const std::string* text = given.as_string()) return read_sweep_axis(field + "=" + *text);
  if (given.as_array() == nullptr || given.as_array()->empty())
    throw InputError("", field, "a list of values is expected, or a text such as '64,128' or '1..64:log7'");
  SweepAxis axis{field, {}};
  for (const Value& value : *given.as_array()) {
    const auto text = asked_text(value);
    if (!text) throw InputError("", field, std::string(kNoAskedValue));
    axis.values.push_back(*text);
  }
  return axis;
}

Study sweep(const Question& question, const std::vector<std::pair<std::string, nb::object>>& vary,
            nb::object callback) {
  Asked asked = question.made().asked;
  const int threads = static_cast<int>(asked.threads);
  asked.threads = 1;  // of one point: points run side by side
  auto made = std::make_shared<Sweep>(Sweep{{question.whole_inputs(), std::move(asked)}, {}});
  for (const auto& [field, values] : vary) made->axes.push_back(axis_of(field, values));
  if (made->axes.empty()) throw InputError("", "vary", "nothing is varied", "try devices=[256, 512]");
  if (made->axes.size() > kMostSweepAxes || made->points() > kMostSweepPoints)
    throw InputError("", "vary", "at most three fields with 100,000 points can be varied");
  made->base.several_clusters = std::ranges::any_of(
      made->axes, [](const SweepAxis& axis) { return axis.field == "cluster" && axis.values.size() > 1; });
  // A field that does not exist, or none of whose values can be, is told before any search.
  for (const SweepAxis& axis : made->axes) {
    std::size_t wrong = 0;
    for (const std::string& value : axis.values) {
      try {
        (void)question_with(made->base, {{axis.field, value}});
      } catch (const InputError&) {
        if (++wrong == axis.values.size()) throw;
      }
    }
  }
  SweepOptions options;
  options.threads = threads;
  options.deadline = Deadline(question.made().asked.time_limit);
  Progress progress(std::move(callback), options.deadline);
  auto rows = interruptibly<std::vector<SweepRow>>(progress, [&] {
    const auto told = progress.points(made->points());
    return run_sweep(*made, options, [&](const SweepRow& row) {
      if (!row.broken_off) told();
    });
  });
  return {std::move(made), std::move(rows)};
}

nb::object rows_of(const Study& study) {
  nb::list out;
  for (const SweepRow& row : study.rows) out.append(to_python(to_value(row, *study.sweep)));
  return out;
}

}  // namespace

void add_study(nb::module_& module) {
  nb::class_<Study>(module, "Study")
      .def("rows", rows_of, nb::sig("def rows(self) -> list[dict[str, typing.Any]]"))
      .def_prop_ro("points", [](const Study& s) { return s.sweep->points(); })
      .def("findings", [](const Study& s) { return sweep_findings(*s.sweep, s.rows); })
      .def("front", [](const Study& s) { return pareto_front(*s.sweep, s.rows); })
      .def("csv", [](const Study& s) { return sweep_csv(*s.sweep, s.rows); })
      .def("chart", [](const Study& s) { return sweep_chart(*s.sweep, s.rows); })
      .def("page", [](const Study& s) { return sweep_page(*s.sweep, s.rows, "nest.sweep()"); })
      .def("text", [](const Study& s) { return sweep_text(*s.sweep, s.rows); });
  module.def("sweep", sweep, nb::arg("question"), nb::arg("vary"), nb::arg("progress").none(),
             nb::sig("def sweep(question: Question, vary: list[tuple[str, typing.Any]], progress: "
                     "typing.Callable[[Progress], object] | None) -> Study"));
}

}  // namespace nest::python
