#include "nest/frameworks/megatron/megatron_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "nest/base/error.hpp"
#include "nest/frameworks/common/imported_run.hpp"

namespace nest::frameworks {
namespace {

[[noreturn]] void refuse(const std::string& flag, const std::string& what) {
  throw InputError("", flag, what);
}

std::int64_t blocks_of(const PlanInputs& inputs) {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (spec == nullptr)
    return static_cast<std::int64_t>(inputs.profile()->strategies.front().layers.size()) - 2;
  if (spec->stacks.size() != 1) refuse("", "a model of several stacks has no layout of Megatron-LM");
  return static_cast<std::int64_t>(spec->stacks.front().blocks.size());
}

// Blocks of every part; part i belongs to rank i % pipeline.
std::vector<std::int64_t> even_parts(const MegatronSplit& split, std::int64_t blocks, std::int64_t pipeline,
                                     std::int64_t chunks) {
  const std::int64_t slots = (split.embedding_slot ? 1 : 0) + (split.loss_slot ? 1 : 0);
  const std::int64_t parts = pipeline * chunks;
  if ((blocks + slots) % parts != 0) {
    refuse("--pipeline-model-parallel-size",
           fmt::format("{} layers{} do not divide over {} stages{}", blocks,
                       slots > 0 ? fmt::format(" and {} slots", slots) : "", pipeline,
                       chunks > 1 ? fmt::format(" of {} chunks", chunks) : ""));
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(parts), (blocks + slots) / parts);
  if (split.embedding_slot) --counts.front();
  if (split.loss_slot) --counts.back();
  return counts;
}

std::vector<std::int64_t> ends_parts(const MegatronSplit& split, std::int64_t blocks, std::int64_t pipeline,
                                     std::int64_t chunks) {
  const std::int64_t ends = (split.first ? 1 : 0) + (split.last ? 1 : 0);
  const std::int64_t middle = pipeline - ends;
  const std::int64_t left = blocks - split.first.value_or(0) - split.last.value_or(0);
  const std::string flag =
      split.first ? "--decoder-first-pipeline-num-layers" : "--decoder-last-pipeline-num-layers";
  if (middle < 0 || left < 0 || (middle == 0) != (left == 0) || (middle > 0 && left % middle != 0))
    refuse(flag, fmt::format("{} layers do not divide over the other {} stages", left,
                             std::max<std::int64_t>(0, middle)));
  std::vector<std::int64_t> counts;
  for (std::int64_t c = 0; c < chunks; ++c) {
    for (std::int64_t s = 0; s < pipeline; ++s) {
      const std::int64_t own = s == 0 && split.first             ? *split.first
                               : s + 1 == pipeline && split.last ? *split.last
                                                                 : left / std::max<std::int64_t>(1, middle);
      if (own % chunks != 0) refuse(flag, fmt::format("{} layers do not divide into {} chunks", own, chunks));
      counts.push_back(own / chunks);
    }
  }
  return counts;
}

Recompute of_stage(const Recompute& r, const std::vector<std::int64_t>& chunks) {
  if (r.layers == 0) return r;
  const std::int64_t all = std::accumulate(chunks.begin(), chunks.end(), std::int64_t{0});
  std::int64_t recomputed = 0;
  for (const std::int64_t blocks : chunks) recomputed += std::min(blocks, r.layers);
  if (recomputed == all) return {r.policy, 0};
  if (chunks.size() > 1)
    refuse("--recompute-num-layers",
           "a plan recomputes all layers of an interleaved stage, not some of every chunk");
  return r;
}

}  // namespace

void make_stages(const MegatronSplit& split, const Recompute& recompute, const PlanInputs& inputs,
                 Plan& plan) {
  Parallelism& p = plan.parallelism;
  const std::int64_t blocks = blocks_of(inputs);
  if (split.layers_per_chunk) {
    if (blocks % (p.pipeline * *split.layers_per_chunk) != 0) {
      refuse("--num-layers-per-virtual-pipeline-stage",
             fmt::format("{} layers do not divide over {} stages by {}", blocks, p.pipeline,
                         *split.layers_per_chunk));
    }
    p.interleave = blocks / (p.pipeline * *split.layers_per_chunk);
    p.schedule = p.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  }
  std::vector<std::int64_t> counts;
  if (!split.layout.empty()) {
    for (const LayoutPart& part : split.layout) {
      if (part.mtp > 0 && !part.loss)
        refuse("--pipeline-model-parallel-layout",
               "a plan has the modules for multi-token prediction in one stage with the loss");
      if (part.loss && part.mtp != split.predictions)
        refuse("--pipeline-model-parallel-layout",
               fmt::format("it has {} modules for multi-token prediction, the plan {}", part.mtp,
                           split.predictions));
      counts.push_back(part.blocks);
    }
    const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (sum != blocks)
      refuse("--pipeline-model-parallel-layout", fmt::format("it has {} layers, the model {}", sum, blocks));
  } else if (split.first || split.last) {
    counts = ends_parts(split, blocks, p.pipeline, p.interleave);
  } else {
    counts = even_parts(split, blocks, p.pipeline, p.interleave);
  }
  // The embedding comes before the first block, modules for multi-token prediction and the head after the last.
  std::vector<std::int64_t> layers = counts;
  ++layers.front();
  layers.back() += split.predictions + 1;
  if (const auto none = std::find(layers.begin(), layers.end(), 0); none != layers.end())
    refuse("--pipeline-model-parallel-layout", fmt::format("part {} has no layers", none - layers.begin()));
  cut_stages(plan, layers);
  std::vector<std::vector<std::int64_t>> of(plan.stages.size());
  for (std::size_t i = 0; i < counts.size(); ++i) of[i % plan.stages.size()].push_back(counts[i]);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    plan.stages[s].strategy = p.strategy;
    plan.stages[s].recompute = of_stage(recompute, of[s]);
  }
}

}  // namespace nest::frameworks
