// Values of the library as Python's own objects, and back.
//
//   to_python(value)     dict, list, str, int, float, bool, None: what json.loads gives of its JSON
//   from_python(object)  the same, and what stands for one of them: tuples, ranges, numbers of numpy, paths
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "names.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"

namespace nest::python {

namespace nb = nanobind;

[[nodiscard]] nb::object to_python(const Value& value);

// Throws an InputError at `place` where something has no such value.
[[nodiscard]] Value from_python(nb::handle object, const std::string& place);

// A group of keys that was made in Python, for readers of files: messages name `file` and the key.
[[nodiscard]] Document as_document(const std::string& file, const Value& value);

}  // namespace nest::python
