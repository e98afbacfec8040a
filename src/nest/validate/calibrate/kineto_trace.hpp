// Where the time of profiled steps went on one device: a trace of PyTorch's profiler (Kineto), as export_chrome_trace
// writes it. Kernels of communication libraries are told apart by their names.
//
//   const KinetoTrace trace = read_kineto_trace("rank0.json", text);
//   trace.steps, trace.step     -> 3, 9.9 s
//   trace.compute, trace.alone, trace.idle   -> 8.1 s, 1.2 s, 0.6 s: of one step; they add up to it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nest/base/units.hpp"

namespace nest::validate {

struct KinetoTrace {
  std::int64_t steps = 0;
  std::int64_t kernels = 0;
  // Means over the steps.
  Seconds step;
  Seconds compute;        // some kernel computes
  Seconds alone;          // only communication runs
  Seconds communication;  // communication runs, alone or beside compute
  Seconds idle;           // nothing runs
};

// Throws an InputError where the text is no trace, or has no kernels or steps (ProfilerStep#N).
[[nodiscard]] KinetoTrace read_kineto_trace(const std::string& file, std::string_view text);

// Whether a text is a trace of events.
[[nodiscard]] bool is_kineto_trace(std::string_view text);

}  // namespace nest::validate
