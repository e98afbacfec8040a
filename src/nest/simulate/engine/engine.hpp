// The event-by-event run of one training step. It only tells listeners what happens.
//
// A worker takes its tasks in the schedule's order. Before a pass its input is received: where sends do not
// overlap, sender done and receiver free meet, and the receiver is held; where they do, the send runs on the
// communication stream from when the sender is done. Gradients become ready in parts while the last backward
// pass runs; their reductions, the norm, the optimizer and the gathering of parameters end the step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/simulate/engine/listener.hpp"
#include "nest/simulate/engine/scenario.hpp"

namespace nest::simulate {

struct EngineResult {
  Seconds step;
  Seconds pipeline;              // end of the last pass
  std::int64_t tasks = 0;        // run
  std::vector<double> waited_s;  // by link: time lost because it was full
};

[[nodiscard]] EngineResult run_engine(const Scenario& scenario, std::span<Listener* const> listeners);

}  // namespace nest::simulate
