// What somebody measured or launches: nest.calibrate(), nest.check() and nest.read_launch().
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_measured(nanobind::module_& module);

}  // namespace nest::python
