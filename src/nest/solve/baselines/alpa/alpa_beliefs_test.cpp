#include "nest/solve/baselines/alpa/alpa_beliefs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/plan/test_example.hpp"

namespace nest::solve::alpa {
namespace {

PlanQuestion example_question() {
  PlanQuestion question{test::example_inputs(), {}, {}, {}};
  question.training.global_batch = 8;
  question.training.sequence = 512;
  return question;
}

// Layers of 3, 6 and 3 ms. Two copies in one node: 100 M parameters of 2 bytes at 100 GB/s, half of it sent
// each way in one step of 1 us, once for 4 micro-batches.
TEST(AlpaBeliefs, TakesAProfilesCosts) {
  const PlanQuestion question = example_question();
  const TwoLevelMesh mesh = two_level_mesh(question.inputs.cluster);
  CostBook book(question.inputs);
  LayerBeliefs beliefs(question, mesh, book);
  const std::vector<Seconds> alone = beliefs.times(1, {{}, 1, 8});
  ASSERT_EQ(alone.size(), 3U);
  EXPECT_DOUBLE_EQ(alone[0].value, 3e-3);
  EXPECT_DOUBLE_EQ(alone[1].value, 6e-3);
  EXPECT_NEAR(beliefs.times(1, {{}, 2, 4})[0].value, 3e-3 + 2 * (1e-6 + 1e-3) / 4, 1e-12);
  EXPECT_DOUBLE_EQ(beliefs.times(1, {{}, 1, 8, true})[1].value, 8e-3);
}

TEST(AlpaBeliefs, EqualLayersTakeTheSame) {
  Warnings warnings;
  PlanQuestion question{load_inputs("t5-11b", "h100-spine-leaf", "plain", warnings), {}, {}, {}};
  question.training.sequence = 512;
  const TwoLevelMesh mesh = two_level_mesh(question.inputs.cluster);
  CostBook book(question.inputs);
  LayerBeliefs beliefs(question, mesh, book);
  const std::vector<LayerId> order = beliefs.order(2);
  const std::vector<Seconds> times = beliefs.times(2, {{.tensor = 4, .sequence_parallel = true}, 8, 16});
  const Model& model = *book.model(2, {.sequence = 512}).model;
  ASSERT_EQ(order.size(), model.layers.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (model.layers[order[i].index()].type == model.layers[order[i - 1].index()].type) {
      EXPECT_EQ(times[i], times[i - 1]);
    }
  }
  for (const Edge& edge : model.edges) {
    EXPECT_LT(std::find(order.begin(), order.end(), edge.from),
              std::find(order.begin(), order.end(), edge.to));
  }
  EXPECT_GT(beliefs.transitions(), 0);
}

}  // namespace
}  // namespace nest::solve::alpa
