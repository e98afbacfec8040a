// Sets of devices on the command line: "0,5,8..15,0..131071:8" (a..b is inclusive, :n takes every n-th).
#pragma once

#include <string>
#include <vector>

#include "nest/base/ids.hpp"

namespace nest::cli {

// Throws a UsageError for what is no list, an InputError for ids outside the cluster.
[[nodiscard]] std::vector<DeviceId> parse_devices(const std::string& option, const std::string& text,
                                                  std::int32_t devices);

}  // namespace nest::cli
