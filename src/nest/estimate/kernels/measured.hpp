// Measured accelerator profiles (docs/formats/accelerator-profile.md): what kernels took on a real device.
// Reading one costs about two milliseconds and happens when an accelerator that has a profile is first used.
//
//   const MeasuredProfile* p = shipped_profile("h200");
//   p->series("matmul/forward")->points.front()   -> sizes {256, 768, 768}, seconds 6.3e-06, held_out false
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/embedded.hpp"

namespace nest::estimate {

inline constexpr std::size_t kMostSizes = 8;

struct MeasuredPoint {
  std::array<std::int64_t, kMostSizes> sizes{};  // in the order of the table's columns
  double seconds = 0;
  bool held_out = false;  // kept back from fits, to judge them
};

// The rows of a table that share their words: "matmul/forward", "optimizer/fused/fp32". A 16-bit dtype, the
// usual one, is not in the name.
struct MeasuredSeries {
  std::vector<std::string> columns;  // of `sizes`
  std::vector<MeasuredPoint> points;
};

struct MeasuredProfile {
  std::string accelerator;
  std::string device_name;
  std::string date;
  std::map<std::string, MeasuredSeries, std::less<>> tables;

  [[nodiscard]] const MeasuredSeries* series(std::string_view name) const;
  [[nodiscard]] std::size_t rows() const;
};

// Throws an InputError with the line where the text is no such profile.
[[nodiscard]] MeasuredProfile read_profile(const std::string& file, std::string_view text);

// The profile that comes with the program for this accelerator, or nullptr.
[[nodiscard]] const MeasuredProfile* shipped_profile(std::string_view accelerator);

// data/profiles/*.json, compiled in.
[[nodiscard]] std::span<const EmbeddedFile> profile_files();

}  // namespace nest::estimate
