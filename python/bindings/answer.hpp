// Answers of searches in Python: nest.Question.solve().
#pragma once

#include <nanobind/nanobind.h>

namespace nest::python {

void add_answer(nanobind::module_& module);

}  // namespace nest::python
