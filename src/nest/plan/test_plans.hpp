// Random inputs and plans for properties of prices: uneven clusters, layer profiles with several strategies,
// and plans of all kinds on them. The seed is all that a test has to print.
//
//   Dice dice(seed);
//   const PlanInputs inputs = random_inputs(dice);
//   const Plan plan = random_plan(dice, inputs);
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nest/cluster/cluster_file.hpp"
#include "nest/network/groups/test_random.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/plan/schedules/schedules.hpp"

namespace nest::test {
using namespace plan;

// 4 to 9 layers in a chain, some with an edge that skips ahead; tensor 1 and 2, context 2 and expert 2. What
// comes into a layer is never more than it keeps, as in any real one.
[[nodiscard]] inline LayerProfile random_profile(Dice& dice) {
  LayerProfile profile;
  profile.name = "random";
  profile.sequence = 512;
  const std::int64_t layers = dice.pick(4, 9);
  const bool twins = dice.once_in(3);  // all layers alike: prices of equal stages are copied
  std::vector<Edge> edges;
  for (std::int32_t i = 0; i + 1 < layers; ++i) {
    const std::string tensor = "out" + std::to_string(i);
    const Bytes bytes{dice.pick(1, 40) * 1'000'000};
    edges.push_back({LayerId{i}, LayerId{i + 1}, tensor, bytes});
    if (i + 2 < layers && dice.once_in(4)) edges.push_back({LayerId{i}, LayerId{i + 2}, tensor, bytes});
  }
  for (const auto& [tensor, context, expert] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}}) {
    ProfileStrategy s{
        .tensor = tensor, .expert = expert, .context = context, .sequence_parallel = tensor > 1};
    s.edges = edges;
    for (std::int64_t i = 0; i < layers; ++i) {
      ProfileLayer layer;
      layer.name = "l" + std::to_string(i);
      layer.forward = Seconds{static_cast<double>(dice.pick(1, 40)) * 1e-4};
      layer.backward = Seconds{static_cast<double>(dice.pick(1, 80)) * 1e-4};
      layer.parameters = Bytes{dice.pick(1, 200) * 1'000'000};
      layer.expert_parameters = Bytes{dice.pick(0, layer.parameters.value / 2) * 2};
      if (layer.expert_parameters > layer.parameters) layer.expert_parameters = layer.parameters;
      layer.activations = Bytes{dice.pick(100, 200) * 1'000'000};
      if (twins && i > 0) {
        layer = s.layers.front();
        layer.name = "l" + std::to_string(i);
      }
      s.layers.push_back(std::move(layer));
    }
    profile.strategies.push_back(std::move(s));
  }
  if (dice.once_in(3)) {
    const LayerId last{static_cast<std::int32_t>(layers - 1)};
    profile.shared.push_back({{LayerId{0}, last}, Bytes{dice.pick(1, 50) * 1'000'000}});
  }
  return profile;
}

[[nodiscard]] inline PlanInputs random_inputs(Dice& dice, const std::string& recipe = "plain") {
  LayerProfile profile = random_profile(dice);
  Cluster cluster = random_cluster(dice);
  return {Value("random"), std::move(profile), std::move(cluster), named_recipe(recipe)};
}

// Layers cut into so many ranges, none empty.
[[nodiscard]] inline std::vector<std::vector<LayerId>> random_cut(Dice& dice, std::int64_t layers,
                                                                  std::int64_t parts) {
  std::vector<std::vector<LayerId>> cut(static_cast<std::size_t>(parts));
  std::int64_t part = 0;
  for (std::int64_t i = 0; i < layers; ++i) {
    cut[static_cast<std::size_t>(part)].emplace_back(static_cast<std::int32_t>(i));
    const std::int64_t left = layers - i - 1;
    const std::int64_t open = parts - part - 1;
    if (open > 0 && (left == open || dice.once_in(2))) ++part;
  }
  return cut;
}

// Any plan of a layer profile with at least four layers that check_plan takes; the placement rule may still
// find no room for it.
[[nodiscard]] inline Plan random_plan(Dice& dice, const PlanInputs& inputs) {
  Plan plan;
  Parallelism& p = plan.parallelism;
  const LayerProfile& profile = *inputs.profile();
  const auto layers = static_cast<std::int64_t>(profile.strategies.front().layers.size());
  const std::int64_t devices = inputs.cluster.devices();
  do {
    const ProfileStrategy& own = dice.one_of(profile.strategies);
    p.strategy = {.tensor = own.tensor,
                  .sequence_parallel = own.sequence_parallel,
                  .context = own.context,
                  .expert = own.expert};
    p.pipeline = dice.pick(1, std::min<std::int64_t>(4, layers));
  } while (p.strategy.cell() * p.pipeline > devices && devices > 1);
  if (devices == 1) p = {};
  const std::int64_t copies = dice.pick(1, devices / (p.strategy.cell() * p.pipeline));
  p.data = copies * p.strategy.side();
  p.data_inner = dice.divisor_of(copies);
  p.first_stage_first = dice.once_in(3);
  p.zero = dice.pick(0, 3);
  const std::int64_t group = copies * p.strategy.cell() / p.strategy.tensor;
  p.zero_shards = !p.zero.shards_anything() ? 1 : dice.divisor_of(group);
  plan.training.sequence = profile.sequence;
  plan.training.micro_batches = dice.pick(1, 12);
  if (p.pipeline > 1 && layers >= 2 * p.pipeline && dice.once_in(3)) {
    p.schedule = dice.once_in(3) ? dice.one_of<Schedule>({Schedule::zb_v, Schedule::dualpipe_v})
                                 : Schedule::interleaved;
    p.interleave = 2;
    plan.training.micro_batches = p.pipeline * dice.pick(1, 4);
    if (p.schedule == Schedule::dualpipe_v) plan.training.micro_batches += 2 * p.pipeline;
  } else {
    p.schedule = dice.one_of<Schedule>({Schedule::one_f_one_b, Schedule::gpipe, Schedule::zb_h1});
  }
  plan.training.global_batch = p.data * plan.training.micro_batches;
  const auto cut = random_cut(dice, layers, p.pipeline * p.interleave);
  for (std::int64_t i = 0; i < p.pipeline; ++i) {
    Stage& stage = plan.stages.emplace_back();
    stage.strategy = p.strategy;
    // Tensor 2 and context 2 make the same cells: stages may differ.
    if (p.strategy.tensor == 2 && p.zero_shards == 1 && dice.once_in(2)) stage.strategy = {.context = 2};
    for (std::int64_t c = 0; c < p.interleave; ++c) {
      const auto& part =
          cut[static_cast<std::size_t>(part_of(schedule_of(p.schedule).path, p.pipeline, i, c))];
      stage.layers.insert(stage.layers.end(), part.begin(), part.end());
      if (p.interleave > 1) stage.chunks.push_back(part);
    }
    if (dice.once_in(2)) stage.recompute.policy = RecomputePolicy::full;
    if (stage.recompute.policy == RecomputePolicy::full && dice.once_in(3))
      stage.recompute.layers = dice.pick(1, static_cast<std::int64_t>(stage.layers.size()));
    Dice more = dice;  // the other draws stay as they were
    if (stage.recompute.policy == RecomputePolicy::none && more.once_in(4))
      stage.recompute = {RecomputePolicy::modules, more.pick(0, 1),
                         RecomputeModules::of_bits(static_cast<std::uint32_t>(more.pick(1, 127)))};
  }
  return plan;
}

}  // namespace nest::test
