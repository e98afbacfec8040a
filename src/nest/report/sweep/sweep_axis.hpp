// One axis of a what-if study: a field of the inputs and the values it takes.
//
//   read_sweep_axis("cluster.levels.2.bandwidth=12.5GB/s..400GB/s:log6")->values
//       -> "12.5GB/s", "25GB/s", "50GB/s", "100GB/s", "200GB/s", "400GB/s"
//   read_sweep_axis("devices=64,128,256")
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::report {

struct SweepAxis {
  std::string field;
  std::vector<std::string> values;  // as a person would type them
};

inline constexpr std::size_t kMostSweepValues = 1'000;

// FIELD=A,B,.. or FIELD=A..B:N (N values, evenly spaced) or FIELD=A..B:logN (evenly spaced ratios). Throws an
// InputError that says what is wrong.
[[nodiscard]] SweepAxis read_sweep_axis(const std::string& text);

// A value as a number, in SI units where it has one; none where it is a word.
[[nodiscard]] std::optional<double> sweep_number(std::string_view value);

}  // namespace nest::report
