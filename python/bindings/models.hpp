// Models and clusters of Python: what a question takes, looked at by itself.
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_models(nanobind::module_& module);
void add_clusters(nanobind::module_& module);

}  // namespace nest::python
