// One copy's step for drawings in a browser: who did what when, as rows of whole numbers. Steps with more
// than can be drawn keep their beginning and their end, and say what is left out.
//
//   {"copy": 0, "tick_s": 2e-6, "kinds": ["forward", ..], "rows": [[0, 0, 0, 0, 511, ..], ..],
//    "left_out": {"from_s": 1.2, "to_s": 6.9, "segments": 90000}}
#pragma once

#include <cstddef>

#include "nest/base/document/value.hpp"
#include "nest/simulate/listeners/timeline.hpp"

namespace nest::report {

inline constexpr std::size_t kTimelineFields =
    5;  // kind, micro-batch, chunk, from, length: the latter in ticks

// The first copy, of which the timeline has every stage.
[[nodiscard]] Value timeline_value(const Timeline& timeline, std::size_t most_segments);

}  // namespace nest::report
