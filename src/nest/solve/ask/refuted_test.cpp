// Instances on which a plan was called optimal and a better one was found. No recomputation of any one stage
// may beat the answer, nor may a search with fewer prunings.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/price/price.hpp"
#include "nest/question/recompute_choices.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::solve {
namespace {

struct Case {
  PlanInputs inputs;
  Training training;
  SearchSpace space;
};

Case case_of(const std::string& model, Cluster cluster, std::int64_t batch, std::int64_t sequence) {
  Warnings warnings;
  Case made{load_inputs(model, "h100-spine-leaf", "torchtitan", warnings), {}, {}};
  made.inputs.cluster = std::move(cluster);
  made.training.global_batch = batch;
  made.training.sequence = sequence;
  made.training.optimizer = made.inputs.recipe.optimizer;
  made.training.precision = made.inputs.recipe.precision;
  return made;
}

// The step of the best plan.
double best_of(const Case& c, const std::vector<std::string>& without = {}) {
  SearchOptions options;
  options.threads = 1;
  options.without = without;
  const SearchResult found = ask({c.inputs, c.training, c.space, options});
  EXPECT_EQ(found.status, PlanStatus::optimal) << found.reason;
  if (found.plans.empty()) return 0;
  const Plan& best = found.plans.front();
  Pricer pricer(c.inputs);
  int tried = 0;
  for (std::size_t i = 0; i < best.stages.size(); ++i) {
    const auto layers = static_cast<std::int64_t>(best.stages[i].layers.size());
    for (const Recompute& recompute : RecomputeChoices().of_stage(layers)) {
      Plan other = best;
      other.stages[i].recompute = recompute;
      const PricedPlan priced = pricer.price(other);
      if (priced.status != PriceStatus::feasible) continue;
      ++tried;
      EXPECT_GE(priced.predicted.step.value, best.predicted->step.value * (1 - 1e-9))
          << "stage " << i << " with " << spell(recompute);
    }
  }
  EXPECT_GE(tried, static_cast<int>(best.stages.size()));
  return best.predicted->step.value;
}

// Eight devices in a node, eight nodes on a slow network, and memory for some recomputations.
Cluster slow_nodes(std::int64_t memory) {
  return read_cluster(parse_yaml(
      "cluster", "name: slow nodes\naccelerator: {base: h100-sxm, memory: " + std::to_string(memory) +
                     "}\nlevels:\n  - {name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}\n" +
                     "  - {name: net, size: 8, bandwidth: 25 GB/s, latency: 5 us}\n"));
}

// Compute hides the traffic of ZeRO 2 and repeated collectives do not: a recomputation with less of both in
// sum has the longer backward pass.
TEST(Refuted, ZeroTrafficThatOnlyComputeHides) {
  Case c = case_of("mixtral-8x7b", slow_nodes(28'493'657'702), 32, 2048);
  c.space.tensor = Choice(2);
  c.space.pipeline = Choice(3);
  c.space.interleave = Choice(1);
  c.space.data = Choice(8);
  c.space.micro_batch = Choice(1);
  c.space.zero = Choice(2);
  c.space.expert = Choice(8);
  c.space.expert_tensor = Choice(1);
  c.inputs.recipe.late_reduces = false;
  const double step = best_of(c);
  EXPECT_NEAR(step, best_of(c, {"option-order"}), 1e-9 * step);
}

// Selective recomputation spreads over the chunks of a stage, that of its first layers lies in the first
// chunk: neither is better in everything.
TEST(Refuted, RecomputationInTheFirstChunkOrInAll) {
  Case c = case_of("qwen2-57b-a14b", with_devices(load_cluster("dgx2-v100"), 48), 48, 4096);
  const double step = best_of(c);
  EXPECT_GT(step, 0);
}

}  // namespace
}  // namespace nest::solve
