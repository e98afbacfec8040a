// Many plans of one question at once: nest.Question.price().
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_prices(nanobind::module_& module);

}  // namespace nest::python
