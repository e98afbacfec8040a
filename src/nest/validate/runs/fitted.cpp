#include "nest/validate/runs/fitted.hpp"

#include <array>

namespace nest::validate {
namespace {

constexpr std::string_view kAccumulation = "bytes for each parameter and micro-batch";
constexpr std::string_view kFragmentation = "share of memory that the allocator holds besides";
constexpr std::string_view kUpdate = "bytes for each updated parameter during the update";
constexpr std::string_view kZero = "time of ZeRO-3 traffic";
constexpr std::string_view kProducts = "share of the 16-bit peak that products sustain";

// Accelerators carry their value in data/accelerators.yaml; `without` is the measured maximum, or the stated
// default where nobody measured one.
constexpr std::array<FittedConstant, 8> kConstants{{
    {"megatron-deepspeed", kAccumulation, 55, 4, "bigscience-workshop/bigscience"},
    {"megatron-deepspeed", kFragmentation, 0.1, 0.04, "bigscience-workshop/bigscience"},
    {"internevo", kUpdate, 17, 0, "InternLM/InternEvo"},
    {"deepspeed", kZero, 8, 1, "Narayanan"},
    {"b200", kProducts, 0.545, 0.776, "MooreThreads/SimuMax"},
    {"tpu-v4", kProducts, 0.95, 0.7, "AI-Hypercomputer/maxtext"},
    {"tpu-v5e", kProducts, 1, 0.7, "AI-Hypercomputer/maxtext"},
    {"tpu-v5p", kProducts, 1, 0.7, "AI-Hypercomputer/maxtext"},
}};

}  // namespace

std::span<const FittedConstant> fitted_constants_of_runs() {
  return kConstants;
}

void put_fitted(Recipe& recipe, std::string_view framework, const std::string& left_out) {
  for (const FittedConstant& c : kConstants) {
    if (c.subject != framework) continue;
    const double value = c.project == left_out ? c.without : c.value;
    if (c.what == kAccumulation) recipe.accumulation_bytes = value;
    if (c.what == kFragmentation) recipe.fragmentation = value;
    if (c.what == kUpdate) recipe.step_bytes = value;
    if (c.what == kZero) recipe.zero_time = value;
  }
}

Accelerator without_fit(Accelerator accelerator, const std::string& left_out) {
  for (const FittedConstant& c : kConstants) {
    if (c.subject != accelerator.name || c.project != left_out) continue;
    accelerator.matmul_fraction[MathType::bf16] = c.without;
    accelerator.matmul_fraction[MathType::fp16] = c.without;
  }
  return accelerator;
}

}  // namespace nest::validate
