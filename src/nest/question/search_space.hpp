// The plans that a search may choose from: the values of every choice (docs/decisions/0004-plan-space.md).
//
//   SearchSpace space;
//   space.tensor = Choice(8);
//   space.pipeline = *read_choice("2..16");
#pragma once

#include <optional>
#include <vector>

#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/choice.hpp"

namespace nest::question {

struct SearchSpace {
  Choice micro_batch;    // open: 1, 2, 4, 8, 16, and more where inputs are short
  Choice tensor;         // open: divisors of the innermost domain's size
  Choice context;        // open: 1; also 2, 4, 8, 16 where the sequence has 16,384 tokens or more
  Choice context_inner;  // open: those of inner_context_values()
  Choice expert;         // open: divisors of the number of experts
  Choice expert_tensor;  // open: 1 and the tensor degree
  Choice pipeline;       // open: 1 to the number of layers
  Choice data;           // Megatron's: side * copies; open: all that the batch and the devices allow
  Choice data_inner;     // open: all divisors of the copies
  Choice block_devices;  // open: those of block_sizes()
  Choice zero;           // open: 0, 1, 2, 3
  Choice zero_shards;    // open: those of zero_shard_sizes()
  Choice interleave;     // open: 1, 2, 3, 4, 6, 8
  // Each list: empty for the default.
  std::vector<Resharding> reshardings;         // with ZeRO 3: always, or what the framework does
  std::vector<bool> sequence_parallel;         // on where tensor is above 1 and divides the positions
  std::vector<ContextMethod> context_methods;  // ring
  std::vector<Dispatcher> dispatchers;         // the recipe's
  std::vector<bool> expert_overlap;            // the recipe's; on where a schedule pairs passes
  std::vector<Schedule> schedules;             // 1f1b and interleaved
  std::vector<bool> first_stage_first;         // both
  // none, selective, full, full on any number of layers, and the model's sets of modules (module_points.hpp); a listed
  // {full, n} allows just that n, a listed {full, 0} whole stages, listed modules without any all sets of the model.
  std::vector<Recompute> recompute;
  bool module_sets = true;  // where nothing is listed: whether sets of modules are there, too
  // Dtypes of gradients, of their reduction and of the optimizer's states: the recipe's.
  std::vector<StateDType> gradient_dtypes;
  std::vector<StateDType> reduce_dtypes;
  std::vector<StateDType> optimizer_dtypes;
  std::vector<bool> master_weights;       // the recipe's
  std::vector<Offload> offload;           // to host memory: nothing
  bool same_recompute = false;            // one for all stages
  bool mixed = false;                     // strategies may differ between stages
  const FrameworkRules* rules = nullptr;  // of find_framework_rules
};

}  // namespace nest::question
