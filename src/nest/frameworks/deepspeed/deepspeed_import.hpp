// DeepSpeed's JSON (ds_config.json) as a plan. The file names no model, no sequence and no expert degree: options
// give them. Stage bounds come from the partition.json of an export beside it, or from pipeline.partition.
//
//   const OpenPlan open = import_deepspeed({.file = "ds_config.json", .text = text, .model = "llama3.1-8b"}, warnings);
#pragma once

#include <cstdint>
#include <optional>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/frameworks/common/import_question.hpp"

namespace nest::frameworks {

// What a launcher says besides the file; Accelerate does.
struct DeepSpeedLaunch {
  std::int64_t ranks = 0;  // 0: nothing
  std::optional<bool> recompute;
};

[[nodiscard]] OpenPlan import_deepspeed(const ImportQuestion& question, Warnings& warnings);
[[nodiscard]] OpenPlan import_deepspeed(const Document& config, const DeepSpeedLaunch& launch,
                                        const ImportQuestion& question, Warnings& warnings);

}  // namespace nest::frameworks
