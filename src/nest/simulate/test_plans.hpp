// For tests: plans whose stages cost what the test says, placed on small clusters, with the price that
// docs/design.md (section 5) gives them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nest/estimate/collectives/collective.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/pipeline_time.hpp"
#include "nest/price/price.hpp"
#include "nest/price/step_groups.hpp"

namespace nest::simulate::test_plans {

inline Level level(const std::string& name, std::int32_t size, double bandwidth, double latency,
                   double oversubscription = 1) {
  Level out{.name = name, .bandwidth = BytesPerSecond{bandwidth}, .latency = Seconds{latency}};
  out.fan_out.size = size;
  out.oversubscription = oversubscription;
  return out;
}

inline Cluster cluster_of(std::vector<Level> levels) {
  return Cluster({.name = "test", .levels = std::move(levels)});
}

// The four devices of the worked example (docs/design.md).
inline Cluster example_cluster() {
  return cluster_of({level("node", 2, 100e9, 1e-6), level("rack", 2, 10e9, 5e-6)});
}

inline PlanInputs inputs_on(Cluster cluster) {
  return {Value{}, ModelSpec{}, std::move(cluster), named_recipe("plain")};
}

struct Case {
  PlanInputs inputs;
  Plan plan;
  PricedPlan priced;
};

// Stages of `width` devices; copy after copy, or stage after stage with copies side by side.
enum class Order { copies, stages };

inline Plan placed(std::int64_t stages, std::int64_t copies, std::int64_t width, Order order) {
  Plan plan;
  plan.parallelism.pipeline = stages;
  plan.parallelism.data = copies;
  plan.parallelism.strategy.tensor = width;
  plan.stages.resize(static_cast<std::size_t>(stages));
  for (std::int64_t i = 0; i < stages; ++i) {
    Stage& stage = plan.stages[static_cast<std::size_t>(i)];
    stage.strategy.tensor = width;
    for (std::int64_t c = 0; c < copies; ++c) {
      const std::int64_t slot = order == Order::copies ? c * stages + i : i * copies + c;
      Cell cell;
      for (std::int64_t j = 0; j < width; ++j) cell.emplace_back(static_cast<std::int32_t>(slot * width + j));
      stage.devices.push_back(std::move(cell));
    }
  }
  return plan;
}

inline Seconds slowest_send(const Case& c, Bytes bytes, std::size_t from, std::size_t to) {
  const CollectiveModel model(c.inputs.cluster, c.inputs.constants());
  Seconds most;
  for (std::size_t k = 0; k < c.plan.stages[to].devices.size(); ++k) {
    for (std::size_t j = 0; j < c.plan.stages[to].devices[k].size(); ++j) {
      const std::vector<DeviceId> pair{c.plan.stages[from].devices[k][j], c.plan.stages[to].devices[k][j]};
      if (pair[0] == pair[1]) continue;
      most = std::max(
          most, collective_time(CollectiveKind::send, bytes, group_shape(c.inputs.cluster, pair), model));
    }
  }
  return most;
}

// Receives of every chunk, of its bytes, each pair alone.
inline void price_receives(Case& c) {
  const std::size_t p = c.plan.stages.size();
  for (std::size_t i = 0; i < p; ++i) {
    std::vector<ChunkCost>& chunks = c.priced.stages[i].chunks;
    for (std::size_t k = 0; k < chunks.size(); ++k) {
      const Schedule schedule = c.plan.parallelism.schedule;
      const std::size_t part = part_of(schedule, p, {i, k});
      // The stage that has the part before or after; the same device sends nothing.
      const auto stage_of = [&](std::size_t other) { return place_of_part(schedule, p, other).stage; };
      const std::size_t last = p * chunks.size() - 1;
      const std::size_t from = part == 0 ? i : stage_of(part - 1);
      const std::size_t after = part == last ? i : stage_of(part + 1);
      if (part == 0 || from == i) chunks[k].forward_bytes = Bytes{0};
      if (part == last || after == i) chunks[k].backward_bytes = Bytes{0};
      chunks[k].forward_receive = slowest_send(c, chunks[k].forward_bytes, from, i);
      chunks[k].backward_receive = slowest_send(c, chunks[k].backward_bytes, after, i);
    }
  }
}

inline double unhidden(double communication, double share, double compute, double parts) {
  if (share <= 0) return communication;
  return communication - std::min({share * communication, share * compute * (parts - 1) / parts,
                                   communication * (parts - 1) / parts});
}

// Times of the collectives with each group alone, then the whole step.
inline void price_step(Case& c) {
  const CollectiveModel model(c.inputs.cluster, c.inputs.constants());
  const Overlap& overlap = c.inputs.recipe.overlap;
  const ScheduleShape shape{c.plan.parallelism.pipeline, c.plan.training.micro_batches,
                            c.plan.parallelism.interleave};
  std::vector<StagePass> passes;
  double reduce = 0;
  double norm = 0;
  double finish = 0;
  double before_b = 0;
  double before_f = 0;
  for (std::size_t i = 0; i < c.priced.stages.size(); ++i) {
    StageCost& s = c.priced.stages[i];
    const auto add_up = [&](std::vector<StepCollective>& list) {
      double sum = 0;
      for (StepCollective& one : list) {
        one.time = Seconds{0};
        for (const std::vector<DeviceId>& g : step_groups(c.plan, i, one.group)) {
          one.time = std::max(one.time,
                              collective_time(one.kind, one.bytes, group_shape(c.inputs.cluster, g), model));
        }
        sum += one.time.value;
      }
      return sum;
    };
    const auto n = static_cast<double>(s.buckets);
    const ChunkCost& first = s.chunks.front();
    s.reduce = Seconds{unhidden(add_up(s.reduces), overlap.gradient_reduce, first.backward_work().value, n)};
    s.gather = Seconds{unhidden(add_up(s.gathers), overlap.parameter_gather, first.forward_work().value, n)};
    std::vector<Bytes> stashes;
    add_passes(s.chunks, c.plan.parallelism.schedule, passes);
    for (const ChunkCost& chunk : s.chunks) stashes.push_back(chunk.stash);
    s.memory.activations =
        peak_stash(c.plan.parallelism.schedule, shape, static_cast<std::int64_t>(i), stashes);
    reduce = std::max(reduce, s.reduce.value - before_b);
    norm = std::max(norm, s.norm.value);
    finish = std::max(finish, s.optimizer.value + std::max(0.0, s.gather.value - before_f));
    before_b += first.b().value;
    before_f += first.f().value;
  }
  const bool chunks = shape.chunks > 1;
  c.priced.pipeline = chunks
                          ? chunk_time(c.plan.parallelism.schedule, passes, shape.stages, shape.micro_batches)
                          : pipeline_time(c.plan.parallelism.schedule, PipelineModel::one_f_one_b, passes,
                                          shape.micro_batches, 1);
  c.priced.predicted.step = Seconds{c.priced.pipeline.value + reduce + norm + finish};
}

// The worked example (docs/design.md), first row: layers 0, 1 | 2 on devices 1, 0 and 3, 2.
inline Case example_case() {
  Case c{inputs_on(example_cluster()), placed(2, 2, 1, Order::copies), {}};
  for (std::size_t i : {0U, 1U}) {
    for (std::int32_t k : {0, 1}) {
      c.plan.stages[i].devices[static_cast<std::size_t>(k)] = {
          DeviceId{2 * k + 1 - static_cast<std::int32_t>(i)}};
    }
  }
  c.plan.training.micro_batches = 4;
  for (const double forward : {3e-3, 1e-3}) {
    StageCost s;
    s.chunks.resize(1);
    s.chunks[0].forward = Seconds{forward};
    s.chunks[0].backward_input = Seconds{forward};
    s.chunks[0].backward_weight = Seconds{forward};
    s.chunks[0].forward_bytes = s.chunks[0].backward_bytes = Bytes{50'000'000};
    const std::int64_t layers = forward > 2e-3 ? 2 : 1;
    s.chunks[0].stash = Bytes{100'000'000 * layers};
    s.memory.weights = s.memory.gradients = Bytes{200'000'000 * layers};
    s.reduces = {{CollectiveKind::all_reduce, StepCollective::Group::dense, s.memory.gradients, {}}};
    c.priced.stages.push_back(std::move(s));
  }
  price_receives(c);
  price_step(c);
  return c;
}

// Exchanges with experts of one pass, of which so large a share hides in a pair.
inline void add_exchanges(ChunkCost& chunk, double seconds, double hidden, double spread) {
  chunk.forward_collectives.expert = chunk.backward_collectives.expert = Seconds{seconds * spread};
  chunk.forward_beside = chunk.backward_beside = Seconds{hidden * seconds * spread};
}

// Random stages: forward 1 to 2 ms, backward about twice that, both up to `spread` apart.
struct Draw {
  Schedule schedule = Schedule::one_f_one_b;
  double spread = 0;
  bool collectives = false;
  bool overlap = false;  // of reductions and gathers with compute
};

inline Case random_case(std::mt19937& random, const Draw& draw) {
  const auto real = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  const bool turns = draw.schedule == Schedule::zb_v || draw.schedule == Schedule::dualpipe_v;
  const std::int64_t stages = pick(turns ? 2 : 1, 8);
  const std::int64_t copies = pick(1, 4);
  const std::int64_t width = 1 << pick(0, 2);
  const Order order = pick(0, 1) == 0 ? Order::copies : Order::stages;
  // Each draw has its own statement: compilers evaluate arguments in their own order.
  const double node_bandwidth = real(100e9, 500e9);
  const int node_size = 4 << pick(0, 1);
  const double rack_bandwidth = real(20e9, 60e9);
  const int rack_size = 2 << pick(0, 2);
  const int oversubscription = 1 + pick(0, 1);
  const double spine_bandwidth = real(20e9, 60e9);
  std::vector<Level> levels{level("node", node_size, node_bandwidth, 1e-6),
                            level("rack", rack_size, rack_bandwidth, 5e-6),
                            level("spine", 64, spine_bandwidth, 10e-6, oversubscription)};
  Case c{inputs_on(cluster_of(std::move(levels))), placed(stages, copies, width, order), {}};
  c.plan.parallelism.schedule = draw.schedule;
  c.plan.training.micro_batches = pick(1, 32);
  if (draw.overlap) c.inputs.recipe.overlap.gradient_reduce = c.inputs.recipe.overlap.parameter_gather = 1;
  if (draw.schedule == Schedule::interleaved) {
    c.plan.parallelism.interleave = pick(2, 4);
    c.plan.training.micro_batches = stages * pick(1, 5);
  }
  if (turns) c.plan.parallelism.interleave = 2;
  const bool pairs = draw.schedule == Schedule::dualpipe_v;
  if (pairs) c.plan.training.micro_batches += 2 * stages;
  const double forward = real(1e-3, 2e-3);
  const double weight = forward * real(0.8, 1.2);
  const double input = forward * real(0.8, 1.2);
  const auto bytes = static_cast<std::int64_t>(real(0, 4e6));
  for (std::int64_t i = 0; i < stages; ++i) {
    StageCost s;
    for (std::int64_t k = 0; k < c.plan.parallelism.interleave; ++k) {
      ChunkCost chunk;
      chunk.forward = Seconds{forward * real(1, 1 + draw.spread)};
      chunk.backward_input = Seconds{input * real(1, 1 + draw.spread)};
      chunk.backward_weight = Seconds{weight * real(1, 1 + draw.spread)};
      chunk.forward_bytes = chunk.backward_bytes = Bytes{bytes};
      chunk.stash = Bytes{pick(1'000'000, 9'000'000)};
      if (pairs) add_exchanges(chunk, forward * real(0, 1), real(0.5, 1), real(1, 1 + draw.spread));
      s.chunks.push_back(chunk);
    }
    s.memory.weights = Bytes{pick(1'000'000, 90'000'000)};
    s.memory.gradients = s.memory.weights;
    s.transient = s.memory.workspace = Bytes{pick(0, 2'000'000)};
    if (draw.collectives) {
      s.buckets = pick(1, 6);
      s.reduces = {{CollectiveKind::all_reduce, StepCollective::Group::dense, s.memory.gradients, {}}};
      s.gathers = {{CollectiveKind::all_gather, StepCollective::Group::dense_inner, s.memory.weights, {}}};
      s.optimizer = Seconds{real(0, 1e-3)};
      s.norm = Seconds{1e-4};
    }
    c.priced.stages.push_back(std::move(s));
  }
  price_receives(c);
  price_step(c);
  return c;
}

}  // namespace nest::simulate::test_plans
