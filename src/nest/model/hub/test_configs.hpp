// For tests: config.json texts as specs, counts and error messages.
#pragma once

#include <cstdint>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/hub/hub_config.hpp"

namespace nest::model {

inline ModelSpec spec_of(const std::string& json) {
  Warnings warnings;
  return read_hub_config(parse_json("config.json", json), "x", warnings);
}

inline std::int64_t parameters_of(const std::string& json) {
  return build_model(spec_of(json)).parameters();
}

// The count, or why there is none.
inline std::string count_or_message(const std::string& json) {
  try {
    return std::to_string(parameters_of(json));
  } catch (const InputError& e) {
    return e.what();
  }
}

inline std::string config_message(const std::string& json) {
  try {
    static_cast<void>(parameters_of(json));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace nest::model
