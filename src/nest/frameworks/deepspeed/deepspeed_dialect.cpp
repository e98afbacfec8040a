#include "nest/frameworks/deepspeed/deepspeed_dialect.hpp"

#include "nest/frameworks/common/settings.hpp"
#include "nest/frameworks/deepspeed/deepspeed.hpp"

namespace nest::frameworks {
namespace {

std::vector<Flag> settings(const ExportFacts& facts) {
  return flat_settings(deepspeed_config(facts));
}

}  // namespace

const Dialect& deepspeed_dialect() {
  static const Dialect kDialect{.name = "deepspeed",
                                .framework = "deepspeed",
                                .title = "DeepSpeed",
                                .recipe = "deepspeed",
                                .noun = "key",
                                .free = {{"zero_optimization.overlap_comm: true", &Overlap::gradient_reduce}},
                                .knobs = {{Turn::recompute, 0, "no activation checkpointing"},
                                          {Turn::recompute, 2, "activation checkpointing of every block"},
                                          {Turn::micro_batch, 0, "train_micro_batch_size_per_gpu: {0}"},
                                          {Turn::zero, 0, "zero_optimization.stage: 0", {1, 2, 3}},
                                          {Turn::zero, 1, "zero_optimization.stage: 1", {0, 2, 3}},
                                          {Turn::zero, 2, "zero_optimization.stage: 2", {0, 1, 3}},
                                          {Turn::zero, 3, "zero_optimization.stage: 3", {0, 1, 2}}},
                                .rules = deepspeed_rules,
                                .settings = settings};
  return kDialect;
}

}  // namespace nest::frameworks
