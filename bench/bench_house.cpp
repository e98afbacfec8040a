// Microbenchmarks: building models, describing clusters, asking them about devices. Run:
// build/bench/bench_house
#include <benchmark/benchmark.h>

#include <vector>

#include "nest/api/nest.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/model/describe.hpp"

namespace {

void build_405b(benchmark::State& state) {
  const nest::model::ModelSpec spec = nest::model::zoo_model("llama3.1-405b");
  for (auto _ : state) benchmark::DoNotOptimize(nest::model::build_model(spec));
}
BENCHMARK(build_405b);

void describe_405b(benchmark::State& state) {
  const nest::model::Model model = nest::model::build_model(nest::model::zoo_model("llama3.1-405b"));
  for (auto _ : state) benchmark::DoNotOptimize(nest::base::to_json(nest::model::describe(model)));
}
BENCHMARK(describe_405b);

void load_mega_cluster(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(nest::cluster::load_cluster("mega-131072"));
}
BENCHMARK(load_mega_cluster);

void meet_level(benchmark::State& state) {
  const nest::cluster::Cluster cluster = nest::cluster::load_cluster("mega-131072");
  std::int32_t i = 1;
  for (auto _ : state) {
    i = static_cast<std::int32_t>((static_cast<std::int64_t>(i) * 48271) % 131071);
    benchmark::DoNotOptimize(cluster.tree().meet(nest::base::DeviceId(i), nest::base::DeviceId(131071 - i)));
  }
}
BENCHMARK(meet_level);

void members_of_16384(benchmark::State& state) {
  const nest::cluster::Cluster cluster = nest::cluster::load_cluster("mega-131072");
  std::vector<nest::base::DeviceId> group;
  for (std::int32_t i = 0; i < cluster.devices(); i += 8) group.emplace_back(i);
  for (auto _ : state) benchmark::DoNotOptimize(cluster.tree().members(group));
}
BENCHMARK(members_of_16384);

}  // namespace
