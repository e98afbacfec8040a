// For tests: a stage of three layers on the example's network.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "nest/plan/test_example.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price::test_stages {

using nest::test::example_inputs;

// The example's network with two copies in one node: 100 GB/s, 1 us.
class StageCosts : public ::testing::Test {
 protected:
  explicit StageCosts(const std::string& recipe = "plain") : inputs_(example_inputs()) {
    inputs_.recipe = named_recipe(recipe);
    inputs_.recipe.ideal_network = true;
    restart();
  }
  void restart() {
    book_ = std::make_unique<CostBook>(inputs_);
    coster_ = std::make_unique<StageCoster>(inputs_.recipe, inputs_.cluster, book_->collectives());
    network_ = book_->network({}, {.inner = 2}, {});
    const Strategy plain;
    Training t;
    t.sequence = 512;
    terms_ = book_->table(t, plain, RecomputePolicy::none, network_->stages[0]).range(0, 3);
  }
  const StageNetwork& stage() const { return network_->stages[0]; }
  ChunkCost chunk(std::int64_t zero) const {
    ChunkCost out;
    coster_->chunk(terms_, stage(), zero, Schedule::one_f_one_b, out);
    return out;
  }
  StageCost step(std::int64_t zero, double tied = 0, double shared = 0) const {
    StageCost out;
    out.chunks = {chunk(zero)};
    coster_->step(terms_, stage(),
                  {.zero = zero, .tied = tied, .shared = shared, .ends = &stage().dense.whole}, out);
    return out;
  }

  PlanInputs inputs_;
  std::unique_ptr<CostBook> book_;
  std::unique_ptr<StageCoster> coster_;
  const PlanNetwork* network_ = nullptr;
  LayerTerms terms_;  // all three layers: 4 ms, 8 ms, 600 MB, 300 MB of stash
};

class MegatronCosts : public StageCosts {
 protected:
  MegatronCosts() : StageCosts("megatron") {}
};

}  // namespace nest::price::test_stages
