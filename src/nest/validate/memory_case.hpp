// What a published memory figure is: which bytes it counts, in which unit, and on which device.
//
//   "GiB, max over ranks torch.cuda.max_memory_allocated"   -> allocated, GiB, the fullest stage
//   "GB, nvidia-smi (incl. CUDA context), max GPU"          -> device, GiB, the fullest stage
//   "OOM on 80GB"                                           -> out of memory: no figure, it must not fit
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nest/base/units.hpp"
#include "nest/validate/runs/run_case.hpp"
#include "nest/validate/runs/run_predictor.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

enum class MemoryKind {
  allocated,  // tensors, as the framework's allocator counts them
  reserved,   // what the allocator holds: allocated and fragments
  device,     // as the driver reports: reserved, context and communicators
  computed,   // from a formula, first stage: parameters, gradients, optimizer and stashes
  out_of_memory,
};
[[nodiscard]] std::string_view name_of(MemoryKind kind);

struct MemoryFigure {
  MemoryKind kind = MemoryKind::allocated;
  Bytes bytes;  // none for out_of_memory
};
struct MemoryFigureOr {
  std::optional<MemoryFigure> figure;
  std::string why_not;
};
[[nodiscard]] MemoryFigureOr memory_figure(const RunRow& row);

// The same of a prediction: the fullest stage, or the first for computed figures.
[[nodiscard]] Bytes predicted_bytes(MemoryKind kind, const PreparedRun& run, const RunPrediction& prediction);
// Parameters, gradients and optimizer states of that stage: what a simple model would count.
[[nodiscard]] Bytes static_bytes(MemoryKind kind, const RunPrediction& prediction);

}  // namespace nest::validate
