#include "nest/plan/schedules/schedules.hpp"

#include <algorithm>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {

std::string_view name_of(Schedule schedule) {
  return schedule_of(schedule).name;
}

std::optional<Schedule> find_schedule(std::string_view name) {
  for (const PipelineSchedule* s : kSchedules) {
    if (s->name == name) return s->id;
  }
  return std::nullopt;
}

std::vector<Schedule> default_schedules() {
  std::vector<Schedule> all;
  for (const PipelineSchedule* s : kSchedules) {
    if (s->by_default) all.push_back(s->id);
  }
  return all;
}

std::vector<Schedule> all_schedules() {
  std::vector<Schedule> all = default_schedules();
  for (const PipelineSchedule* s : kSchedules) {
    if (!s->by_default) all.push_back(s->id);
  }
  return all;
}

std::vector<Schedule> schedules_of(std::string_view framework) {
  std::vector<Schedule> all;
  for (const Schedule schedule : all_schedules()) {
    const auto& words = schedule_of(schedule).frameworks;
    if (std::any_of(words.begin(), words.end(),
                    [&](const FrameworkWord& w) { return w.framework == framework; }))
      all.push_back(schedule);
  }
  return all;
}

std::string_view word_of(Schedule schedule, std::string_view framework) {
  for (const FrameworkWord& word : schedule_of(schedule).frameworks) {
    if (word.framework == framework) return word.word;
  }
  return "";
}

}  // namespace nest::plan
