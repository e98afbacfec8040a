#include "nest/question/recompute_choices.hpp"

#include <gtest/gtest.h>

namespace nest::question {
namespace {

constexpr Recompute kNone{RecomputePolicy::none, 0};
constexpr Recompute kSelective{RecomputePolicy::selective, 0};
constexpr Recompute kFull{RecomputePolicy::full, 0};
constexpr Recompute full_on(std::int64_t layers) {
  return {RecomputePolicy::full, layers};
}

using List = std::vector<Recompute>;

// As docs/decisions/0004-plan-space.md has it: parts are fewer layers than the stage can recompute.
TEST(RecomputeChoices, OpenHasEverything) {
  const RecomputeChoices open;
  EXPECT_EQ(open.of_stage(3), (List{kNone, kSelective, full_on(1), full_on(2), kFull}));
  EXPECT_EQ(open.of_stage(1), (List{kNone, kSelective, kFull}));
  EXPECT_TRUE(open.allows(RecomputePolicy::selective));
  EXPECT_TRUE(open.allows_part(7));
}

TEST(RecomputeChoices, ProfilesKnowNoSelective) {
  RecomputeChoices open;
  open.drop_selective();
  EXPECT_EQ(open.of_stage(2), (List{kNone, full_on(1), kFull}));
  EXPECT_FALSE(open.allows(RecomputePolicy::selective));
}

// None, selective and full are the same to a stage without a layer that can recompute.
TEST(RecomputeChoices, NothingToRecompute) {
  EXPECT_EQ(RecomputeChoices().of_stage(0), List{kNone});
  EXPECT_EQ(RecomputeChoices(List{kFull}).of_stage(0), List{kFull});
  EXPECT_TRUE(RecomputeChoices(List{full_on(1)}).of_stage(0).empty());
}

TEST(RecomputeChoices, AListIsAllThereIs) {
  const RecomputeChoices two({kFull, kNone});
  EXPECT_EQ(two.of_stage(4), (List{kNone, kFull}));
  EXPECT_FALSE(two.allows(RecomputePolicy::selective));
  EXPECT_FALSE(two.allows_part(2));
}

// A listed number may be all of the stage's layers, and leaves shorter stages nothing.
TEST(RecomputeChoices, AListedPartIsJustThatNumber) {
  const RecomputeChoices part({full_on(2)});
  EXPECT_EQ(part.of_stage(3), List{full_on(2)});
  EXPECT_EQ(part.of_stage(2), List{full_on(2)});
  EXPECT_TRUE(part.of_stage(1).empty());
  EXPECT_TRUE(part.allows_part(2));
  EXPECT_FALSE(part.allows_part(1));
  EXPECT_FALSE(part.allows(RecomputePolicy::full));
}

TEST(RecomputeChoices, WholeStagesOnly) {
  RecomputeChoices open;
  open.drop_parts();
  EXPECT_EQ(open.of_stage(5), (List{kNone, kSelective, kFull}));
  RecomputeChoices listed({full_on(2), kNone});
  listed.drop_parts();
  EXPECT_EQ(listed.of_stage(5), List{kNone});
}

// Each value that all stages might have, and what it leaves to a stage.
TEST(RecomputeChoices, OneForAllStages) {
  RecomputeChoices open;
  open.drop_selective();
  EXPECT_EQ(open.uniform(3), (List{kNone, full_on(1), full_on(2), kFull}));
  EXPECT_EQ(open.uniform(0), (List{kNone, kFull}));
  const RecomputeChoices two(full_on(2), open);
  EXPECT_EQ(two.of_stage(3), List{full_on(2)});
  EXPECT_TRUE(two.of_stage(2).empty()) << "open choices have parts below all of a stage's layers";
  EXPECT_EQ(RecomputeChoices(full_on(2), RecomputeChoices(List{full_on(2)})).of_stage(2), List{full_on(2)});
  EXPECT_EQ(RecomputeChoices(kSelective, RecomputeChoices()).of_stage(2), List{kSelective});
}

constexpr Recompute modules_of(RecomputeModules set) {
  return {RecomputePolicy::modules, 0, set};
}

TEST(RecomputeChoices, ListedModules) {
  const RecomputeModules norms{RecomputeModule::layernorm};
  const RecomputeModules both{RecomputeModule::layernorm, RecomputeModule::mlp};
  const RecomputeChoices listed({kFull, modules_of(both), kNone, modules_of(norms), full_on(1)});
  EXPECT_EQ(listed.of_stage(3), (List{kNone, modules_of(both), modules_of(norms), full_on(1), kFull}));
  EXPECT_EQ(listed.plain_of_stage(3), (List{kNone, full_on(1), kFull}));
  EXPECT_EQ(listed.sets_of_stage(3), (List{modules_of(both), modules_of(norms)}));
  EXPECT_TRUE(listed.sets_of_stage(0).empty());
  EXPECT_EQ(RecomputeChoices({modules_of(both), modules_of(norms)}).of_stage(0), List{modules_of(both)});
  EXPECT_TRUE(listed.allows(RecomputePolicy::modules));
  EXPECT_EQ(RecomputeChoices(modules_of(norms), listed).of_stage(2), List{modules_of(norms)});
}

// Nothing listed, or the word alone, are the sets of the model; without a model there are none.
TEST(RecomputeChoices, SetsOfTheModel) {
  Warnings warnings;
  const PlanInputs inputs = load_inputs("llama3.2-1b", "h100-spine-leaf", "megatron", warnings);
  const auto points = points_of(inputs, Training{.sequence = 4096}, SearchSpace{});
  ASSERT_FALSE(points->sets().empty());
  const RecomputeChoices open({}, points);
  EXPECT_EQ(open.modules(), points->sets());
  EXPECT_EQ(open.of_stage(1).size(), 3 + points->sets().size());
  EXPECT_EQ(RecomputeChoices(List{modules_of({})}, points).modules(), points->sets());
  EXPECT_TRUE(RecomputeChoices(List{modules_of({})}).of_stage(2).empty());
  EXPECT_TRUE(RecomputeChoices(List{kFull}, points).modules().empty());
  EXPECT_FALSE(RecomputeChoices().allows(RecomputePolicy::modules));
}

}  // namespace
}  // namespace nest::question
