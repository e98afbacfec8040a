#include "nest/price/layers/layer_table.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/cluster/accelerator.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/price/layers/cost_book.hpp"

namespace nest::price {
namespace {

LayerTerms random_terms(test::Dice& dice) {
  LayerTerms t;
  for (double& sum : t.sums) sum = static_cast<double>(dice.pick(0, 1000));
  t.transient = static_cast<double>(dice.pick(0, 1000));
  t.largest_parameters = static_cast<double>(dice.pick(0, 1000));
  return t;
}

// 275.5 MB at 55.1 GB/s are 5 ms each way: a forward pass of 4 ms shows 1 ms of it, a backward pass of 8 ms nothing. On
// the device stay the layer's own and that of the one whose copy is under way.
TEST(LayerTerms, ActivationsInHostMemory) {
  LayerTerms t;
  t.of(Term::forward) = 3e-3;
  t.of(Term::forward_tensor) = 1e-3;
  t.of(Term::backward_input) = t.of(Term::backward_weight) = 4e-3;
  t.of(Term::stash) = 275.5e6;
  t.transient = 1e6;
  offload_activations(find_accelerator("h200").host(), t);
  EXPECT_NEAR(t.of(Term::forward_offload), 1e-3, 1e-12);
  EXPECT_EQ(t.of(Term::backward_offload), 0);
  EXPECT_EQ(t.of(Term::host_stash), 275.5e6);
  EXPECT_EQ(t.of(Term::stash), 0);
  EXPECT_EQ(t.transient, 1e6 + 2 * 275.5e6);
}

// 4 ms out and 3 ms back beside 2 ms of experts and 5 ms of the rest of the other pass: 2 + 3 hide, and take a tenth
// of that from the compute.
TEST(LayerTerms, ExchangesHideBehindTheOtherPass) {
  LayerCost cost;
  cost.forward = Seconds{7e-3};
  cost.experts_forward = Seconds{2e-3};
  cost.backward_exchanges = {Seconds{4e-3}, Seconds{3e-3}};
  cost.backward_collectives.expert = Seconds{7e-3};
  cost.exchange_share = 0.1;
  const Recipe recipe = named_recipe("plain");
  const Accelerator& device = find_accelerator("h100-sxm");
  EXPECT_DOUBLE_EQ(layer_terms(cost, recipe, device).of(Term::backward_expert), 7e-3);
  cost.overlaps_experts = true;
  const LayerTerms beside = layer_terms(cost, recipe, device);
  EXPECT_DOUBLE_EQ(beside.of(Term::backward_expert), 2e-3 + 0.1 * 5e-3);
  // A pass that has no other beside it shows them all.
  EXPECT_DOUBLE_EQ(beside.of(Term::backward_alone), 7e-3 - 2.5e-3);
  EXPECT_EQ(beside.of(Term::forward_alone), 0);
}

// Exchanges that hide in pairs show as much outside of pairs as those that hide nowhere.
TEST(LayerTerms, ExchangesOutsideOfPairsShowAsWithoutOverlap) {
  for (const std::string recipe : {"plain", "megatron", "torchtitan"}) {
    Warnings warnings;
    PlanInputs inputs = load_inputs("qwen3-30b-a3b", "h800-rail", recipe, warnings);
    CostBook book(inputs);
    Training t;
    t.sequence = 4096;
    const auto all = [&](bool overlap) {
      const Strategy s{.tensor = 2, .sequence_parallel = true, .expert = 16, .expert_overlap = overlap};
      const PlanNetwork* network = book.network(s, {.cell = s.cell(), .inner = 1}, {});
      return book.table(t, s, RecomputePolicy::none, network->stages[0]).range(1, 5);
    };
    const LayerTerms without = all(false);
    const LayerTerms with = all(true);
    const auto forward = [](const LayerTerms& terms) {
      return terms.of(Term::forward_tensor) + terms.of(Term::forward_expert) +
             terms.of(Term::forward_context);
    };
    const auto backward = [](const LayerTerms& terms) {
      return terms.of(Term::backward_tensor) + terms.of(Term::backward_expert) +
             terms.of(Term::backward_context);
    };
    EXPECT_EQ(without.of(Term::forward_alone) + without.of(Term::backward_alone), 0) << recipe;
    EXPECT_GT(with.of(Term::forward_alone), 0) << recipe;
    EXPECT_GT(with.of(Term::backward_alone), 0) << recipe;
    EXPECT_NEAR(forward(with) + with.of(Term::forward_alone), forward(without), 1e-12) << recipe;
    EXPECT_NEAR(backward(with) + with.of(Term::backward_alone), backward(without), 1e-12) << recipe;
  }
}

// All numbers are whole here, so sums are exact in any order.
TEST(LayerTable, RangesAreSumsAndGreatestValues) {
  constexpr unsigned kSeed = 20261120;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  test::Dice dice(kSeed);
  for (const std::size_t n : {1U, 2U, 3U, 7U, 8U, 9U, 33U}) {
    std::vector<LayerTerms> layers;
    layers.reserve(n);
    for (std::size_t i = 0; i < n; ++i) layers.push_back(random_terms(dice));
    const LayerTable table(layers);
    for (std::size_t first = 0; first <= n; ++first) {
      LayerTerms sum;
      for (std::size_t last = first; last <= n; ++last) {
        ASSERT_EQ(table.range(first, last), sum) << first << ".." << last << " of " << n;
        if (last < n) sum += layers[last];
      }
    }
    EXPECT_EQ(table.of(LayerId{0}), layers[0]);
  }
}

TEST(LayerTable, SignaturesTellLayersApartButNotTheirOrder) {
  test::Dice dice(1);
  const LayerTerms a = random_terms(dice);
  const LayerTerms b = random_terms(dice);
  const LayerTable table({a, b, b, a, b, a, a});
  EXPECT_EQ(table.signature(0, 2), table.signature(2, 4));  // ab and ba
  EXPECT_EQ(table.signature(0, 2), table.signature(3, 5));
  EXPECT_NE(table.signature(0, 2), table.signature(1, 3));  // ab and bb
  EXPECT_NE(table.signature(0, 1), table.signature(0, 2));
  EXPECT_EQ(table.signature(3, 3), 0U);
}

TEST(LayerTable, SignaturesOfAllRangesOfDifferentLayersDiffer) {
  test::Dice dice(2);
  std::vector<LayerTerms> layers;
  for (int i = 0; i < 60; ++i) {
    layers.push_back(random_terms(dice));
    layers.back().transient = i;  // no two alike
  }
  const LayerTable table(layers);
  std::set<std::uint64_t> seen;
  for (std::size_t first = 0; first < 60; ++first) {
    for (std::size_t last = first + 1; last <= 60; ++last)
      ASSERT_TRUE(seen.insert(table.signature(first, last)).second);
  }
}

TEST(LayerTerms, OfAProfilesLayer) {
  LayerProfile profile;
  profile.parameter_dtype_bytes = 4;
  ProfileLayer layer;
  layer.forward = Seconds{1};
  layer.backward = Seconds{3};
  layer.parameters = Bytes{400};
  layer.expert_parameters = Bytes{100};
  layer.activations = Bytes{70};
  layer.workspace = Bytes{5};
  LayerTerms t = layer_terms(layer, profile, false, Bytes{20});
  EXPECT_EQ(t.of(Term::forward), 1);
  EXPECT_EQ(t.of(Term::backward_input), 1.5);  // half where the profile does not say
  EXPECT_EQ(t.of(Term::backward_weight), 1.5);
  EXPECT_EQ(t.of(Term::recompute), 0);
  EXPECT_EQ(t.of(Term::dense_parameters), 75);
  EXPECT_EQ(t.of(Term::expert_parameters), 25);
  EXPECT_EQ(t.largest_parameters, 100);
  EXPECT_EQ(t.of(Term::stash), 70);
  EXPECT_EQ(t.transient, 5);
  layer.backward_weight = Seconds{1};
  t = layer_terms(layer, profile, true, Bytes{20});
  EXPECT_EQ(t.of(Term::backward_weight), 1);
  EXPECT_EQ(t.of(Term::recompute), 1);
  EXPECT_EQ(t.of(Term::stash), 20);  // what comes in
  EXPECT_EQ(t.transient, 5 + 70);    // the whole layer's stash while it runs again
}

// A share of a collective hides behind compute; the hidden seconds slow the compute down.
TEST(LayerTerms, OverlapIsTakenOff) {
  LayerCost cost;
  cost.forward = Seconds{1};
  cost.backward = Seconds{5};
  cost.recompute = Seconds{1};
  cost.backward_weight = Seconds{2};
  cost.forward_collectives.tensor = Seconds{0.5};
  cost.backward_collectives.tensor = Seconds{1};
  cost.forward_collectives.expert = Seconds{2};
  Recipe recipe = named_recipe("plain");
  recipe.overlap.tensor = 0.8;
  recipe.overlap.slow_down = 0.25;
  const LayerTerms t = layer_terms(cost, recipe, find_accelerator("h100-sxm"));
  EXPECT_NEAR(t.of(Term::forward_tensor), 0.5 * (0.2 + 0.8 * 0.25), 1e-15);
  EXPECT_NEAR(t.of(Term::backward_tensor), 1 * (0.2 + 0.8 * 0.25), 1e-15);
  EXPECT_EQ(t.of(Term::forward_expert), 2);
  EXPECT_EQ(t.of(Term::backward_input), 2);
  EXPECT_EQ(t.of(Term::backward_weight), 2);  // plain: 16-bit gradients are not accumulated elsewhere
  EXPECT_EQ(t.of(Term::recompute), 1);
  EXPECT_EQ(t.of(Term::layers), 1);
}

TEST(LayerTerms, HiddenCommunicationTakesMultiprocessorsAndMemory) {
  Overlap o;
  o.slow_down = 0.1;
  o.memory_bound = 0.3;
  EXPECT_NEAR(slowed(2, 4, 1, o), 2 * (0.1 + 0.3 * 0.25), 1e-12);
  EXPECT_NEAR(slowed(2, 4, 100, o), 2 * (0.1 + 0.3), 1e-12);  // never more than all of the memory
  EXPECT_EQ(slowed(0, 0, 0, o), 0);
  // More time for the same bytes never makes a step shorter, however much hides: bounds rely on it.
  for (const double beside : {0.5, 1.0, 3.0}) {
    double last = 0;
    for (double time = 0.6; time < 5; time += 0.1) {
      const double hidden = std::min(time, beside);
      const double all = time - hidden + slowed(hidden, time, 0.5, o);
      EXPECT_GE(all, last) << time;
      last = all;
    }
  }
}

TEST(LayerTerms, MegatronAddsToItsFp32Gradients) {
  LayerCost cost;
  cost.dense_parameters = 1'000'000'000;
  const Accelerator& h100 = find_accelerator("h100-sxm");
  const LayerTerms t = layer_terms(cost, named_recipe("megatron"), h100);
  // 4 bytes read and 4 written where the product alone would write 2.
  const double rate = h100.memory_bandwidth.value * h100.memory_share().value;
  EXPECT_NEAR(t.of(Term::backward_weight), 6e9 / rate, 1e-12);
}

}  // namespace
}  // namespace nest::price
