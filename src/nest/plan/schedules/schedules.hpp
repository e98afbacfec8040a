// The table of pipeline schedules. A new one is a file beside this one that fills in a PipelineSchedule
// (pipeline_schedule.hpp), and its three words here: a value, a declaration and a row. Everybody else asks
// the table.
//
//   schedule_of(Schedule::zb_h1).splits_backward   -> true
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::plan {

enum class Schedule : std::uint8_t { one_f_one_b, gpipe, interleaved, zb_h1, zb_v, dualpipe_v };

struct PipelineSchedule;
extern const PipelineSchedule kOneFOneB;
extern const PipelineSchedule kGPipe;
extern const PipelineSchedule kInterleaved;
extern const PipelineSchedule kZbH1;
extern const PipelineSchedule kZbV;
extern const PipelineSchedule kDualPipeV;

// In the order of the values above.
inline constexpr std::array<const PipelineSchedule*, 6> kSchedules{&kOneFOneB, &kGPipe, &kInterleaved,
                                                                   &kZbH1,     &kZbV,   &kDualPipeV};

[[nodiscard]] inline const PipelineSchedule& schedule_of(Schedule schedule) {
  return *kSchedules[static_cast<std::size_t>(schedule)];
}
// The word of plans and command lines: "1f1b".
[[nodiscard]] std::string_view name_of(Schedule schedule);
[[nodiscard]] std::optional<Schedule> find_schedule(std::string_view name);
// All, those first that are searched where nothing is asked.
[[nodiscard]] std::vector<Schedule> all_schedules();
[[nodiscard]] std::vector<Schedule> default_schedules();
// Those that a framework runs: "megatron".
[[nodiscard]] std::vector<Schedule> schedules_of(std::string_view framework);
// What it calls the schedule; empty where it reads task orders from a file.
[[nodiscard]] std::string_view word_of(Schedule schedule, std::string_view framework);

}  // namespace nest::plan
