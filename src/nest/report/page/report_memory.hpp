// What a device of each stage holds while a step runs, for drawings in a browser: the simulated step of the
// first copy. Long steps are cut into equal pieces of time, each with the most that is held in it.
//
//   {"tick_s": 2e-6, "unit_bytes": 1048576, "rows": [[0, 41230, 511, 42310, ..], ..]}
//
// A row has pairs of a time in ticks and what is held from then on.
#pragma once

#include <cstddef>

#include "nest/base/document/value.hpp"
#include "nest/simulate/listeners/memory_use.hpp"

namespace nest::report {

// `memory` keeps its steps. Rows have at most `most_points` pairs each.
[[nodiscard]] Value memory_value(const MemoryUse& memory, Seconds step, std::size_t most_points);

}  // namespace nest::report
