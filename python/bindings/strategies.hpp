// Sub-graph strategies that are written in Python: nest.Strategy.
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_strategies(nanobind::module_& module);

}  // namespace nest::python
