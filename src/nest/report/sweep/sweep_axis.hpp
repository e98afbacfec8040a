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

// What one pays for: more of it (devices, bandwidth, memory), less of it (latency, oversubscription), or
// neither (batch sizes, degrees, what a recipe does).
enum class Dearer { more, less, neither };
[[nodiscard]] Dearer dearer(const SweepAxis& axis);

// Whether its values are sizes, with a distance between them; else they are categories: names, and stages of
// ZeRO.
[[nodiscard]] bool is_numeric(const SweepAxis& axis);
// "GB/s", "sequences": what its numbers count; empty where that is not known or differs.
[[nodiscard]] std::string unit_of(const SweepAxis& axis);
// Without a unit that all values have.
[[nodiscard]] std::vector<std::string> short_values(const SweepAxis& axis);

// A value as a number, in SI units where it has one; none where it is a word.
[[nodiscard]] std::optional<double> sweep_number(std::string_view value);

}  // namespace nest::report
