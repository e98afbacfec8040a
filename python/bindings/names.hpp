// The names of the library that the bindings see: those of all rooms.
#pragma once

#include "nest/base/rooms.hpp"

namespace nest::python {
using namespace validate;
using namespace report;
}  // namespace nest::python
