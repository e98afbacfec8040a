// What a training framework can run, as a table of rules on plans: `nest plan --for megatron` searches only
// plans that break none. The frameworks' rooms add to it.
//
//   find_framework_rules("megatron")->broken(plan)   -> "Megatron-LM needs sequence parallelism where ..."
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/plan/plan.hpp"

namespace nest {

// The choices of a plan apart from its stages.
struct PlanDegrees {
  Training training;
  Parallelism parallelism;
};

struct FrameworkRule {
  std::string_view name;      // "zero-with-pipeline"
  std::string_view sentence;  // why: "DeepSpeed's pipeline engine runs with ZeRO 0 and 1 only"
  bool (*allows)(const PlanDegrees& degrees);
};

struct FrameworkRules {
  std::string_view name;           // "megatron"
  std::string_view title;          // "Megatron-LM"
  bool same_recompute = false;     // one recomputation policy for all stages
  bool contiguous_stages = false;  // stages are ranges of layers in their order
  std::vector<Schedule> schedules;
  std::span<const FrameworkRule> rules;
  bool same_strategy = true;     // one strategy for all stages: no --mixed
  bool whole_recompute = false;  // a policy holds for all layers of a stage, not for a number of them

  // The first rule that these degrees break.
  [[nodiscard]] const FrameworkRule* broken(const PlanDegrees& degrees) const;
};

[[nodiscard]] std::span<const FrameworkRules> all_framework_rules();
[[nodiscard]] const FrameworkRules* find_framework_rules(std::string_view name);

}  // namespace nest
