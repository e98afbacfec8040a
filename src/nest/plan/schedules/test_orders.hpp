// For tests of schedules: task orders as texts, "F0 F1 B0", with chunks "Fa0 Fb0 Bb0". Tasks that run beside each
// other are joined, "Fa1+Bb0"; where a schedule has whole backward tasks, those without weight gradients are "Ib0".
#pragma once

#include <string>

#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {

inline std::string spell_order(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  std::string out;
  bool beside = false;
  for (const Task& task : task_order(schedule, shape, stage)) {
    out += out.empty() ? "" : beside ? "+" : " ";
    beside = task.with_next;
    const bool input = schedule_of(schedule).pairs_passes && task.kind == TaskKind::backward && !task.whole;
    out += task.kind == TaskKind::forward           ? "F"
           : task.kind == TaskKind::backward_weight ? "W"
           : input                                  ? "I"
                                                    : "B";
    if (shape.chunks > 1) out += static_cast<char>('a' + task.chunk);
    out += std::to_string(task.micro_batch);
  }
  return out;
}

}  // namespace nest::plan
