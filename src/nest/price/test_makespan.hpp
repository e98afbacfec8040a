// For tests: how long a schedule's task order takes, as the longest path over its tasks. A task begins when
// the one before it on its device is done and its neighbour's is; receiving is part of the task. Two tasks that run
// beside each other begin when both may and end together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/pipeline_time.hpp"

namespace nest::price {

// Chunk c of stage i is passes[i * chunks + c]. None where the tasks wait for each other in a circle.
inline std::optional<double> makespan(Schedule schedule, const ScheduleShape& shape,
                                      const std::vector<StagePass>& passes) {
  const std::int64_t p = shape.stages;
  const std::int64_t last = p * shape.chunks - 1;
  std::vector<std::vector<Task>> orders;
  orders.reserve(static_cast<std::size_t>(p));
  for (std::int64_t i = 0; i < p; ++i) orders.push_back(task_order(schedule, shape, i));
  const bool turns = schedule == Schedule::zb_v || schedule == Schedule::dualpipe_v;
  const bool splits = schedule == Schedule::zb_h1 || turns;
  // By place in the pipeline and micro-batch; negative: not yet done.
  const auto at = [&](std::int64_t place, std::int64_t micro_batch) {
    return static_cast<std::size_t>(place * shape.micro_batches + micro_batch);
  };
  std::vector<double> forward(at(last + 1, 0), -1);
  std::vector<double> backward = forward;
  std::vector<std::size_t> next(orders.size());
  std::vector<double> now(orders.size());
  const auto place_of = [&](std::size_t i, const Task& task) {
    const auto stage = static_cast<std::int64_t>(i);
    return task.chunk * p + (turns && task.chunk == 1 ? p - 1 - stage : stage);
  };
  const auto pass_of = [&](std::size_t i, const Task& task) -> const StagePass& {
    return passes[i * static_cast<std::size_t>(shape.chunks) + static_cast<std::size_t>(task.chunk)];
  };
  // When a task's input is there; negative: not yet known.
  const auto ready = [&](std::size_t i, const Task& task) {
    const std::int64_t place = place_of(i, task);
    if (task.kind == TaskKind::forward) return place == 0 ? 0 : forward[at(place - 1, task.micro_batch)];
    if (task.kind == TaskKind::backward_weight) return 0.0;
    return place == last ? forward[at(place, task.micro_batch)] : backward[at(place + 1, task.micro_batch)];
  };
  const auto work = [&](std::size_t i, const Task& task) {
    const StagePass& pass = pass_of(i, task);
    if (task.kind == TaskKind::forward) return task.with_next ? pass.pair : pass.f;
    if (task.kind == TaskKind::backward_weight) return pass.weight;
    return splits && !task.whole ? pass.b - pass.weight : pass.b;
  };
  const auto end = [&](std::size_t i, const Task& task) {
    if (task.kind == TaskKind::forward) forward[at(place_of(i, task), task.micro_batch)] = now[i];
    if (task.kind == TaskKind::backward) backward[at(place_of(i, task), task.micro_batch)] = now[i];
  };
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      while (next[i] < orders[i].size()) {
        const Task& task = orders[i][next[i]];
        double begin = ready(i, task);
        if (begin < 0) break;
        if (task.with_next) {
          const double other = ready(i, orders[i][next[i] + 1]);
          if (other < 0) break;
          begin = std::max(begin, other);
        }
        now[i] = std::max(now[i], begin) + work(i, task);
        end(i, task);
        ++next[i];
        if (task.with_next) end(i, orders[i][next[i]++]);
        moved = true;
      }
    }
  }
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (next[i] < orders[i].size()) return std::nullopt;
  }
  return *std::max_element(now.begin(), now.end());
}

}  // namespace nest::price
