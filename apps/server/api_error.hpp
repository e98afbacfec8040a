// What the API answers with when it cannot do what it was asked: an HTTP status and three texts.
//
//   400 {"error": {"where": "request: line 1, choices.tensor", "what": "'2..x' is no number, list or range",
//                  "hint": "try 1,2,4 or 2..16"}}
#pragma once

#include <stdexcept>
#include <string>

#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"

namespace nest::server {

struct ApiError : std::runtime_error {
  ApiError(int http_status, std::string place, const std::string& what, std::string guess = {})
      : std::runtime_error(what), status(http_status), where(std::move(place)), hint(std::move(guess)) {}

  int status;
  std::string where;
  std::string hint;
};

// Bad input of the library is the client's: 400.
[[nodiscard]] inline ApiError as_api_error(const InputError& error) {
  std::string where = error.file();
  if (!error.place().empty()) where += (where.empty() ? "" : ": ") + error.place();
  return {400, std::move(where), error.problem(), error.hint()};
}

[[nodiscard]] inline Value error_value(const ApiError& error) {
  Value parts = Value::object();
  parts.set("where", error.where).set("what", error.what()).set("hint", error.hint);
  Value v = Value::object();
  v.set("error", std::move(parts));
  return v;
}

}  // namespace nest::server
