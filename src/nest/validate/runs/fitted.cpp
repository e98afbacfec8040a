#include "nest/validate/runs/fitted.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace nest::validate {
namespace {

constexpr std::string_view kAccumulation = "bytes for each parameter and micro-batch";
constexpr std::string_view kFragmentation = "share of memory that the allocator holds besides";
constexpr std::string_view kUpdate = "bytes for each updated parameter during the update";
constexpr std::string_view kZero = "time of ZeRO-3 traffic";
constexpr std::string_view kClocks = "clocks of 16-bit products under power, over those of isolated ones";
constexpr std::string_view kHost = "time of issuing a kernel, over plain PyTorch";
constexpr std::string_view kProducts = "share of the 16-bit peak that products sustain";

constexpr std::array<FittedConstant, 6> kFrameworks{{
    {"megatron-deepspeed", kAccumulation, 55, 4, "bigscience-workshop/bigscience"},
    {"megatron-deepspeed", kFragmentation, 0.1, 0.04, "bigscience-workshop/bigscience"},
    {"internevo", kUpdate, 17, 0, "InternLM/InternEvo"},
    {"deepspeed", kZero, 8, 1, "Narayanan"},
    // Runs of the other project alone say the same.
    {"nemo-megatron", kHost, 1.8, 1.8, "NVIDIA-NeMo/Megatron-Bridge"},
    {"megatron", kHost, 1.8, 1.8, "yanring/Megatron-MoE-ModelZoo"},
}};

// Accelerators carry their constants in data/accelerators.yaml: `matmul_fit`, whose `without` is the measured
// maximum, or the stated default where nobody measured one.
std::vector<FittedConstant> all_constants() {
  std::vector<FittedConstant> out(kFrameworks.begin(), kFrameworks.end());
  for (const Accelerator& a : accelerators()) {
    if (a.matmul_fit)
      out.push_back({a.name, kProducts, a.matmul_share(MathType::bf16).value, a.matmul_fit->without,
                     a.matmul_fit->project});
    if (a.power_fit)
      out.push_back(
          {a.name, kClocks, a.power_share(MathType::bf16).value, a.power_fit->without, a.power_fit->project});
  }
  return out;
}

}  // namespace

std::span<const FittedConstant> fitted_constants_of_runs() {
  static const std::vector<FittedConstant> kAll = all_constants();
  return kAll;
}

void put_fitted(Recipe& recipe, std::string_view framework, const std::string& left_out) {
  for (const FittedConstant& c : kFrameworks) {
    if (c.subject != framework) continue;
    const double value = c.project == left_out ? c.without : c.value;
    if (c.what == kAccumulation) recipe.accumulation_bytes = value;
    if (c.what == kFragmentation) recipe.fragmentation = value;
    if (c.what == kUpdate) recipe.step_bytes = value;
    if (c.what == kZero) recipe.zero_time = value;
    if (c.what == kHost) recipe.host_time = value;
  }
}

Accelerator without_fit(Accelerator accelerator, const std::string& left_out) {
  if (accelerator.matmul_fit && accelerator.matmul_fit->project == left_out) {
    accelerator.matmul_fraction[MathType::bf16] = accelerator.matmul_fit->without;
    accelerator.matmul_fraction[MathType::fp16] = accelerator.matmul_fit->without;
  }
  if (accelerator.power_fit && accelerator.power_fit->project == left_out) {
    const double change = accelerator.power_fit->without / accelerator.power_share(MathType::bf16).value;
    for (auto& [type, clock] : accelerator.power_clock) clock = std::min(1.0, clock * change);
  }
  return accelerator;
}

}  // namespace nest::validate
