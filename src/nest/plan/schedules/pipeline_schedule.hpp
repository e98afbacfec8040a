// What a pipeline schedule is: the order of tasks on each device, how much they hold in memory, how long they
// take, how a search grows that time stage by stage, and who knows the schedule by which name. One file each
// fills this in; schedules.hpp is the table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/plan/schedules/schedules.hpp"

namespace nest::plan {

enum class TaskKind : std::uint8_t {
  forward,
  backward,        // input gradients, and weight gradients where they are no tasks of their own
  backward_weight  // where they are
};

struct Task {
  TaskKind kind = TaskKind::forward;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
  bool whole = false;      // a backward task with its weight gradients, where others leave them for later
  bool with_next = false;  // a forward task that runs beside the backward task after it

  bool operator==(const Task&) const = default;
};

struct ScheduleShape {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 1;  // of one stage

  [[nodiscard]] std::int64_t parts() const { return stages * chunks; }
  bool operator==(const ScheduleShape&) const = default;
};

// One stage or chunk, in seconds; plain numbers, since formulas go over long arrays of them. f and b include
// receives; b includes weight gradients.
struct StagePass {
  double f = 0;
  double b = 0;
  double weight = 0;  // of b: weight gradients, which some schedules put off
  double pair = 0;    // f and the other chunk's b together, where the schedule runs them beside each other
};

// The time of a pipeline as seconds that grow stage by stage, from the last stage to the first. All are
// monotone: with no number larger, the whole pipeline takes no longer, whatever comes before.
using PipelineLabel = std::array<double, 3>;

struct PipelineForm;
struct PipelineShape {
  const PipelineForm* form = nullptr;
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
};

struct PipelineForm {
  // With one more stage in front, the s-th from the end.
  PipelineLabel (*extended)(const PipelineShape& shape, const PipelineLabel& after, const StagePass& pass,
                            std::int64_t s) = nullptr;
  // Of all stages.
  double (*total)(const PipelineShape& shape, const PipelineLabel& label) = nullptr;
  // No pipeline whose last s stages have this label, and whose k other stages take at least `f` and `b` in
  // sum, is shorter. k is at least 1.
  double (*bound)(const PipelineShape& shape, const PipelineLabel& label, double k, double f,
                  double b) = nullptr;
  // No pipeline of stages that take `f` and `b` in sum, one of them at least `longest` either way, is shorter
  // than this and `bound`.
  double (*whole)(const PipelineShape& shape, double f, double b, const StagePass& longest) = nullptr;
};

// How a micro-batch goes through chunks: always from the first stage to the last and then round again, or
// back the way that it came.
enum class ChunkPath : std::uint8_t { rounds, turns };

// What a framework calls the schedule; no word: it reads task orders from a file.
struct FrameworkWord {
  std::string_view framework;
  std::string_view word;
};

struct PipelineSchedule {
  Schedule id = Schedule::one_f_one_b;
  std::string_view name;         // of plans and command lines
  bool by_default = false;       // searched where nothing is asked
  bool splits_backward = false;  // weight gradients are tasks of their own, which wait
  bool pairs_passes = false;     // forward passes run beside backward passes of the stage's other chunk
  // Chunks of one stage.
  std::int64_t least_chunks = 1;
  std::int64_t most_chunks = 1;
  bool in_rounds = false;         // micro-batches are a multiple of the stages
  std::int64_t least_rounds = 0;  // micro-batches for each stage at least
  ChunkPath path = ChunkPath::rounds;
  bool hides_chunk_sends = false;  // a recipe's overlap.interleaved_sends holds
  std::span<const FrameworkWord> frameworks;

  // The tasks of the device that holds stage `stage` (0 = first), in order.
  std::vector<Task> (*order)(const ScheduleShape& shape, std::int64_t stage) = nullptr;
  // The most stashes of chunks that a stage holds at once, and the same in bytes where chunks differ.
  std::int64_t (*in_flight)(const ScheduleShape& shape, std::int64_t stage) = nullptr;
  Bytes (*peak_stash)(const ScheduleShape& shape, std::int64_t stage,
                      std::span<const Bytes> stashes) = nullptr;
  // Passes of the first chunk's length that lie between its own last one and the last chunk's.
  std::int64_t (*passes_between_chunks)(const ScheduleShape& shape) = nullptr;
  // Forward passes of a chunk that run beside a backward pass.
  std::int64_t (*paired)(const ScheduleShape& shape, std::int64_t stage, std::int64_t chunk) = nullptr;

  // Of schedules without chunks.
  const PipelineForm* form = nullptr;
  // Of schedules with chunks: chunk c of stage i is chunks[i * v + c]. Monotone.
  double (*time)(std::span<const StagePass> chunks, const ScheduleShape& shape) = nullptr;
  // No chunks that take at least `sum` together, with a stage of `longest` or more, are faster.
  double (*bound)(const ScheduleShape& shape, double sum, double longest) = nullptr;

  [[nodiscard]] bool chunked() const { return most_chunks > 1; }
  [[nodiscard]] bool wraps() const { return chunked() && path == ChunkPath::rounds; }
  // Whether the task makes a chunk's gradients: its stash goes after it.
  [[nodiscard]] bool makes_gradients(const Task& task) const {
    return task.kind == TaskKind::backward_weight ||
           (task.kind == TaskKind::backward && (!splits_backward || task.whole));
  }
};

// `warm` forward passes, then one forward and one backward pass at a time, then what is left.
template <class Forward, class Backward>
void alternate(std::int64_t warm, std::int64_t all, const Forward& forward, const Backward& backward) {
  for (std::int64_t k = 0; k < warm; ++k) forward(k);
  for (std::int64_t k = warm; k < all; ++k) {
    forward(k);
    backward(k - warm);
  }
  for (std::int64_t k = all - warm; k < all; ++k) backward(k);
}

[[nodiscard]] inline Task task_of(TaskKind kind, std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {kind, static_cast<std::int32_t>(chunk), static_cast<std::int32_t>(micro_batch)};
}

}  // namespace nest::plan
