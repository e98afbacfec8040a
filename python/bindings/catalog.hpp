// What comes with the library: names of models, clusters, recipes, baselines and export targets.
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_catalog(nanobind::module_& module);

}  // namespace nest::python
