// Comparisons with baselines, also of one's own: nest.compare().
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_comparison(nanobind::module_& module);

}  // namespace nest::python
