// A scatter plot of predicted against measured figures on logarithmic axes, one colour for each accelerator,
// with the diagonal and a band around it. Points say what they are when the pointer rests on them.
//
//   write_file("runs.svg", scatter("Step time", "s", points));
#pragma once

#include <span>
#include <string>

#include "nest/base/rooms.hpp"

namespace nest::validate {

struct ScatterPoint {
  std::string name;
  std::string group;  // its colour, and a line of the legend
  double measured = 0;
  double predicted = 0;
};

// The band: predictions within this share of the measured figure.
inline constexpr double kScatterBand = 0.15;

// Points that are not above 0 in both figures are left out.
[[nodiscard]] std::string scatter(const std::string& title, const std::string& unit,
                                  std::span<const ScatterPoint> points);

}  // namespace nest::validate
