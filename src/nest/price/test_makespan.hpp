// For tests: how long a schedule's task order takes, as the longest path over its tasks. A task begins when
// the one before it on its device is done and its neighbour's is; receiving is part of the task.
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
  const bool turns = schedule == Schedule::zb_v;
  const bool splits = schedule == Schedule::zb_h1 || schedule == Schedule::zb_v;
  // By place in the pipeline and micro-batch; negative: not yet done.
  const auto at = [&](std::int64_t place, std::int64_t micro_batch) {
    return static_cast<std::size_t>(place * shape.micro_batches + micro_batch);
  };
  std::vector<double> forward(at(last + 1, 0), -1);
  std::vector<double> backward = forward;
  std::vector<std::size_t> next(orders.size());
  std::vector<double> now(orders.size());
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      for (; next[i] < orders[i].size(); ++next[i]) {
        const Task& task = orders[i][next[i]];
        const StagePass& pass =
            passes[i * static_cast<std::size_t>(shape.chunks) + static_cast<std::size_t>(task.chunk)];
        const auto stage = static_cast<std::int64_t>(i);
        const std::int64_t place = task.chunk * p + (turns && task.chunk == 1 ? p - 1 - stage : stage);
        const bool is_forward = task.kind == TaskKind::forward;
        const double split = splits ? pass.weight : 0;
        double ready = 0;
        double work = pass.weight;
        if (is_forward) {
          ready = place == 0 ? 0 : forward[at(place - 1, task.micro_batch)];
          work = pass.f;
        } else if (task.kind == TaskKind::backward) {
          ready = place == last ? forward[at(place, task.micro_batch)]
                                : backward[at(place + 1, task.micro_batch)];
          work = pass.b - split;
        }
        if (ready < 0) break;
        now[i] = std::max(now[i], ready) + work;
        if (is_forward) forward[at(place, task.micro_batch)] = now[i];
        if (task.kind == TaskKind::backward) backward[at(place, task.micro_batch)] = now[i];
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
