#include "nest/frameworks/common/export_facts.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

TEST(ExportFacts, SeeTheDecoder) {
  test::Planner planner("llama3.1-8b");
  const ExportQuestion question = planner.question(test::degrees({}, 4, 1));
  const ExportFacts facts = export_facts(question);
  EXPECT_TRUE(facts.decoder && facts.contiguous && facts.even());
  EXPECT_EQ(facts.blocks, 32);
  ASSERT_EQ(facts.parts.size(), 4U);
  EXPECT_EQ(facts.parts[0].blocks, 8);
  EXPECT_TRUE(facts.parts[0].embedding && facts.parts[3].head);
  EXPECT_EQ(facts.attention()->kv_heads, 8);
  EXPECT_EQ(facts.experts(), nullptr);
}

TEST(ExportFacts, PartsOfInterleavedStagesAreInPipelineOrder) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 2, 1);
  plan.parallelism.interleave = 2;
  plan.parallelism.schedule = Schedule::interleaved;
  const ExportQuestion question = planner.question(plan);
  const ExportFacts facts = export_facts(question);
  ASSERT_EQ(facts.parts.size(), 4U);
  EXPECT_TRUE(facts.contiguous && facts.even());
  EXPECT_EQ(facts.parts[1].layers.front(), LayerId{9});
  EXPECT_EQ(question.plan.stages[1].chunks[0], facts.parts[1].layers);
}

TEST(ExportFacts, OtherModelsAreNoDecoder) {
  test::Planner t5("t5-small");
  Plan plan = test::degrees({}, 2, 1);
  plan.training.sequence = 512;
  const ExportQuestion question = t5.question(plan);
  EXPECT_FALSE(export_facts(question).decoder);
  test::Planner moe("mixtral-8x7b");
  const ExportQuestion experts = moe.question(test::degrees({}, 2, 1));
  EXPECT_TRUE(export_facts(experts).decoder);
  EXPECT_EQ(export_facts(experts).experts()->experts, 8);
}

// llama3.2-1b has 16 blocks: 7 and 9 of them beside the embedding and the head.
TEST(ExportFacts, OneNumberOfLayersMayMeanAllOfAShortStage) {
  test::Planner planner("llama3.2-1b");
  Plan plan = test::degrees({}, 2, 4);
  plan.stages.resize(2);
  for (std::int32_t i = 0; i < 18; ++i) plan.stages[i < 8 ? 0 : 1].layers.emplace_back(i);
  ExportQuestion question = planner.question(plan);
  const auto common = [&](const Recompute& first, const Recompute& second) {
    question.plan.stages[0].recompute = first;
    question.plan.stages[1].recompute = second;
    const std::optional<Recompute> r = export_facts(question).recompute();
    return r ? spell(*r) : "none";
  };
  const auto full = [](std::int64_t layers) { return Recompute{RecomputePolicy::full, layers}; };
  EXPECT_EQ(common(full(3), full(3)), spell(full(3)));
  EXPECT_EQ(common(full(0), full(8)), spell(full(8)));
  EXPECT_EQ(common(full(7), full(8)), spell(full(8)));
  EXPECT_EQ(common(full(0), full(6)), "none");
  EXPECT_EQ(common(full(6), full(8)), "none");
  EXPECT_EQ(common(full(0), {}), "none");
}

}  // namespace
}  // namespace nest::frameworks
