// How published figures count floating-point operations, and what they say about the time of a step. Three
// definitions cover the sources at hand:
//
//   model, causal      Megatron since 2025, Megatron-Bridge: half of the attention scores
//   model, full        MFU of PaLM, torchtitan, llm-foundry and MaxText: all scores, no recomputation
//   hardware           Megatron SC'21 and those after it (BLOOM, MT-NLG, Alpa): all scores, and a fourth pass
//                      of the layers where everything is recomputed: 96 B s l h^2 (1 + s/6h + V/16lh)
#pragma once

#include <optional>
#include <string>

#include "nest/base/units.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

enum class FlopCount { model_causal, model_full, hardware };

// By the row's own words, else by what its framework prints.
[[nodiscard]] FlopCount flop_count(const RunRow& row);

// Matrices that a token goes through in one block: all of attention, top-k experts, shared experts, router.
[[nodiscard]] std::int64_t block_matmul_parameters(const BlockSpec& block, std::int64_t hidden);

// Of one step of the whole batch.
[[nodiscard]] Flops step_flops(const ModelSpec& spec, const RunRow& row, FlopCount count);

struct MeasuredStep {
  std::optional<Seconds> time;
  std::string why_not;  // where there is none
};
// The time of a step, from whatever the row measures: iteration_s, tokens_per_s_per_gpu, tflops_per_gpu, mfu.
[[nodiscard]] MeasuredStep measured_step(const RunRow& row, const ModelSpec& spec);

// The same figure for another step time, in the row's own unit.
[[nodiscard]] double in_metric_of(const RunRow& row, Seconds measured, Seconds step);

}  // namespace nest::validate
