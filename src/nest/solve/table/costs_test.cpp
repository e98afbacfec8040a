#include "nest/solve/table/costs.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::solve {
namespace {

const Training kTraining{.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd};

PlanInputs model_inputs() {
  Warnings warnings;
  return load_inputs("llama2-7b", "h100-spine-leaf", "plain", warnings);
}

// One cell of a strategy from device 0 on.
StageNetwork lone_cell(const SearchCosts& costs, const Strategy& strategy) {
  std::vector<Cell> cells(1);
  for (std::int32_t i = 0; i < strategy.cell(); ++i) cells.front().emplace_back(i);
  StageNetwork network;
  network.cell =
      std::make_shared<const CellNetwork>(costs.inputs().cluster, costs.constants(), strategy, cells);
  return network;
}

TEST(SearchCosts, OfAProfile) {
  const PlanInputs inputs = test::example_inputs();
  const SearchCosts costs(inputs, kTraining, {}, {1});
  ASSERT_EQ(costs.batches().size(), 1U);
  const Batch& batch = costs.batches().front();
  EXPECT_EQ(batch.training.micro_batch, 1);
  EXPECT_EQ(batch.training.global_batch, 8);
  EXPECT_EQ(batch.scale, 1);
  EXPECT_EQ(batch.sets->size(), 4U);
  EXPECT_EQ(batch.least_boundary, Bytes{50'000'000});
  EXPECT_EQ(costs.capacity(), Bytes{80'000'000'000});
  EXPECT_EQ(costs.coster().recipe().optimizer, Optimizer::sgd) << "the training's, not the recipe's";
  EXPECT_FALSE(costs.selective()) << "a profile knows no selective recomputation";
}

// The search counts what is allocated: a stage fits where it allocates no more than a device has beside the
// reserve and the fragmentation.
TEST(SearchCosts, CapacityIsWhatCanBeAllocated) {
  PlanInputs inputs = test::example_inputs();
  inputs.recipe.reserve = Bytes{2'000'000'000};
  inputs.recipe.fragmentation = 0.04;
  const SearchCosts costs(inputs, kTraining, {}, {1});
  EXPECT_EQ(costs.capacity(), Bytes{75'000'000'000});
  EXPECT_EQ(costs.coster().on_device(Bytes{75'000'000'000}), Bytes{80'000'000'000});
}

TEST(SearchCosts, TheSmallestBoundary) {
  PlanInputs inputs = test::example_inputs();
  LayerProfile profile = *inputs.profile();
  profile.strategies.front().edges[1].bytes = Bytes{7};
  inputs.source = profile;
  EXPECT_EQ(SearchCosts(inputs, kTraining, {}, {1}).batches().front().least_boundary, Bytes{7});
  profile.strategies.front().layers.resize(1);
  profile.strategies.front().edges.clear();
  inputs.source = profile;
  EXPECT_EQ(SearchCosts(inputs, kTraining, {}, {1}).batches().front().least_boundary, Bytes{0});
}

TEST(SearchCosts, SelectiveWhereItIsListed) {
  const PlanInputs profile = test::example_inputs();
  SearchSpace space;
  space.recompute = {{RecomputePolicy::selective, 0}};
  EXPECT_TRUE(SearchCosts(profile, kTraining, space, {1}).selective());
  EXPECT_TRUE(SearchCosts(model_inputs(), {.sequence = 4096}, {}, {1}).selective());
}

// Twice the micro-batch, twice the boundaries: one list of layer sets for all.
TEST(SearchCosts, BatchesShareTheirSets) {
  const PlanInputs inputs = model_inputs();
  const SearchCosts costs(inputs, {.sequence = 4096}, {}, {1, 2, 8});
  ASSERT_EQ(costs.batches().size(), 3U);
  const Batch& one = costs.batches()[0];
  for (const auto& [index, scale] : {std::pair<std::size_t, std::int64_t>{1, 2}, {2, 8}}) {
    const Batch& batch = costs.batches()[index];
    EXPECT_EQ(batch.sets, one.sets);
    EXPECT_EQ(batch.graph, one.graph);
    EXPECT_EQ(batch.scale, scale);
    EXPECT_EQ(batch.training.micro_batch, scale);
    EXPECT_EQ(batch.least_boundary, scale * one.least_boundary);
    EXPECT_NE(batch.model, one.model);
  }
  // Batches that are no multiple have their own.
  const SearchCosts odd(inputs, {.sequence = 4096}, {}, {2, 3});
  EXPECT_NE(odd.batches()[0].sets, odd.batches()[1].sets);
  EXPECT_EQ(odd.batches()[1].scale, 1);
  EXPECT_EQ(2 * odd.batches()[1].least_boundary, 3 * odd.batches()[0].least_boundary);
}

TEST(SearchCosts, StagesInTheOrderOfLayersWhereTheRulesSaySo) {
  PlanInputs inputs = test::example_inputs();
  LayerProfile profile = *inputs.profile();
  profile.strategies.front().edges.clear();
  inputs.source = profile;
  SearchSpace space;
  EXPECT_EQ(SearchCosts(inputs, kTraining, space, {1}).batches().front().sets->size(), 8U);
  const FrameworkRules rules{.contiguous_stages = true};
  space.rules = &rules;
  EXPECT_EQ(SearchCosts(inputs, kTraining, space, {1}).batches().front().sets->size(), 4U);
}

TEST(SearchCosts, SaysWhyAModelCannotBeCut) {
  const PlanInputs inputs = model_inputs();
  SearchCosts costs(inputs, {.sequence = 4096}, {}, {1});
  const Batch& batch = costs.batches().front();
  EXPECT_EQ(costs.refusal(batch, {.tensor = 2}), "");
  EXPECT_EQ(costs.refusal(batch, {.tensor = 3}), "tensor 3 does not divide the 32 attention heads of layer");
}

TEST(SearchCosts, TablesOfAPlace) {
  const PlanInputs inputs = model_inputs();
  SearchCosts costs(inputs, {.sequence = 4096}, {}, {1});
  const Batch& batch = costs.batches().front();
  const Strategy strategy{.tensor = 2, .sequence_parallel = true};
  const StageNetwork network = lone_cell(costs, strategy);
  const Place place = costs.place(batch, strategy, network);
  EXPECT_EQ(place.network, &network);
  const LayerId block{1};
  const LayerTerms& none = place.tables[0]->of(block);
  const LayerTerms& full = place.tables[2]->of(block);
  ASSERT_NE(place.tables[1], nullptr);
  EXPECT_GT(none.of(Term::forward_tensor), 0);
  EXPECT_EQ(none.of(Term::recompute), 0);
  EXPECT_GT(full.of(Term::recompute), place.tables[1]->of(block).of(Term::recompute));
  EXPECT_LT(full.of(Term::stash), none.of(Term::stash));
}

// Where a bound cannot be sure of the collectives inside a cell they cost nothing, and nothing else changes.
TEST(SearchCosts, WithoutCollectives) {
  const PlanInputs inputs = model_inputs();
  SearchCosts costs(inputs, {.sequence = 4096}, {}, {1});
  const Batch& batch = costs.batches().front();
  const Strategy strategy{.tensor = 2, .sequence_parallel = true};
  const StageNetwork network = lone_cell(costs, strategy);
  const Place with = costs.place(batch, strategy, network);
  const Place without = costs.place(batch, strategy, network, false);
  for (std::size_t policy = 0; policy < with.tables.size(); ++policy) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(batch.sets->layers()); ++i) {
      LayerTerms expected = with.tables[policy]->of(LayerId{i});
      for (const Term term :
           {Term::forward_tensor, Term::forward_expert, Term::forward_context, Term::backward_tensor,
            Term::backward_expert, Term::backward_context, Term::partial_parameters})
        expected.of(term) = 0;
      EXPECT_EQ(without.tables[policy]->of(LayerId{i}), expected) << "policy " << policy << ", layer " << i;
    }
  }
  EXPECT_EQ(costs.place(batch, strategy, network, false).tables, without.tables) << "made once";
}

TEST(SearchCosts, CellsThatLookAlikeShareTables) {
  const PlanInputs inputs = model_inputs();
  SearchCosts costs(inputs, {.sequence = 4096}, {}, {1, 2});
  const Strategy strategy{.tensor = 2, .sequence_parallel = true};
  const StageNetwork a = lone_cell(costs, strategy);
  const StageNetwork b = lone_cell(costs, strategy);
  ASSERT_NE(a.cell, b.cell);
  const Batch& one = costs.batches()[0];
  EXPECT_EQ(costs.place(one, strategy, a).tables, costs.place(one, strategy, b).tables);
  EXPECT_NE(costs.place(one, strategy, a).tables, costs.place(costs.batches()[1], strategy, a).tables);
  const Strategy four{.tensor = 4, .sequence_parallel = true};
  const StageNetwork wide = lone_cell(costs, four);
  EXPECT_NE(costs.place(one, strategy, a).tables, costs.place(one, four, wide).tables);
}

}  // namespace
}  // namespace nest::solve
