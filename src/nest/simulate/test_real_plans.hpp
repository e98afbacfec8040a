// For tests: random plans of models from the zoo on clusters of the catalogue, priced by the real Pricer.
// The seed is all that a test has to print.
//
//   Draws draws(seed);
//   const RealPlan plan = draws.next();   // "mixtral-8x7b on h800-rail of 256 (megatron): tensor 2, ..."
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/price/price.hpp"

namespace nest::test {
using namespace simulate;

struct RealPlan {
  std::string name;
  std::shared_ptr<Pricer> pricer;
  Plan plan;  // complete and placed
  PricedPlan priced;
};

// In words, enough to make it again by hand.
[[nodiscard]] inline std::string words(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  const Training& t = plan.training;
  std::string text = fmt::format(
      "{}, pipeline {}, data {} (inner {}), {} over {}, {} x {}, batch {} = {} x {} of {} tokens, "
      "stages",
      spell(p.strategy), p.pipeline, p.data, p.data_inner, spell(p.zero), p.zero_shards, name_of(p.schedule),
      p.interleave, t.global_batch, t.micro_batches, t.micro_batch, t.sequence);
  for (const Stage& stage : plan.stages) text += fmt::format(" {}", stage.layers.size());
  return text + ", recomputation " + spell(plan.stages.front().recompute);
}

// Layers moved from part to part of the pipeline, in their order; every part keeps one.
inline void shift_cut(Dice& dice, Plan& plan, std::int64_t moves) {
  const auto v = static_cast<std::size_t>(plan.parallelism.interleave);
  const std::size_t p = plan.stages.size();
  if (p * v < 2) return;
  std::vector<std::int64_t> sizes(p * v);
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const Stage& stage = plan.stages[k % p];
    sizes[k] = static_cast<std::int64_t>(v > 1 ? stage.chunks[k / p].size() : stage.layers.size());
  }
  for (; moves > 0; --moves) {
    const auto from = static_cast<std::size_t>(dice.pick(0, static_cast<std::int64_t>(sizes.size()) - 1));
    const auto to = static_cast<std::size_t>(dice.pick(0, static_cast<std::int64_t>(sizes.size()) - 1));
    if (sizes[from] < 2) continue;
    --sizes[from];
    ++sizes[to];
  }
  for (Stage& stage : plan.stages) {
    stage.layers.clear();
    stage.chunks.clear();
  }
  std::int32_t next = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    std::vector<LayerId> part;
    part.reserve(static_cast<std::size_t>(sizes[k]));
    for (std::int64_t n = 0; n < sizes[k]; ++n) part.emplace_back(next++);
    Stage& stage = plan.stages[k % p];
    stage.layers.insert(stage.layers.end(), part.begin(), part.end());
    if (v > 1) stage.chunks.push_back(std::move(part));
  }
}

class Draws {
 public:
  // With `hybrids` every plan has hybrid context parallelism.
  explicit Draws(unsigned seed, bool hybrids = false) : dice_(seed), hybrids_(hybrids) {}

  // Any plan with a price, whether it fits or not: memory has no part in the time of a step.
  [[nodiscard]] RealPlan next() {
    for (;;) {
      if (left_-- == 0) new_inputs();
      RealPlan out;
      try {
        out.plan = draw();
        out.priced = pricer_->price(out.plan);
        if (out.priced.status == PriceStatus::invalid) continue;
        out.plan = pricer_->place(std::move(out.plan));
      } catch (const InputError&) {  // more parts than blocks
        continue;
      }
      out.pricer = pricer_;
      out.name = where_ + words(out.plan);
      return out;
    }
  }

 private:
  void new_inputs() {
    static const std::vector<std::string> kModels{
        "gpt2-xl",      "llama3.2-1b",      "llama3.1-8b", "llama2-13b", "mixtral-8x7b", "qwen3-30b-a3b",
        "t5-large",     "gpt3-6.7b",        "bert-large",  "qwen2.5-7b", "gemma2-2b",    "mistral-7b",
        "gpt-neox-20b", "whisper-large-v3", "vit-huge",    "phi-2"};
    static const std::vector<std::string> kClusters{
        "h100-spine-leaf",      "dgx-h100-superpod",    "dgx-a100-superpod",  "gb200-nvl72",   "h800-rail",
        "paper-tpuv4-fat-tree", "tpu-v5p-256",          "tpu-v5e-multislice", "ethernet-4to1", "frontier",
        "mi300x-roce",          "dgx-h100-superpod-127"};
    static const std::vector<std::string> kRecipes{"megatron", "torchtitan", "deepspeed", "plain"};
    Warnings warnings;
    const std::string& recipe = dice_.one_of(kRecipes);
    const std::string& cluster = dice_.one_of(kClusters);
    const std::string& model = dice_.one_of(kModels);
    PlanInputs inputs = load_inputs(model, cluster, recipe, warnings);
    inputs.cluster = resized(std::move(inputs.cluster));
    if (inputs.cluster.devices() > 4096) return new_inputs();
    where_ = fmt::format("{} on {} of {} ({}): ", *inputs.model.as_string(), inputs.cluster.name(),
                         inputs.cluster.devices(), inputs.recipe.framework);
    pricer_ = std::make_shared<Pricer>(std::move(inputs));
    left_ = 8;
  }

