#include "values.hpp"

#include <nanobind/stl/string.h>

#include <cmath>

#include "nest/base/error.hpp"

namespace nest::python {
namespace {

// Deeper than any file may be; what contains itself ends here.
constexpr int kDeepest = 64;

std::string kind_of(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

Value whole_number(nb::handle object, const std::string& place) {
  const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) throw InputError("", place, "the number has more than 63 bits");
  if (whole == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return {static_cast<std::int64_t>(whole)};
}

Value read(nb::handle object, const std::string& place, int depth);

Value group(nb::handle object, const std::string& place, int depth) {
  Value out = Value::object();
  for (const auto [key, value] : nb::borrow<nb::dict>(object)) {
    // Layers and devices are often numbered: {512: 900} is {"512": 900}.
    const std::string name = nb::cast<std::string>(nb::str(key));
    out.set(name, read(value, place.empty() ? name : place + "." + name, depth + 1));
  }
  return out;
}

Value list(nb::handle object, const std::string& place, int depth) {
  Value out = Value::array();
  std::size_t index = 0;
  for (const nb::handle item : nb::borrow<nb::object>(object))
    out.push(read(item, place + "[" + std::to_string(index++) + "]", depth + 1));
  return out;
}

Value read(nb::handle object, const std::string& place, int depth) {
  if (depth > kDeepest) throw InputError("", place, "groups and lists are nested too deep");
  if (object.is_none()) return {};
  if (PyBool_Check(object.ptr()) != 0) return {nb::cast<bool>(object)};
  if (PyLong_Check(object.ptr()) != 0) return whole_number(object, place);
  if (PyFloat_Check(object.ptr()) != 0) return {nb::cast<double>(object)};
  if (PyUnicode_Check(object.ptr()) != 0) return {nb::cast<std::string>(object)};
  if (PyDict_Check(object.ptr()) != 0) return group(object, place, depth);
  if (nb::hasattr(object, "__fspath__")) return {nb::cast<std::string>(nb::str(object.attr("__fspath__")()))};
  const bool is_list = PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0 ||
                       PyRange_Check(object.ptr()) != 0 || PyAnySet_Check(object.ptr()) != 0;
  if (is_list) return list(object, place, depth);
  // Arrays and numbers of numpy, torch and others.
  if (nb::hasattr(object, "tolist")) return read(object.attr("tolist")(), place, depth + 1);
  if (PyIndex_Check(object.ptr()) != 0) return whole_number(object, place);
  throw InputError("", place, "a " + kind_of(object) + " is no number, text, list or group of keys");
}

}  // namespace

nb::object to_python(const Value& value) {
  if (const bool* yes = value.as_bool()) return nb::bool_(*yes);
  if (const std::int64_t* whole = value.as_int()) return nb::int_(*whole);
  // As in JSON, what is no number is nothing.
  if (const double* real = value.as_real())
    return std::isfinite(*real) ? nb::object(nb::float_(*real)) : nb::none();
  if (const std::string* text = value.as_string()) return nb::str(text->data(), text->size());
  if (const Value::Array* items = value.as_array()) {
    nb::list out;
    for (const Value& item : *items) out.append(to_python(item));
    return out;
  }
  if (const Value::Object* members = value.as_object()) {
    nb::dict out;
    for (const auto& [key, member] : *members) out[nb::str(key.data(), key.size())] = to_python(member);
    return out;
  }
  return nb::none();
}

Value from_python(nb::handle object, const std::string& place) {
  return read(object, place, 0);
}

Document as_document(const std::string& file, const Value& value) {
  return parse_json(file, to_json_line(value));
}

}  // namespace nest::python
