// Steps and memory that frameworks write into their logs: Megatron-LM, NeMo, torchtitan, DeepSpeed and the Hugging Face
// Trainer. Every format is one row of a table in training_log.cpp.
//
//   const LogReading log = read_training_log("train.log", text, {.global_batch = 256, .sequence = 4096, .devices = 64});
//   log.format                 -> "Megatron-LM"
//   log.step(), log.kept       -> 9.9 s, 38: the median of 38 lines, after those of the warm-up
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/validate/memory_case.hpp"

namespace nest::validate {

// Of the plan that ran: rates become times by it.
struct LogBatch {
  std::int64_t global_batch = 1;
  std::int64_t sequence = 1;
  std::int64_t devices = 1;
};

struct LogReading {
  std::string format;
  std::vector<Seconds> steps;          // without the warm-up, in the order of the log
  std::int64_t dropped = 0;            // lines of the warm-up
  std::optional<MemoryFigure> memory;  // the most of all lines

  [[nodiscard]] Seconds step() const;  // the median
  // 80 % of the steps lie between these.
  [[nodiscard]] Seconds low() const;
  [[nodiscard]] Seconds high() const;
};

// Throws an InputError where there is no line with a step, or where the log is of another global batch.
[[nodiscard]] LogReading read_training_log(const std::string& file, std::string_view text,
                                           const LogBatch& batch);

// Whether any line is one of a known format.
[[nodiscard]] bool is_training_log(std::string_view text);

}  // namespace nest::validate
