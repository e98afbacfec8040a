// Values of options that are a command's own; those of questions are read by the table of asked_fields().
#pragma once

#include <cstdint>
#include <string>

#include "command.hpp"

#include "nest/base/units.hpp"

namespace nest::cli {

// A whole number from least to most; outside it is an InputError.
[[nodiscard]] std::int64_t whole_within(const Arguments& arguments, const std::string& option,
                                        std::int64_t fallback, std::int64_t least, std::int64_t most);
// A share: "5%" and "0.05" are the same; 0 where the option is missing.
[[nodiscard]] double read_share(const Arguments& arguments, const std::string& option);
// A time; the option must be there.
[[nodiscard]] Seconds read_seconds(const Arguments& arguments, const std::string& option);

}  // namespace nest::cli
