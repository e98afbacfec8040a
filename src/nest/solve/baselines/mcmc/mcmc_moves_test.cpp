#include "nest/solve/baselines/mcmc/mcmc_moves.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace nest::solve {
namespace {

PlanQuestion moe_question() {
  Warnings warnings;
  PlanQuestion question{load_inputs("mixtral-8x7b", "h100-spine-leaf", "megatron", warnings), {}, {}, {}};
  question.training.global_batch = 256;
  question.training.sequence = question.inputs.default_sequence();
  return question;
}

// 8 stages and 8 copies with ZeRO 1, so that there is something to change for every move.
McmcState usual_state(McmcSpace& space) {
  McmcState state;
  for (const Strategy& s : space.strategies()) {
    if (s.tensor == 2 && s.expert == 4) state.strategy = s;
  }
  state.pipeline = 8;
  state.copies = 8;
  state.inner = 2;
  state.zero = 1;
  state.zero_shards = state.group();
  state.cut = space.cuts().even(8);
  EXPECT_TRUE(space.settle(state, state));
  return state;
}

TEST(McmcMoves, EachChangesWhatItsNameSays) {
  const PlanQuestion question = moe_question();
  McmcSpace space(question);
  McmcMoves moves(space);
  SeededRandom random(1);
  const McmcState state = usual_state(space);
  std::set<std::string> changed;
  for (const std::string_view name : McmcMoves::names()) {
    McmcState next;
    for (int i = 0; i < 100; ++i) {
      if (!moves.propose(name, state, 3, random, next)) continue;
      changed.emplace(name);
      EXPECT_EQ(McmcCuts::stages(next.cut), next.pipeline) << name;
      EXPECT_LE(next.pipeline * next.copies * next.strategy.cell(), question.inputs.cluster.devices())
          << name;
      if (name == "boundary" || name == "balance") {
        McmcState same = next;
        same.cut = state.cut;
        EXPECT_EQ(same, state) << name << " changes nothing else";
      }
    }
  }
  // The layers of a language model have one order only.
  EXPECT_FALSE(changed.contains("order"));
  EXPECT_EQ(changed.size(), McmcMoves::names().size() - 1);
}

TEST(McmcMoves, MostKeepThePlacement) {
  const PlanQuestion question = moe_question();
  McmcSpace space(question);
  McmcMoves moves(space);
  SeededRandom random(2);
  const McmcState state = usual_state(space);
  int made = 0;
  int kept = 0;
  McmcState next;
  for (int i = 0; i < 2'000; ++i) {
    if (!moves.propose(state, 0, random, next)) continue;
    ++made;
    if (next.strategy == state.strategy && next.pipeline == state.pipeline && next.copies == state.copies &&
        next.inner == state.inner && next.block == state.block &&
        next.first_stage_first == state.first_stage_first)
      ++kept;
  }
  EXPECT_GT(made, 1'000);
  EXPECT_GT(kept, made / 2);
}

TEST(McmcMoves, LeadNowhereInASpaceOfOnePlan) {
  PlanQuestion question = moe_question();
  SearchSpace& s = question.space;
  s.micro_batch = s.tensor = s.context = s.expert = s.expert_tensor = s.pipeline = s.data = Choice(1);
  s.recompute = {{RecomputePolicy::full, 0}};
  McmcSpace space(question);
  McmcMoves moves(space);
  SeededRandom random(1);
  McmcState state;
  ASSERT_TRUE(space.starts([&](const McmcState& first) {
    state = first;
    return true;
  }));
  McmcState next;
  for (int i = 0; i < 500; ++i) EXPECT_FALSE(moves.propose(state, 0, random, next));
}

}  // namespace
}  // namespace nest::solve
