// A run as a trace that chrome://tracing and Perfetto open: a process for each copy, a track for each stream,
// arrows from the end of a pass to the receive that waits for it, and counters of memory.
//
//   {"name": "F3", "cat": "forward", "ph": "X", "pid": 0, "tid": 2, "ts": 1501.000, "dur": 1000.000}
#pragma once

#include <string>

#include "nest/simulate/listeners/memory_use.hpp"
#include "nest/simulate/listeners/timeline.hpp"

namespace nest::simulate {

// `memory` must have kept its steps.
[[nodiscard]] std::string chrome_trace(const Timeline& timeline, const MemoryUse& memory);

}  // namespace nest::simulate