  // Some clusters cannot have that many devices; they stay as they are.
  [[nodiscard]] Cluster resized(Cluster cluster) {
    const std::int64_t devices = dice_.one_of<std::int64_t>({8, 16, 32, 64, 128, 256, 512, 72, 144, 288});
    try {
      return with_devices(cluster, devices);
    } catch (const InputError&) {
      return cluster;
    }
  }

  [[nodiscard]] Plan draw() {
    const std::int64_t devices = pricer_->inputs().cluster.devices();
    Plan plan;
    Parallelism& p = plan.parallelism;
    p.strategy.tensor = dice_.one_of<std::int64_t>({1, 1, 2, 4, 8});
    p.strategy.sequence_parallel = p.strategy.tensor > 1 && !dice_.once_in(4);
    p.strategy.context = dice_.once_in(6) ? 2 : 1;
    if (hybrids_) {
      p.strategy.context = dice_.one_of<std::int64_t>({4, 4, 8, 16});
      p.strategy.context_method = ContextMethod::hybrid;
      p.strategy.context_inner = p.strategy.context > 4 ? dice_.one_of<std::int64_t>({2, 4}) : 2;
    }
    p.strategy.expert = dice_.one_of<std::int64_t>({1, 1, 1, 2, 4, 8});
    p.schedule = dice_.one_of<Schedule>({Schedule::one_f_one_b, Schedule::one_f_one_b, Schedule::gpipe,
                                         Schedule::interleaved, Schedule::zb_h1});
    p.pipeline = dice_.one_of<std::int64_t>({1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16});
    // Chunks are nearly equal in short pipelines only: their ends have the embedding and the head.
    const bool even = dice_.once_in(3);
    if (even && p.schedule == Schedule::interleaved) p.pipeline = 2;
    const std::int64_t most = devices / (p.strategy.cell() * p.pipeline);
    const std::int64_t copies = std::max<std::int64_t>(1, dice_.once_in(2) ? most : dice_.pick(1, most + 1));
    p.data = copies * p.strategy.side();
    p.data_inner = dice_.divisor_of(copies);
    p.first_stage_first = dice_.once_in(4);
    p.zero = dice_.pick(0, 3);
    if (p.zero.shards_parameters() && dice_.once_in(2))
      p.zero = {3, dice_.once_in(2) ? Resharding{Resharding::Kind::never, 0}
                                    : Resharding{Resharding::Kind::first, dice_.pick(1, 6)}};
    const std::int64_t group = copies * p.strategy.cell() / p.strategy.tensor;
    p.zero_shards = !p.zero.shards_anything() ? 1 : dice_.once_in(2) ? group : dice_.divisor_of(group);
    plan.training.micro_batch = dice_.one_of<std::int64_t>({1, 1, 2, 4});
    plan.training.micro_batches = dice_.pick(1, 48);
    if (p.schedule == Schedule::interleaved) {
      p.interleave = dice_.pick(2, 4);
      plan.training.micro_batches = p.pipeline * dice_.pick(1, 8);
    }
    plan.training.global_batch = p.data * plan.training.micro_batch * plan.training.micro_batches;
    plan.default_recompute.policy = dice_.one_of<RecomputePolicy>(
        {RecomputePolicy::none, RecomputePolicy::selective, RecomputePolicy::full});
    Dice more = dice_;  // the other draws stay as they were
    if (more.once_in(4))
      plan.default_recompute = {RecomputePolicy::modules, 0,
                                RecomputeModules::of_bits(static_cast<std::uint32_t>(more.pick(1, 127)))};
    plan = pricer_->complete(std::move(plan));
    const auto parts = static_cast<std::int64_t>(plan.stages.size()) * p.interleave;
    if (!even) shift_cut(dice_, plan, dice_.pick(1, 2 * parts));
    return plan;
  }

  Dice dice_;
  bool hybrids_ = false;
  std::shared_ptr<Pricer> pricer_;
  std::string where_;
  int left_ = 0;
};

// How far apart the passes of stages (or of chunks) are, receives included: the longest over the shortest,
// less one.
[[nodiscard]] inline double spread_of(const PricedPlan& priced, bool by_chunk) {
  std::vector<double> forward;
  std::vector<double> backward;
  for (const StageCost& s : priced.stages) {
    if (!by_chunk) {
      forward.push_back(s.f().value);
      backward.push_back(s.b().value);
      continue;
    }
    for (const ChunkCost& c : s.chunks) {
      forward.push_back(c.f().value);
      backward.push_back(c.b().value);
    }
  }
  const auto spread = [](const std::vector<double>& times) {
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    return *most / *least - 1;
  };
  return std::max(spread(forward), spread(backward));
}

}  // namespace nest::test
