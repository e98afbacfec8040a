#include "nest/question/state_choices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"
#include "support/message_of.hpp"

namespace nest::question {
namespace {

using testing::ElementsAre;
constexpr auto kFp32 = StateDType::fp32;
constexpr auto kBf16 = StateDType::bf16;
constexpr auto kFp8 = StateDType::fp8;

PlanInputs megatron_example() {
  PlanInputs inputs = test::example_inputs();
  inputs.recipe = named_recipe("megatron");
  return inputs;
}

Asked asking(std::initializer_list<std::pair<const char*, const char*>> fields) {
  Asked out;
  for (const auto& [name, text] : fields) set_asked(out, name, text);
  return out;
}

TEST(StateChoices, NothingListedIsTheTrainings) {
  Training training;
  EXPECT_THAT(state_values(megatron_example(), training, {}), ElementsAre(States{}));
  training.states.moments = kBf16;
  EXPECT_THAT(state_values(megatron_example(), training, {}), ElementsAre(training.states));
}

// The recipe's moments are fp32: they come first. Then the fewest bytes.
TEST(StateChoices, TheRecipesFirstThenFewBytes) {
  SearchSpace space;
  space.optimizer_dtypes = {kBf16, kFp32, kFp8};
  EXPECT_THAT(state_values(megatron_example(), {}, space),
              ElementsAre(States{.moments = kFp32}, States{.moments = kFp8}, States{.moments = kBf16}));
  space.optimizer_dtypes = {kBf16, kFp8};  // without the recipe's: the list's own first
  EXPECT_THAT(state_values(megatron_example(), {}, space),
              ElementsAre(States{.moments = kBf16}, States{.moments = kFp8}));
  space.master_weights = {true, false};
  EXPECT_EQ(state_values(megatron_example(), {}, space).size(), 4U);
}

TEST(StateChoices, OneValueIsTheTrainings) {
  const PlanQuestion q =
      make_question(megatron_example(), asking({{"gradient-dtype", "bf16"}, {"master-weights", "off"}}));
  EXPECT_EQ(q.training.states, (States{.gradients = kBf16, .master_weights = false}));
  EXPECT_EQ(make_question(megatron_example(), asking({{"optimizer-dtype", "auto"}})).training.states.moments,
            kFp32);
  EXPECT_FALSE(make_question(megatron_example()).training.states.any());
}

TEST(StateChoices, AutoIsAWordOfDtypesAlone) {
  EXPECT_THAT(asking({{"optimizer-dtype", "auto"}}).choices.optimizer_dtypes,
              ElementsAre(kFp32, kBf16, kFp8));
  EXPECT_THAT(asking({{"gradient-dtype", "auto"}}).choices.gradient_dtypes, ElementsAre(kFp32, kBf16));
  EXPECT_THAT(asking({{"reduce-dtype", "auto"}}).choices.reduce_dtypes, ElementsAre(kFp32, kBf16));
  EXPECT_THAT(asking({{"master-weights", "auto"}}).choices.master_weights, ElementsAre(true, false));
  Asked out;
  EXPECT_EQ(message_of([&] { set_asked(out, "gradient-dtype", "fp8"); }),
            "gradient-dtype: fp32, bf16 or fp16 is expected, not 'fp8'");
  EXPECT_EQ(message_of([&] { set_asked(out, "sequence-parallel", "auto"); }),
            "sequence-parallel: on or off is expected, not 'auto'");
}

// A plan that was found stands for one combination and one batch.
TEST(StateChoices, SettledIsOfOneCombination) {
  const PlanQuestion q =
      make_question(megatron_example(), asking({{"optimizer-dtype", "auto"}, {"global-batch", "480,512"}}));
  Plan plan;
  plan.training.global_batch = 512;
  plan.training.states.moments = kBf16;
  const PlanQuestion one = settled(q, plan);
  EXPECT_EQ(one.training.states, plan.training.states);
  EXPECT_THAT(one.space.optimizer_dtypes, ElementsAre(kBf16));
  EXPECT_THAT(one.asked.choices.optimizer_dtypes, ElementsAre(kBf16));
  EXPECT_EQ(one.training.global_batch, 512);
  EXPECT_TRUE(one.batches.empty() && one.asked.batches.empty());
  EXPECT_EQ(state_values(one.inputs, one.training, one.space).size(), 1U);
}

}  // namespace
}  // namespace nest::question
