#include "nest/solve/baselines/manual/manual_strategies.hpp"

#include <gtest/gtest.h>

#include "nest/solve/baselines/common/test_questions.hpp"

namespace nest::solve {
namespace {

ManualStrategies strategies(const PlanQuestion& question) {
  CostBook book(question.inputs);
  return manual_strategies(question, question.training, book);
}

TEST(ManualStrategies, ADenseModelHasTheWidestTensor) {
  const ManualStrategies made = strategies(test::config_question(test::llama_config(16, 8), {}));
  ASSERT_EQ(made.usual.size(), 1U);
  EXPECT_EQ(made.usual[0].tensor, 4);
  ASSERT_EQ(made.others.size(), 2U);
  EXPECT_EQ(made.others[0].tensor, 2);
  EXPECT_EQ(made.others[1].tensor, 1);
  ASSERT_EQ(made.narrow.size(), 2U);
  EXPECT_EQ(made.narrow[0].tensor, 1);
  EXPECT_EQ(made.narrow[1].tensor, 2);
}

TEST(ManualStrategies, LongSequencesComeWithLittleContextFirst) {
  PlanQuestion question = test::config_question(test::llama_config(16, 8), {});
  question.space.context = *read_choice("2,4");
  const ManualStrategies made = strategies(question);
  ASSERT_FALSE(made.usual.empty());
  EXPECT_EQ(made.usual[0].context, 2);
  EXPECT_EQ(made.usual[0].tensor, 2);  // the cell stays within the node
}

TEST(ManualStrategies, SaysWhyThereIsNone) {
  PlanQuestion question = test::config_question(test::llama_config(6, 6), {});
  question.space.tensor = Choice(4);
  const ManualStrategies made = strategies(question);
  EXPECT_TRUE(made.usual.empty() && made.others.empty());
  EXPECT_FALSE(made.refusal.empty());
}

}  // namespace
}  // namespace nest::solve
