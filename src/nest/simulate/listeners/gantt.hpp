// A run as the chart that people know: a row for each stage, a box for each pass with its micro-batch's
// number, communication as a thin line below. Long steps show their beginning and their end, with a break.
//
//   stage 0 |0 1 2 3 | ....0000| 4 |1111| 5 | ...
//   stage 1 |  0 1 2 |0000| 3 |1111| 4 | ...
#pragma once

#include <cstdint>
#include <string>

#include "nest/simulate/listeners/timeline.hpp"

namespace nest::simulate {

struct GanttOptions {
  double width = 1200;    // of the picture
  std::int32_t copy = 0;  // as simulated; the first copy where there is no such
  std::string title = "One step";
};

[[nodiscard]] std::string gantt_svg(const Timeline& timeline, const GanttOptions& options = {});

}  // namespace nest::simulate
