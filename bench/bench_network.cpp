// Microbenchmarks: the networks of placements by the rule, which a search asks for by the thousand. Run:
// build/bench/bench_network
//
// Aligned: blocks and stages fall in with the domains. Unaligned: 7 stages in the tightest blocks. `listed`
// is plan_network() of the same cells.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "nest/cluster/catalog.hpp"
#include "nest/price/network/slot_network.hpp"

namespace {

using namespace nest::tools;

// mega-131072 without its outermost level, twice as wide.
Cluster cluster_of(std::int64_t devices) {
  if (devices == 1024) return catalog_cluster("h100-spine-leaf");
  const Cluster mega = catalog_cluster("mega-131072");
  if (devices == mega.devices()) return mega;
  ClusterParts parts = mega.parts();
  parts.levels.pop_back();
  parts.levels.back().fan_out.size = static_cast<std::int32_t>(devices / 512);
  return Cluster(parts);
}

struct Case {
  Cluster cluster;
  FabricConstants constants;
  Strategy strategy;
  PlacementShape shape;
};

Case make_case(benchmark::State& state, std::int64_t stages, std::int64_t tensor) {
  Cluster cluster = cluster_of(state.range(0));
  const std::int64_t copies = cluster.devices() / tensor / stages;
  const std::int64_t inner = state.range(1) == 0 ? copies : std::min(state.range(1), copies);
  FabricConstants constants = fabric_constants(cluster);
  return {std::move(cluster), std::move(constants), Strategy{.tensor = tensor, .sequence_parallel = true},
          PlacementShape{.cell = tensor, .stages = stages, .inner = inner, .outer = copies / inner}};
}

void run(benchmark::State& state, const Case& c, bool shards) {
  for (auto _ : state) {
    const auto slots = SlotNetwork::make(c.cluster, c.constants, c.strategy, c.shape);
    benchmark::DoNotOptimize(slots->network({}, false));
    if (!shards) continue;
    for (const std::int64_t n : slots->zero_shards())
      benchmark::DoNotOptimize(slots->network({.zero_shards = n}, false));
  }
}

// Devices, and copies side by side; 0: all of them.
void sizes(benchmark::internal::Benchmark* b) {
  for (const std::int64_t devices : {1024, 16384, 131072}) {
    for (const std::int64_t inner : {1, 8, 0}) b->Args({devices, inner});
  }
  b->Unit(benchmark::kMicrosecond);
}

void aligned(benchmark::State& state) {
  run(state, make_case(state, 16, 8), false);
}
BENCHMARK(aligned)->Apply(sizes);

void aligned_all_shards(benchmark::State& state) {
  run(state, make_case(state, 16, 8), true);
}
BENCHMARK(aligned_all_shards)->Apply(sizes);

void aligned_tensor_1(benchmark::State& state) {
  run(state, make_case(state, 16, 1), false);
}
BENCHMARK(aligned_tensor_1)->Apply(sizes);

void unaligned(benchmark::State& state) {
  run(state, make_case(state, 7, 8), false);
}
BENCHMARK(unaligned)->Apply(sizes);

void unaligned_all_shards(benchmark::State& state) {
  run(state, make_case(state, 7, 8), true);
}
BENCHMARK(unaligned_all_shards)->Apply(sizes);

void unaligned_tensor_1(benchmark::State& state) {
  run(state, make_case(state, 7, 1), false);
}
BENCHMARK(unaligned_tensor_1)->Apply(sizes);

void hundred_stages(benchmark::State& state) {
  run(state, make_case(state, 100, 8), false);
}
BENCHMARK(hundred_stages)->Apply(sizes);

// One direction more, and once more what is known.
void mirrored(benchmark::State& state) {
  const Case c = make_case(state, 16, 8);
  const auto slots = SlotNetwork::make(c.cluster, c.constants, c.strategy, c.shape);
  benchmark::DoNotOptimize(slots->network({}, false));
  for (auto _ : state) benchmark::DoNotOptimize(slots->network({}, true));
}
BENCHMARK(mirrored)->Apply(sizes);

void listed(benchmark::State& state) {
  const Case c = make_case(state, 7, 8);
  for (auto _ : state) {
    const auto table = place_cells(c.cluster.tree(), c.shape);
    std::vector<std::vector<Cell>> cells;
    for (std::size_t i = 0; i < 7; ++i) cells.push_back(table->cells_of(i));
    benchmark::DoNotOptimize(
        plan_network(c.cluster, c.constants, std::vector<Strategy>(7, c.strategy), cells, {}));
  }
}
BENCHMARK(listed)->Apply(sizes);

void sizes_of_blocks(benchmark::State& state) {
  const Case c = make_case(state, 7, 8);
  for (auto _ : state) benchmark::DoNotOptimize(block_sizes(c.cluster.tree(), c.shape));
}
BENCHMARK(sizes_of_blocks)->Apply(sizes);

}  // namespace
