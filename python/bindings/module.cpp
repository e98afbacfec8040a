// nest._core: the library as Python sees it. The package's own modules (python/nest) are what people use.
#include <nanobind/nanobind.h>

#include "answer.hpp"
#include "catalog.hpp"
#include "comparison.hpp"
#include "errors.hpp"
#include "interruptible.hpp"
#include "measured.hpp"
#include "models.hpp"
#include "plan.hpp"
#include "prices.hpp"
#include "question.hpp"
#include "strategies.hpp"
#include "study.hpp"

NB_MODULE(_core, module) {
  // Strategies and the functions they call may refer to each other; at the end of the program such rings are left.
  nanobind::set_leak_warnings(false);
  module.doc() = "The planner itself; the classes and functions of the package nest are made of it.";
  nest::python::add_errors(module);
  nest::python::add_progress(module);
  nest::python::add_strategies(module);
  nest::python::add_models(module);
  nest::python::add_clusters(module);
  nest::python::add_question(module);
  nest::python::add_plan(module);
  nest::python::add_answer(module);
  nest::python::add_prices(module);
  nest::python::add_study(module);
  nest::python::add_comparison(module);
  nest::python::add_measured(module);
  nest::python::add_catalog(module);
}
