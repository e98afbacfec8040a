// The export target "verl": overrides for verl's Megatron engine, once for the actor of reinforcement learning
// and once for fine-tuning, which torchrun starts on the plan's devices. A sample:
//
//   actor_rollout_ref.actor.megatron.tensor_model_parallel_size=8      (ppo_overrides.txt)
//   engine.tensor_model_parallel_size=8                                (sft_overrides.txt)
#pragma once

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] ExportResult export_verl(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
