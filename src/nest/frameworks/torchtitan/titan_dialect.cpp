#include "nest/frameworks/torchtitan/titan_dialect.hpp"

#include "nest/base/document/toml.hpp"
#include "nest/frameworks/common/settings.hpp"
#include "nest/frameworks/torchtitan/titan_settings.hpp"
#include "nest/frameworks/torchtitan/torchtitan.hpp"

namespace nest::frameworks {
namespace {

std::vector<Flag> settings(const ExportFacts& facts) {
  return flat_settings(parse_toml("train.toml", titan_toml(facts)).root);
}

}  // namespace

const Dialect& torchtitan_dialect() {
  static const Dialect kDialect{
      .name = "torchtitan",
      .framework = "torchtitan",
      .title = "torchtitan",
      .recipe = "torchtitan",
      .noun = "setting",
      .free = {{"compile.enable = true", nullptr, &Recipe::compiled}},
      .knobs = {{Turn::recompute, 0, "activation_checkpoint.mode = \"none\""},
                {Turn::recompute, 1, "activation_checkpoint.selective_ac_option = \"op\""},
                {Turn::recompute, 2, "activation_checkpoint.mode = \"full\""},
                {Turn::micro_batch,
                 0,
                 "training.local_batch_size = {0} (global_batch_size = {1})",
                 {},
                 Where::outside_pipelines},
                {Turn::micro_batch,
                 0,
                 "parallelism.pipeline_parallel_microbatch_size = {0}",
                 {},
                 Where::in_pipelines},
                {Turn::reshard, 0, "parallelism.fsdp_reshard_after_forward = \"always\""},
                {Turn::reshard, 1, "parallelism.fsdp_reshard_after_forward = \"never\""}},
      .rules_of_exports = {"whole-recomputation"},
      .rules = torchtitan_rules,
      .settings = settings};
  return kDialect;
}

}  // namespace nest::frameworks
