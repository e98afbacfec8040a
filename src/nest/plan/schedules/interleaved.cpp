// Interleaved 1F1B (Megatron-LM): a stage holds several chunks, p parts of the model apart, and groups of p
// micro-batches pass through one chunk after the other.
#include <algorithm>
#include <array>
#include <cassert>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {
namespace {

// Forward passes before the first backward pass, counted in chunks.
std::int64_t warm_passes(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t after = shape.stages - stage - 1;
  const std::int64_t all = shape.micro_batches * shape.chunks;
  return shape.chunks == 1 ? std::min(all, after)
                           : std::min(all, 2 * after + (shape.chunks - 1) * shape.stages);
}

// Groups of `stages` micro-batches pass through one chunk after the other (Megatron-LM's
// get_model_chunk_id and get_microbatch_id_in_model_chunk); backward passes take the chunks in reverse.
struct Place {
  std::int64_t chunk;
  std::int64_t micro_batch;
};
Place place_of(const ScheduleShape& shape, std::int64_t k) {
  if (shape.chunks == 1) return {0, k};
  const std::int64_t round = shape.stages * shape.chunks;
  const std::int64_t in_round = k % round;
  return {in_round / shape.stages, (k / round) * shape.stages + in_round % shape.stages};
}
std::int64_t backward_chunk(const ScheduleShape& shape, std::int64_t k) {
  return shape.chunks - 1 - place_of(shape, k).chunk;
}

std::vector<Task> order(const ScheduleShape& shape, std::int64_t stage) {
  assert(shape.chunks == 1 || shape.micro_batches % shape.stages == 0);
  const std::int64_t all = shape.micro_batches * shape.chunks;
  std::vector<Task> order;
  order.reserve(static_cast<std::size_t>(2 * all));
  alternate(
      warm_passes(shape, stage), all,
      [&](std::int64_t k) {
        const Place at = place_of(shape, k);
        order.push_back(task_of(TaskKind::forward, at.micro_batch, at.chunk));
      },
      [&](std::int64_t k) {
        order.push_back(
            task_of(TaskKind::backward, place_of(shape, k).micro_batch, backward_chunk(shape, k)));
      });
  return order;
}

std::int64_t in_flight(const ScheduleShape& shape, std::int64_t stage) {
  return std::min(shape.micro_batches * shape.chunks, warm_passes(shape, stage) + 1);
}

Bytes peak_stash(const ScheduleShape& shape, std::int64_t stage, std::span<const Bytes> stashes) {
  const std::int64_t all = shape.micro_batches * shape.chunks;
  const std::int64_t warm = warm_passes(shape, stage);
  const auto stash = [&](std::int64_t chunk) { return stashes[static_cast<std::size_t>(chunk)]; };
  Bytes held;
  for (std::int64_t k = 0; k < warm; ++k) held += stash(place_of(shape, k).chunk);
  Bytes most = held;
  // One round of forward and backward passes leaves as much as there was before it, so one is enough.
  const std::int64_t steps = std::min(all - warm, shape.stages * shape.chunks);
  for (std::int64_t k = 0; k < steps; ++k) {
    held += stash(place_of(shape, warm + k).chunk);
    most = std::max(most, held);
    held -= stash(backward_chunk(shape, k));
  }
  return most;
}

// A round of one pass a stage lies between those of neighbouring chunks.
std::int64_t passes_between_chunks(const ScheduleShape& shape) {
  return (shape.chunks - 1) * shape.stages;
}

constexpr std::size_t kStagesOnStack = 512;

class Numbers {
 public:
  explicit Numbers(std::size_t size) : more_(size > kStagesOnStack ? size : 0) {
    if (more_.empty()) std::fill_n(few_.begin(), size, 0.0);
  }
  [[nodiscard]] double& operator[](std::size_t i) { return more_.empty() ? few_[i] : more_[i]; }

