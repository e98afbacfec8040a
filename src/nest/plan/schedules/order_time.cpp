#include "nest/plan/schedules/order_time.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {
namespace {

constexpr std::size_t kKinds = 3;
constexpr std::int32_t kNothing = -1;

// All tasks of all stages, each after what it waits for.
struct Program {
  struct Step {
    std::int32_t stage;
    std::int32_t slot;   // (stage * chunks + chunk) * kKinds + kind
    std::int32_t after;  // a step before it, or kNothing
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
  std::vector<std::size_t> next(p, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < p; ++i) {
      for (; next[i] < orders[i].size(); ++next[i]) {
        const Task& task = orders[i][next[i]];
        const std::int64_t part =
            part_of(schedule.path, shape.stages, static_cast<std::int64_t>(i), task.chunk);
        std::int32_t after = kNothing;
        if (task.kind == TaskKind::forward && part > 0) {
          after = forward[at(part - 1, task.micro_batch)];
          if (after == kNothing) break;
        } else if (task.kind == TaskKind::backward) {
          after = part + 1 == shape.parts() ? forward[at(part, task.micro_batch)]
                                            : backward[at(part + 1, task.micro_batch)];
          if (after == kNothing) break;
        }
        const auto step = static_cast<std::int32_t>(out.steps.size());
        if (task.kind == TaskKind::forward) forward[at(part, task.micro_batch)] = step;
        if (task.kind == TaskKind::backward) backward[at(part, task.micro_batch)] = step;
        const std::size_t slot =
            (i * static_cast<std::size_t>(shape.chunks) + static_cast<std::size_t>(task.chunk)) * kKinds +
            static_cast<std::size_t>(task.kind);
        out.steps.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(slot), after});
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
  work.reserve(chunks.size() * kKinds);
  for (const StagePass& pass : chunks) {
    const double weight = schedule.splits_backward ? pass.weight : 0;
    work.insert(work.end(), {pass.f, pass.b - weight, weight});
  }
  std::vector<double> now(static_cast<std::size_t>(shape.stages), 0);
  ends.resize(program.steps.size());
  for (std::size_t k = 0; k < program.steps.size(); ++k) {
    const Program::Step& step = program.steps[k];
    double& own = now[static_cast<std::size_t>(step.stage)];
    const double ready = step.after == kNothing ? 0 : ends[static_cast<std::size_t>(step.after)];
    own = std::max(own, ready) + work[static_cast<std::size_t>(step.slot)];
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
    } else if (task.kind == schedule.gradient_task()) {
      held -= stash;
    }
  }
  return most;
}

}  // namespace nest::plan
