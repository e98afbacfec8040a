#include "option_values.hpp"

#include <fmt/format.h>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/units.hpp"

namespace nest::cli {

std::int64_t whole_within(const Arguments& arguments, const std::string& option, std::int64_t fallback,
                          std::int64_t least, std::int64_t most) {
  const std::int64_t value = arguments.whole(option).value_or(fallback);
  if (value < least)
    throw InputError("", option,
                     fmt::format("{} is less than {}, the smallest value allowed", format_digits(value),
                                 format_digits(least)));
  if (value > most)
    throw InputError("", option,
                     fmt::format("{} is more than {}, the largest value allowed", format_digits(value),
                                 format_digits(most)));
  return value;
}

Seconds read_seconds(const Arguments& arguments, const std::string& option) {
  const std::string typed = *arguments.text(option);
  const auto time = parse_time(typed);
  if (!time || time->value < 0)
    throw UsageError(fmt::format("{}: '{}' is not a time; try 60 or '60 s'", option, typed));
  return *time;
}

double read_share(const Arguments& arguments, const std::string& option) {
  const auto typed = arguments.text(option);
  if (!typed) return 0;
  const auto share = parse_share(*typed);
  if (!share || !(*share >= 0) || *share > 1e6)
    throw UsageError(fmt::format("{}: '{}' is not a share; try 5% or 0.05", option, *typed));
  return *share;
}

}  // namespace nest::cli
