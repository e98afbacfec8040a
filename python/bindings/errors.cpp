#include "errors.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "nest/base/error.hpp"
#include "nest/question/asked.hpp"

namespace nest::python {
namespace {

void translate(const std::exception_ptr& raised, void* /*unused*/) {
  try {
    std::rethrow_exception(raised);
  } catch (const InputError& error) {
    const nb::object type = nb::module_::import_("nest._errors").attr("InputError");
    const nb::object made = type(error.what(), error.file(), error.place(), error.problem(), error.hint());
    PyErr_SetObject(type.ptr(), made.ptr());
  }
}

[[noreturn]] void fail(const std::string& file, const std::string& place, const std::string& what,
                       const std::string& hint) {
  throw InputError(file, place, what, hint);
}

}  // namespace

void add_errors(nb::module_& module) {
  nb::register_exception_translator(translate);
  module.def("fail", fail, nb::arg("file"), nb::arg("place"), nb::arg("what"), nb::arg("hint") = "",
             nb::sig("def fail(file: str, place: str, what: str, hint: str = '') -> typing.NoReturn"),
             "Raises a nest.InputError whose sentence is made as the library makes its own.");
}

void reading_memory(const std::function<void()>& doing) {
  try {
    doing();
  } catch (const AskedError&) {
    throw;
  } catch (const InputError& error) {
    const std::string line = "line 1";
    std::string place = error.place();
    if (place.starts_with(line)) place.erase(0, line.size());
    if (place.starts_with(", ")) place.erase(0, 2);
    throw InputError(error.file(), place, error.problem(), error.hint());
  }
}

void naming_keywords(const std::function<void()>& doing) {
  try {
    doing();
  } catch (const AskedError& error) {
    std::string keyword = error.field();
    std::replace(keyword.begin(), keyword.end(), '-', '_');
    throw InputError(error.file(), keyword, error.problem(), error.hint());
  }
}

}  // namespace nest::python
