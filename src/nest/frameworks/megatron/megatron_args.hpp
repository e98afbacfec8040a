// A plan as Megatron-LM's arguments, and the rules that it must keep. A sample of the file:
//
//   # Parallelism
//   --tensor-model-parallel-size 8
//   --pipeline-model-parallel-size 4
//   --pipeline-model-parallel-layout Et*19|(tttttttttttttttttttt|)*2,t*21L
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nest/frameworks/common/export_rule.hpp"
#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const ExportRule> megatron_rules();

// Model, training, parallelism, memory, communication. What cannot be said is added to `lost`.
[[nodiscard]] std::vector<FlagSection> megatron_arguments(const ExportFacts& facts, RankOrder order,
                                                          std::vector<std::string>& lost);

}  // namespace nest::frameworks
