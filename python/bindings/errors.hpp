// nest.InputError of Python is the library's InputError, with file, place, what is wrong and a hint.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "names.hpp"

namespace nest::python {

namespace nb = nanobind;

// From here on, InputErrors become nest.InputError.
void add_errors(nb::module_& module);

// Runs something that reads groups of keys from memory: their messages name no line.
void reading_memory(const std::function<void()>& doing);

// Runs something that may refuse a field of what is asked, and names the keyword where it does.
void naming_keywords(const std::function<void()>& doing);

}  // namespace nest::python
