// How many uniform plans without device lists the library prices in a second on one core: 100 blocks, costs
// and placements known.
#include <benchmark/benchmark.h>

#include <vector>

#include "nest/price/price.hpp"

namespace {

nest::plan::PlanInputs inputs() {
  nest::base::Warnings warnings;
  nest::plan::PlanInputs in = nest::plan::load_inputs("gpt3-175b", "h100-spine-leaf", "megatron", warnings);
  auto& spec = std::get<nest::model::ModelSpec>(in.source);
  spec.stacks.front().blocks.resize(100, spec.stacks.front().blocks.front());
  return in;
}

std::vector<nest::plan::Plan> plans(nest::price::Pricer& pricer) {
  std::vector<nest::plan::Plan> list;
  for (const std::int64_t tensor : {1, 2, 4, 8}) {
    for (const std::int64_t pipeline : {1, 2, 4, 8, 16}) {
      for (const std::int64_t micro_batch : {1, 2}) {
        for (const std::int64_t zero : {0, 1, 2, 3}) {
          for (const auto recompute :
               {nest::strategies::RecomputePolicy::none, nest::strategies::RecomputePolicy::full}) {
            nest::plan::Plan plan;
            plan.training.global_batch = 2048;
            plan.training.sequence = 2048;
            plan.training.micro_batch = micro_batch;
            plan.training.micro_batches = 0;
            plan.parallelism.strategy.tensor = tensor;
            plan.parallelism.strategy.sequence_parallel = tensor > 1;
            plan.parallelism.pipeline = pipeline;
            plan.parallelism.data = 1024 / tensor / pipeline;
            plan.parallelism.data_inner = 0;
            plan.parallelism.zero = zero;
            plan.default_recompute.policy = recompute;
            list.push_back(pricer.complete(plan));
          }
        }
      }
    }
  }
  return list;
}

void price_uniform_plans(benchmark::State& state) {
  nest::price::Pricer pricer(inputs());
  const std::vector<nest::plan::Plan> list = plans(pricer);
  nest::price::PricedPlan priced;
  for (const nest::plan::Plan& plan : list) pricer.price(plan, priced);  // costs known
  std::size_t at = 0;
  double sum = 0;
  for ([[maybe_unused]] auto _ : state) {
    pricer.price(list[at], priced);
    sum += priced.predicted.step.value;
    at = at + 1 == list.size() ? 0 : at + 1;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(price_uniform_plans);

}  // namespace
