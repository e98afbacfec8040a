// For tests of schedules: task orders as texts, "F0 F1 B0", with chunks "Fa0 Fb0 Bb0".
#pragma once

#include <string>

#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {

inline std::string spell_order(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  std::string out;
  for (const Task& task : task_order(schedule, shape, stage)) {
    out += out.empty() ? "" : " ";
    out += task.kind == TaskKind::forward ? "F" : task.kind == TaskKind::backward ? "B" : "W";
    if (shape.chunks > 1) out += static_cast<char>('a' + task.chunk);
    out += std::to_string(task.micro_batch);
  }
  return out;
}

}  // namespace nest::plan
