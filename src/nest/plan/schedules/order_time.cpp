#include "nest/plan/schedules/order_time.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {
namespace {

// What a step may be: the kinds of tasks, whole backward tasks, and pairs, which are their forward chunk's.
constexpr std::size_t kWhole = 3;
constexpr std::size_t kPair = 4;
constexpr std::size_t kSlots = 5;
constexpr std::int32_t kNothing = -1;

// All tasks of all stages, each after what it waits for; a pair is one step.
struct Program {
  struct Step {
    std::int32_t stage;
    std::int32_t slot;   // (stage * chunks + chunk) * kSlots + what it is
    std::int32_t after;  // a step before it, or kNothing
    std::int32_t also;   // of a pair: the same for its backward task
  };
  const PipelineSchedule* schedule = nullptr;
  ScheduleShape shape;
  std::vector<Step> steps;
};

void make(const PipelineSchedule& schedule, const ScheduleShape& shape, Program& out) {
  out.schedule = &schedule;
  out.shape = shape;
  out.steps.clear();
  const auto p = static_cast<std::size_t>(shape.stages);
  std::vector<std::vector<Task>> orders(p);
  for (std::size_t i = 0; i < p; ++i) orders[i] = schedule.order(shape, static_cast<std::int64_t>(i));
  // The step of each pass, by part and micro-batch.
  const auto at = [&](std::int64_t part, std::int64_t micro_batch) {
    return static_cast<std::size_t>(part * shape.micro_batches + micro_batch);
  };
  std::vector<std::int32_t> forward(at(shape.parts(), 0), kNothing);
  std::vector<std::int32_t> backward = forward;
  const auto part_at = [&](std::size_t stage, const Task& task) {
    return part_of(schedule.path, shape.stages, static_cast<std::int64_t>(stage), task.chunk);
  };
  // What a task waits for; none where that has not run yet.
  const auto input = [&](std::size_t stage, const Task& task) -> std::optional<std::int32_t> {
    const std::int64_t part = part_at(stage, task);
    std::int32_t after = kNothing;
    if (task.kind == TaskKind::backward_weight || (task.kind == TaskKind::forward && part == 0)) return after;
    if (task.kind == TaskKind::forward) {
      after = forward[at(part - 1, task.micro_batch)];
    } else {
      after = part + 1 == shape.parts() ? forward[at(part, task.micro_batch)]
                                        : backward[at(part + 1, task.micro_batch)];
    }
    return after == kNothing ? std::nullopt : std::optional(after);
  };
  const auto done = [&](std::size_t stage, const Task& task, std::int32_t step) {
    if (task.kind == TaskKind::forward) forward[at(part_at(stage, task), task.micro_batch)] = step;
    if (task.kind == TaskKind::backward) backward[at(part_at(stage, task), task.micro_batch)] = step;
  };
  std::vector<std::size_t> next(p, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < p; ++i) {
      while (next[i] < orders[i].size()) {
        const Task& task = orders[i][next[i]];
        const Task* beside = task.with_next ? &orders[i][next[i] + 1] : nullptr;
        const auto after = input(i, task);
        const auto also = beside != nullptr ? input(i, *beside) : std::optional(kNothing);
        if (!after || !also) break;
        const auto step = static_cast<std::int32_t>(out.steps.size());
        const std::size_t what = beside != nullptr ? kPair
                                 : task.whole      ? kWhole
                                                   : static_cast<std::size_t>(task.kind);
        const std::size_t slot =
            (i * static_cast<std::size_t>(shape.chunks) + static_cast<std::size_t>(task.chunk)) * kSlots +
            what;
        out.steps.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(slot), *after, *also});
        done(i, task, step);
        if (beside != nullptr) done(i, *beside, step);
        next[i] += beside != nullptr ? 2 : 1;
        moved = true;
      }
    }
  }
  for (std::size_t i = 0; i < p; ++i) assert(next[i] == orders[i].size());
}

}  // namespace

double order_time(const PipelineSchedule& schedule, std::span<const StagePass> chunks,
                  const ScheduleShape& shape) {
  // A search asks about one shape many times over.
  thread_local Program program;
  thread_local std::vector<double> ends;
  if (program.schedule != &schedule || !(program.shape == shape)) make(schedule, shape, program);
  std::vector<double> work;
  work.reserve(chunks.size() * kSlots);
  for (const StagePass& pass : chunks) {
    const double weight = schedule.splits_backward ? pass.weight : 0;
    work.insert(work.end(), {pass.f, pass.b - weight, weight, pass.b, pass.pair});
  }
  std::vector<double> now(static_cast<std::size_t>(shape.stages), 0);
  ends.resize(program.steps.size());
  for (std::size_t k = 0; k < program.steps.size(); ++k) {
    const Program::Step& step = program.steps[k];
    double& own = now[static_cast<std::size_t>(step.stage)];
    if (step.after != kNothing) own = std::max(own, ends[static_cast<std::size_t>(step.after)]);
    if (step.also != kNothing) own = std::max(own, ends[static_cast<std::size_t>(step.also)]);
    own += work[static_cast<std::size_t>(step.slot)];
    ends[k] = own;
  }
  return *std::max_element(now.begin(), now.end());
}

Bytes order_peak(const PipelineSchedule& schedule, const ScheduleShape& shape, std::int64_t stage,
                 std::span<const Bytes> stashes) {
  Bytes held;
  Bytes most;
  for (const Task& task : schedule.order(shape, stage)) {
    const Bytes stash = stashes[static_cast<std::size_t>(task.chunk)];
    if (task.kind == TaskKind::forward) {
      held += stash;
      most = std::max(most, held);
    } else if (schedule.makes_gradients(task)) {
      held -= stash;
    }
  }
  return most;
}

}  // namespace nest::plan
