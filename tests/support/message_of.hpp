// The sentence of the InputError that a call throws, or "(no error)": EXPECT_EQ(message_of([&] { f(); }), "x:
// line 1: ...").
#pragma once

#include <string>
#include <utility>

#include "nest/base/error.hpp"

namespace nest::base {

template <class Call>
std::string message_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace nest::base
