// What-if studies: nest.sweep().
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_study(nanobind::module_& module);

}  // namespace nest::python