 private:
  std::array<double, kStagesOnStack> few_;
  std::vector<double> more_;
};

struct Warm {
  Numbers start;     // of a stage's first forward pass
  Numbers backward;  // from when its first backward pass could run
  explicit Warm(std::size_t stages) : start(stages), backward(stages) {}
};

// The first round of the schedule, chunk by chunk and stage by stage: exact for the first micro-batch until
// it comes back, since every stage begins with `stages` forward passes of each chunk.
template <class Forward, class Backward>
void warm_up(std::size_t stages, std::size_t chunks, const Forward& f, const Backward& b, Warm& out) {
  const auto group = static_cast<double>(stages);
  Numbers end(stages);  // of the stage's last forward pass so far
  double ready = 0;     // of the first micro-batch at the next chunk
  for (std::size_t c = 0; c < chunks; ++c) {
    double before = 0;
    for (std::size_t i = 0; i < stages; ++i) {
      const double start = std::max(ready, end[i]);
      if (c == 0) out.start[i] = start;
      end[i] = before = std::max(before, start + (group - 1) * f(i, c)) + f(i, c);
      ready = start + f(i, c);
    }
  }
  for (std::size_t i = stages; i-- > 0;) {
    out.backward[i] = ready;
    ready += b(i, chunks - 1);
  }
}

// For every stage: what lies before its first backward pass, its work, and, the schedule being its own mirror
// image in time with forward and backward exchanged, what lies after its last forward pass.
template <class Forward, class Backward>
double interleaved(std::size_t stages, std::size_t chunks, std::int64_t micro_batches, const Forward& f,
                   const Backward& b) {
  Warm early(stages);
  Warm late(stages);
  warm_up(stages, chunks, f, b, early);
  warm_up(stages, chunks, b, f, late);
  const auto m = static_cast<double>(micro_batches);
  const auto group = static_cast<double>(stages);
  double longest = 0;
  for (std::size_t i = 0; i < stages; ++i) {
    // Passes up to the first backward pass: whole chunks of the first round, the last of them begun, then
    // perhaps some of the next round's first chunk.
    const std::size_t extra = 2 * (stages - 1 - i) + 1;
    const std::size_t whole = (chunks - 1) * stages;
    double forward = 0;
    double backward = 0;
    double own_forward = 0;
    double own_backward = 0;
    for (std::size_t c = 0; c < chunks; ++c) {
      const double passes = c + 1 < chunks ? group : static_cast<double>(std::min(extra, stages));
      forward += f(i, c);
      backward += b(i, c);
      own_forward += passes * f(i, c);
      own_backward += passes * b(i, c);
    }
    if (extra > stages) {
      own_forward += static_cast<double>(extra - stages) * f(i, 0);
      own_backward += static_cast<double>(extra - stages) * b(i, 0);
    }
    const double work = m * (forward + backward);
    double own = 0;
    if (static_cast<std::size_t>(micro_batches) * chunks > whole + extra) {
      own = std::max(early.backward[i], early.start[i] + own_forward) + (work - own_forward - own_backward) +
            std::max(late.backward[i], late.start[i] + own_backward);
    } else {
      own = std::max({early.start[i] + work + late.start[i], early.backward[i] + m * backward + late.start[i],
                      early.start[i] + m * forward + late.backward[i]});
    }
    longest = std::max(longest, own);
  }
  return longest;
}

double time(std::span<const StagePass> chunks, const ScheduleShape& shape) {
  const auto p = static_cast<std::size_t>(shape.stages);
  const std::size_t v = chunks.size() / p;
  return interleaved(
      p, v, shape.micro_batches, [&](std::size_t i, std::size_t c) { return chunks[i * v + c].f; },
      [&](std::size_t i, std::size_t c) { return chunks[i * v + c].b; });
}

// The first micro-batch passes through everything, and every stage does its own work.
double bound(const ScheduleShape& shape, double sum, double longest) {
  const auto m = static_cast<double>(shape.micro_batches);
  return std::max({sum, m * longest, m * sum / static_cast<double>(shape.stages)});
}

constexpr std::array<FrameworkWord, 2> kWords{
    {{"megatron", "interleaved"}, {"torchtitan", "Interleaved1F1B"}}};

}  // namespace

constinit const PipelineSchedule kInterleaved{.id = Schedule::interleaved,
                                              .name = "interleaved",
                                              .by_default = true,
                                              .least_chunks = 2,
                                              .most_chunks = 1024,
                                              .in_rounds = true,
                                              .hides_chunk_sends = true,
                                              .frameworks = kWords,
                                              .order = order,
                                              .in_flight = in_flight,
                                              .peak_stash = peak_stash,
                                              .passes_between_chunks = passes_between_chunks,
                                              .time = time,
                                              .bound = bound};

}  // namespace nest::plan
