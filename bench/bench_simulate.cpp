// Microbenchmarks: steps run event by event. Run: build/bench/bench_simulate
//
// `items_per_second` is tasks per second (passes of workers).
#include <benchmark/benchmark.h>

#include <vector>

#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/simulate.hpp"
#include "nest/simulate/test_plans.hpp"

namespace {

using namespace nest::tools;
using test_plans::Case;
using test_plans::Order;

// 1,024 devices of the spine-leaf cluster: so many stages of so many devices, the rest copies.
Case plan_on_1024(std::int64_t stages, std::int64_t width, std::int64_t micro_batches, Schedule schedule) {
  using test_plans::level;
  Case c{
      test_plans::inputs_on(test_plans::cluster_of(
          {level("node", 8, 450e9, 1e-6), level("rack", 4, 50e9, 5e-6), level("spine", 32, 50e9, 10e-6, 4)})),
      test_plans::placed(stages, 1024 / stages / width, width, Order::stages),
      {}};
  c.plan.training.micro_batches = micro_batches;
  c.plan.parallelism.schedule = schedule;
  c.plan.parallelism.interleave = schedule == Schedule::interleaved ? 4 : 1;
  for (std::int64_t i = 0; i < stages; ++i) {
    StageCost s;
    for (std::int64_t k = 0; k < c.plan.parallelism.interleave; ++k) {
      ChunkCost chunk;
      chunk.forward = Seconds{1e-3 * (1 + 0.01 * static_cast<double>(i))};
      chunk.backward_input = chunk.backward_weight = chunk.forward;
      chunk.forward_bytes = chunk.backward_bytes = Bytes{8 << 20};
      chunk.stash = Bytes{1 << 20};
      s.chunks.push_back(chunk);
    }
    s.reduces = {{CollectiveKind::reduce_scatter, StepCollective::Group::dense_inner, Bytes{1 << 30}, {}}};
    s.gathers = {{CollectiveKind::all_gather, StepCollective::Group::dense_inner, Bytes{1 << 29}, {}}};
    s.buckets = 10;
    c.priced.stages.push_back(std::move(s));
  }
  test_plans::price_receives(c);
  test_plans::price_step(c);
  return c;
}

void run(benchmark::State& state, const Case& c, const ScenarioOptions& options) {
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, options);
  std::int64_t tasks = 0;
  for (auto _ : state) tasks += run_engine(scenario, {}).tasks;
  state.SetItemsProcessed(tasks);
  state.counters["narrow links"] = static_cast<double>(scenario.narrow_links);
}

void engine_without_sharing(benchmark::State& state) {
  run(state, plan_on_1024(16, 8, 512, Schedule::one_f_one_b), {.all_copies = true, .contention = false});
}
BENCHMARK(engine_without_sharing)->Unit(benchmark::kMillisecond);

void engine_with_sharing(benchmark::State& state) {
  run(state, plan_on_1024(16, 8, 512, Schedule::one_f_one_b), {.all_copies = true});
}
BENCHMARK(engine_with_sharing)->Unit(benchmark::kMillisecond);

// Every device a stage of its own copy: the most workers that 1,024 devices can be.
void engine_1024_workers(benchmark::State& state) {
  run(state, plan_on_1024(16, 1, 512, Schedule::one_f_one_b), {.all_copies = true});
}
BENCHMARK(engine_1024_workers)->Unit(benchmark::kMillisecond);

void engine_interleaved(benchmark::State& state) {
  run(state, plan_on_1024(16, 1, 512, Schedule::interleaved), {});
}
BENCHMARK(engine_interleaved)->Unit(benchmark::kMillisecond);

// What the command does: scenario, run, and the run with priced sends, one copy of those that are alike.
void whole_simulation(benchmark::State& state) {
  const Case c = plan_on_1024(16, 8, 512, Schedule::one_f_one_b);
  std::int64_t tasks = 0;
  for (auto _ : state) tasks += run_simulation(c.plan, c.priced, c.inputs, {}).tasks;
  state.SetItemsProcessed(tasks);
}
BENCHMARK(whole_simulation)->Unit(benchmark::kMillisecond);

void whole_simulation_of_all_devices(benchmark::State& state) {
  const Case c = plan_on_1024(16, 1, 512, Schedule::one_f_one_b);
  std::int64_t tasks = 0;
  for (auto _ : state) tasks += run_simulation(c.plan, c.priced, c.inputs, {.all_devices = true}).tasks;
  state.SetItemsProcessed(tasks);
}
BENCHMARK(whole_simulation_of_all_devices)->Unit(benchmark::kMillisecond);

}  // namespace
