#include "nest/solve/baselines/alpa/alpa_candidates.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::solve::alpa {
namespace {

std::vector<Candidate> candidates_of(const PlanQuestion& question) {
  const TwoLevelMesh mesh = two_level_mesh(question.inputs.cluster);
  CostBook book(question.inputs);
  LayerBeliefs beliefs(question, mesh, book);
  return candidates(question, mesh, book, beliefs);
}

PlanQuestion example_question() {
  PlanQuestion question{test::example_inputs(), {}, {}, {}};
  question.training.global_batch = 8;
  question.training.sequence = 512;
  return question;
}

PlanQuestion zoo_question(const std::string& model) {
  Warnings warnings;
  PlanQuestion question{load_inputs(model, "h100-spine-leaf", "plain", warnings), {}, {}, {}};
  question.training.sequence = 4096;
  return question;
}

// Four devices, three layers: one stage of 4 copies, or two stages of 2.
TEST(AlpaCandidates, UseAllDevicesInTheOrderOfTheirBelief) {
  const std::vector<Candidate> all = candidates_of(example_question());
  ASSERT_EQ(all.size(), 2U);
  for (const Candidate& c : all) EXPECT_EQ(c.parallelism.devices(), 4);
  EXPECT_LE(all[0].believed, all[1].believed);
}

TEST(AlpaCandidates, LeaveDevicesIdleWhereTheSpaceDemandsIt) {
  PlanQuestion question = example_question();
  question.space.data = Choice(1);
  const std::vector<Candidate> all = candidates_of(question);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().parallelism.pipeline, 3);
  question.space.interleave = Choice(2);
  EXPECT_TRUE(candidates_of(question).empty());
}

// Layers of 3, 6 and 3 ms in two stages: 9 + 3, or 3 + 9.
TEST(AlpaCandidates, BelieveTheSumAndTheGreatestStage) {
  const std::vector<Seconds> times{Seconds{3}, Seconds{6}, Seconds{3}};
  EXPECT_DOUBLE_EQ(believed_step(times, {0, 2}, 4).value, 12 + 3 * 9);
  EXPECT_DOUBLE_EQ(believed_step(times, {0}, 4).value, 4 * 12);
}

TEST(AlpaCandidates, HonourPins) {
  PlanQuestion question = zoo_question("llama3.1-70b");
  question.space.tensor = Choice(4);
  question.space.pipeline = Choice(8);
  question.space.zero = Choice(0);
  question.space.data_inner = Choice(1);
  const std::vector<Candidate> all = candidates_of(question);
  ASSERT_FALSE(all.empty());
  for (const Candidate& c : all) {
    EXPECT_EQ(c.parallelism.strategy.tensor, 4);
    EXPECT_EQ(c.parallelism.pipeline, 8);
    EXPECT_EQ(c.parallelism.zero.number(), 0);
    EXPECT_EQ(c.parallelism.data_inner, 1);
    EXPECT_EQ(c.firsts.size(), 8U);
  }
}

TEST(AlpaCandidates, SpreadExpertsOverTheMesh) {
  const std::vector<Candidate> all = candidates_of(zoo_question("mixtral-8x7b"));
  ASSERT_FALSE(all.empty());
  for (const Candidate& c : all) {
    EXPECT_EQ(c.parallelism.strategy.expert, 8);
    EXPECT_EQ(c.parallelism.strategy.expert_tensor_degree(), 1);
  }
}

}  // namespace
}  // namespace nest::solve::alpa
