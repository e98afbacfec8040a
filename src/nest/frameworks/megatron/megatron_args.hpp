// A plan as Megatron-LM's arguments, and the rules that it must keep. A sample of the file:
//
//   # Parallelism
//   --tensor-model-parallel-size 8
//   --pipeline-model-parallel-size 4
//   --pipeline-model-parallel-layout Et*19|(tttttttttttttttttttt|)*2,t*21L
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/frameworks/common/export_rule.hpp"
#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

// Of plans that are written, and of launch files that are read.
[[nodiscard]] std::span<const ExportRule> megatron_rules();
[[nodiscard]] std::span<const ExportRule> megatron_launch_rules();

// Training, parallelism, memory, communication. What cannot be said is added to `lost`.
[[nodiscard]] std::vector<FlagSection> megatron_plan_arguments(const ExportFacts& facts, RankOrder order,
                                                               std::vector<std::string>& lost);
// The model's flags alone; none for a model that is no decoder.
[[nodiscard]] std::optional<FlagSection> megatron_model_arguments(const ExportFacts& facts,
                                                                  std::vector<std::string>& lost);
// The flags of the language part of a model with towers, which a script that builds the towers takes; none for other
// models. What they cannot say is added to `lost`.
[[nodiscard]] std::optional<FlagSection> megatron_language_arguments(const ExportFacts& facts,
                                                                     std::vector<std::string>& lost);
// The model first, then the plan.
[[nodiscard]] std::vector<FlagSection> megatron_arguments(const ExportFacts& facts, RankOrder order,
                                                          std::vector<std::string>& lost);

}  // namespace nest::frameworks
