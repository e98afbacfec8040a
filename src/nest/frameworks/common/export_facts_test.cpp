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

}  // namespace
}  // namespace nest::frameworks
