#include "nest/frameworks/megatron/megatron_dialect.hpp"

#include "nest/frameworks/megatron/megatron_args.hpp"

namespace nest::frameworks {
namespace {

std::vector<Flag> settings(const ExportFacts& facts) {
  std::vector<std::string> lost;
  std::vector<Flag> flags;
  for (const FlagSection& group : megatron_arguments(facts, RankOrder::data_before_stage, lost))
    flags.insert(flags.end(), group.flags.begin(), group.flags.end());
  return flags;
}

}  // namespace

const Dialect& megatron_dialect() {
  static const Dialect kDialect{
      .name = "megatron",
      .framework = "megatron",
      .title = "Megatron-LM",
      .recipe = "megatron",
      .noun = "flag",
      .free = {{"--overlap-grad-reduce", &Overlap::gradient_reduce},
               {"--overlap-param-gather", &Overlap::parameter_gather},
               {"no --no-overlap-p2p-communication", &Overlap::interleaved_sends}},
      .knobs = {{Turn::recompute, 0, "no --recompute-granularity"},
                {Turn::recompute, 1, "--recompute-granularity selective"},
                {Turn::recompute, 2, "--recompute-granularity full"},
                {Turn::micro_batch, 0, "--micro-batch-size {0}"},
                {Turn::zero, 1, "--use-distributed-optimizer", {0}},
                {Turn::zero, 0, "no --use-distributed-optimizer", {1}},
                {Turn::sequence_parallel, 1, "--sequence-parallel"}},
      .sharding_hint = "Megatron-FSDP does not start with CUDA_DEVICE_MAX_CONNECTIONS=1: unset it",
      .rules = megatron_launch_rules,
      .settings = settings};
  return kDialect;
}

}  // namespace nest::frameworks
