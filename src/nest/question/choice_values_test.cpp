#include "nest/question/choice_values.hpp"

#include <gtest/gtest.h>

#include <string>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/twin/brute_force.hpp"
#include "nest/solve/twin/test_instances.hpp"
#include "support/stride.hpp"

namespace nest::question {
using namespace solve;
namespace {

using Numbers = std::vector<std::int64_t>;

PlanInputs inputs_of(const std::string& model) {
  Warnings warnings;
  return load_inputs(model, "h100-spine-leaf", "plain", warnings);
}

// Tensor, context, expert and expert tensor degrees of the strategies, in their order.
std::vector<Numbers> degrees(const PlanInputs& inputs, const SearchSpace& space, std::int64_t sequence) {
  std::vector<Numbers> all;
  for (const Strategy& s : strategy_values(inputs, {.sequence = sequence}, space))
    all.push_back({s.tensor, s.context, s.expert, s.expert_tensor_degree()});
  return all;
}

TEST(Domains, Divisors) {
  EXPECT_EQ(divisors(1), (Numbers{1}));
  EXPECT_EQ(divisors(12), (Numbers{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(divisors(16), (Numbers{1, 2, 4, 8, 16}));
  EXPECT_EQ(divisors(13), (Numbers{1, 13}));
}

std::string zeros(const SearchSpace& space, std::int64_t ranks, std::int64_t pipeline) {
  std::string text;
  for (const Zero& zero : zero_values(space, {}, ranks, pipeline))
    text += (text.empty() ? "" : "; ") + spell(zero);
  return text;
}

// FSDP keeps what it gathered under a pipeline, and may keep it elsewhere; ZeRO 2 would be another word for that.
TEST(Domains, ZeroIsWhatTheFrameworkDoes) {
  SearchSpace space;
  EXPECT_EQ(zeros(space, 1, 1), "ZeRO 0");
  EXPECT_EQ(zeros(space, 8, 2), "ZeRO 0; ZeRO 1; ZeRO 2; ZeRO 3");
  space.reshardings = {{Resharding::Kind::never, 0}, {Resharding::Kind::group, 4}};
  EXPECT_EQ(zeros(space, 8, 1), "ZeRO 0; ZeRO 1; ZeRO 2; ZeRO 3, reshard never; ZeRO 3, reshard group:4");
  space = {};
  space.rules = find_framework_rules("torchtitan");
  EXPECT_EQ(zeros(space, 8, 1), "ZeRO 0; ZeRO 1; ZeRO 3; ZeRO 3, reshard never");
  EXPECT_EQ(zeros(space, 8, 2), "ZeRO 0; ZeRO 1; ZeRO 3, reshard never");
  EXPECT_EQ(spell(usual_zero(space, 3, {}, 2)), "ZeRO 3, reshard never");
  EXPECT_EQ(spell(usual_zero(space, 3, {}, 1)), "ZeRO 3");
  EXPECT_EQ(spell(usual_zero(space, 2, {}, 1)), "ZeRO 3, reshard never");
  space.zero = Choice(2);
  EXPECT_EQ(zeros(space, 8, 2), "ZeRO 2");
  EXPECT_EQ(spell(usual_zero(space, 2, {}, 2)), "ZeRO 2");
}

// DualPipeV is there to hide exchanges with experts: where nothing is asked it does so, and other schedules as the recipe
// has it.
TEST(Domains, ExchangesOverlapAsTheScheduleHasIt) {
  const PlanInputs inputs = inputs_of("qwen3-30b-a3b");
  SearchSpace space;
  space.tensor = space.expert_tensor = Choice(1);
  space.expert = Choice(8);
  const auto overlaps = [&] {
    std::vector<bool> all;
    for (const Strategy& s : strategy_values(inputs, {.sequence = 4096}, space))
      all.push_back(s.expert_overlap);
    return all;
  };
  EXPECT_EQ(overlaps(), std::vector<bool>{false});
  space.schedules = {Schedule::dualpipe_v};
  EXPECT_EQ(overlaps(), std::vector<bool>{true});
  space.schedules = {Schedule::one_f_one_b, Schedule::dualpipe_v};
  EXPECT_EQ(overlaps(), (std::vector<bool>{false, true}));
  const Strategy beside{.expert = 8, .expert_overlap = true};
  const Strategy apart{.expert = 8};
  EXPECT_TRUE(go_together(beside, Schedule::dualpipe_v, inputs, space));
  EXPECT_FALSE(go_together(beside, Schedule::one_f_one_b, inputs, space));
  EXPECT_FALSE(go_together(apart, Schedule::dualpipe_v, inputs, space));
  EXPECT_TRUE(go_together(apart, Schedule::one_f_one_b, inputs, space));
  EXPECT_TRUE(go_together({}, Schedule::dualpipe_v, inputs, space));  // without experts nothing is exchanged
  space.expert_overlap = {false};
  EXPECT_EQ(overlaps(), std::vector<bool>{false});
  EXPECT_TRUE(go_together(apart, Schedule::dualpipe_v, inputs, space));
}

TEST(Domains, MicroBatchesDivideTheBatch) {
  const PlanInputs model = inputs_of("llama2-7b");
  SearchSpace space;
  EXPECT_EQ(micro_batch_values(model, {.global_batch = 1024, .sequence = 4096}, space),
            (Numbers{1, 2, 4, 8, 16}));
  EXPECT_EQ(micro_batch_values(model, {.global_batch = 12, .sequence = 4096}, space), (Numbers{1, 2, 4}));
  space.micro_batch = *read_choice("3..6");
  EXPECT_EQ(micro_batch_values(model, {.global_batch = 12}, space), (Numbers{3, 4, 6}));
  EXPECT_EQ(micro_batch_values(model, {.global_batch = 7}, space), Numbers{});
}

// While half a micro-batch has fewer than 65,536 tokens; 16 sequences in any case.
TEST(Domains, MicroBatchesGrowWhereInputsAreShort) {
  const PlanInputs llama = inputs_of("llama3.1-8b");
  const auto most = [](const PlanInputs& inputs, std::int64_t batch, std::int64_t sequence) {
    return micro_batch_values(inputs, {.global_batch = batch, .sequence = sequence}, {}).back();
  };
  EXPECT_EQ(most(llama, 4096, 131'072), 16);
  EXPECT_EQ(most(llama, 4096, 4096), 16);
  EXPECT_EQ(most(llama, 4096, 4095), 32);  // 16 * 4,095 tokens are fewer than 65,536
  EXPECT_EQ(most(llama, 4096, 2048), 32);
  EXPECT_EQ(most(llama, 4096, 512), 128);
  EXPECT_EQ(most(llama, 24, 512), 8);
  EXPECT_EQ(most(inputs_of("vit-large"), 4096, 197), 512);        // 256 * 197 tokens
  EXPECT_EQ(most(inputs_of("whisper-large-v3"), 4096, 448), 64);  // 32 * 1,500 frames
}

// 197 patches, 1,500 frames beside 448 tokens: what tensor parallelism does not divide stays whole.
TEST(Domains, SequenceParallelismIsOnWherePositionsAreDivided) {
  const auto sequence_parallel = [](const char* model, std::int64_t sequence, const SearchSpace& space = {}) {
    std::vector<std::pair<std::int64_t, bool>> all;
    for (const Strategy& s : strategy_values(inputs_of(model), {.sequence = sequence}, space))
      all.emplace_back(s.tensor, s.sequence_parallel);
    return all;
  };
  using List = std::vector<std::pair<std::int64_t, bool>>;
  EXPECT_EQ(sequence_parallel("llama3.1-8b", 4096), (List{{1, false}, {2, true}, {4, true}, {8, true}}));
  EXPECT_EQ(sequence_parallel("llama3.1-8b", 4100), (List{{1, false}, {2, true}, {4, true}, {8, false}}));
  EXPECT_EQ(sequence_parallel("vit-large", 197), (List{{1, false}, {2, false}, {4, false}, {8, false}}));
  EXPECT_EQ(sequence_parallel("whisper-large-v3", 448), (List{{1, false}, {2, true}, {4, true}, {8, false}}));
  SearchSpace asked;
  asked.sequence_parallel = {true};
  EXPECT_EQ(sequence_parallel("vit-large", 197, asked), (List{{1, false}, {2, true}, {4, true}, {8, true}}));
}

TEST(Domains, AProfileHasItsOwnMicroBatch) {
  PlanInputs inputs = test::example_inputs();
  SearchSpace space;
  EXPECT_EQ(micro_batch_values(inputs, {.global_batch = 8}, space), Numbers{1});
  space.micro_batch = Choice(2);
  EXPECT_EQ(micro_batch_values(inputs, {.global_batch = 8}, space), Numbers{});
  LayerProfile pairs = *inputs.profile();
  pairs.micro_batch = 2;
  inputs.source = pairs;
  EXPECT_EQ(micro_batch_values(inputs, {.global_batch = 8}, space), Numbers{2});
  EXPECT_EQ(micro_batch_values(inputs, {.global_batch = 9}, space), Numbers{});
}

// Nodes of 8 devices.
TEST(Domains, StrategiesOfADenseModel) {
  const PlanInputs inputs = inputs_of("llama2-7b");
  const std::vector<Numbers> usual{{1, 1, 1, 1}, {2, 1, 1, 2}, {4, 1, 1, 4}, {8, 1, 1, 8}};
  EXPECT_EQ(degrees(inputs, {}, 8192), usual);
  EXPECT_EQ(degrees(inputs, {}, 16'384).size(), 4U * 5) << "long sequences: context 1, 2, 4, 8, 16";
  SearchSpace space;
  space.tensor = *read_choice("2,16");
  space.context = Choice(2);
  EXPECT_EQ(degrees(inputs, space, 8192), (std::vector<Numbers>{{2, 2, 1, 2}, {16, 2, 1, 16}}));
}

TEST(Domains, SequencesAreSharedWhereTensorRanksAre) {
  const PlanInputs inputs = inputs_of("llama2-7b");
  for (const Strategy& s : strategy_values(inputs, {.sequence = 8192}, {}))
    EXPECT_EQ(s.sequence_parallel, s.tensor > 1);
  SearchSpace both;
  both.sequence_parallel = {true, false};
  both.tensor = *read_choice("1,4");
  EXPECT_EQ(strategy_values(inputs, {.sequence = 8192}, both).size(), 1U + 2);
}

TEST(Domains, ContextMethodsCountWhereThereIsContext) {
  const PlanInputs inputs = inputs_of("llama2-7b");
  SearchSpace space;
  space.tensor = Choice(1);
  space.context = *read_choice("1,2");
  space.context_methods = {ContextMethod::ring, ContextMethod::all_to_all};
  EXPECT_EQ(strategy_values(inputs, {.sequence = 8192}, space).size(), 1U + 2);
}

// Of 16 context ranks all-to-alls of 2, 4 or 8 and rings; a node of 8 has room for 4 of two tensor ranks each.
TEST(Domains, HybridStaysInsideTheNodeUnlessAsked) {
  const PlanInputs inputs = inputs_of("llama2-7b");
  SearchSpace space;
  space.context_methods = {ContextMethod::hybrid};
  const auto inner = [&](std::int64_t tensor, std::int64_t context) {
    space.tensor = Choice(tensor);
    space.context = Choice(context);
    Numbers out;
    for (const Strategy& s : strategy_values(inputs, {.sequence = 65'536}, space)) {
      EXPECT_TRUE(s.hybrid());
      out.push_back(s.context_inner);
    }
    return out;
  };
  EXPECT_EQ(inner(1, 16), (Numbers{2, 4, 8}));
  EXPECT_EQ(inner(2, 16), (Numbers{2, 4}));
  EXPECT_EQ(inner(8, 16), Numbers{});
  EXPECT_EQ(inner(1, 2), Numbers{});  // a ring or an all-to-all, which are not asked for
  space.context_inner = *read_choice("1..16");
  EXPECT_EQ(inner(8, 16), (Numbers{2, 4, 8}));
}

// Mixtral: 8 experts. Expert tensor 1 or as tensor, which is one of them for tensor 1.
TEST(Domains, StrategiesOfAMixtureOfExperts) {
  const PlanInputs inputs = inputs_of("mixtral-8x7b");
  SearchSpace space;
  space.tensor = *read_choice("1,2");
  EXPECT_EQ(degrees(inputs, space, 8192), (std::vector<Numbers>{{1, 1, 1, 1},
                                                                {1, 1, 2, 1},
                                                                {1, 1, 4, 1},
                                                                {1, 1, 8, 1},
                                                                {2, 1, 1, 1},
                                                                {2, 1, 1, 2},
                                                                {2, 1, 2, 1},
                                                                {2, 1, 2, 2},
                                                                {2, 1, 4, 1},
                                                                {2, 1, 4, 2},
                                                                {2, 1, 8, 1},
                                                                {2, 1, 8, 2}}));
}

TEST(Domains, CellsFitTheCluster) {
  PlanInputs inputs = test::example_inputs();  // four devices
  LayerProfile profile = *inputs.profile();
  profile.strategies.push_back(profile.strategies[0]);
  profile.strategies.push_back(profile.strategies[0]);
  profile.strategies[1].tensor = 4;
  profile.strategies[2].tensor = 4;
  profile.strategies[2].context = 2;
  inputs.source = profile;
  EXPECT_EQ(degrees(inputs, {}, 512), (std::vector<Numbers>{{1, 1, 1, 1}, {4, 1, 1, 4}}));
  SearchSpace space;
  space.tensor = *read_choice("2..8");
  EXPECT_EQ(degrees(inputs, space, 512), (std::vector<Numbers>{{4, 1, 1, 4}}));
}

// A batch of 24: two micro-batches side by side leave the divisors of 12.
TEST(Domains, Copies) {
  const Training training{.global_batch = 24};
  EXPECT_EQ(copies_values(training, {}, 1, {}, 100), (Numbers{1, 2, 3, 4, 6, 8, 12, 24}));
  EXPECT_EQ(copies_values(training, {}, 4, {}, 5), (Numbers{1, 2, 3}));
  EXPECT_EQ(copies_values(training, {}, 5, {}, 100), Numbers{});
  const Strategy side{.expert = 2};
  ASSERT_EQ(side.side(), 2);
  EXPECT_EQ(copies_values(training, {}, 1, side, 100), (Numbers{1, 2, 3, 4, 6, 12}));
  SearchSpace space;
  space.data = *read_choice("4..8");  // Megatron's: side * copies
  EXPECT_EQ(copies_values(training, space, 1, side, 100), (Numbers{2, 3, 4}));
}

TEST(Domains, CopiesSideBySide) {
  EXPECT_EQ(inner_values({}, 6), (Numbers{1, 2, 3, 6}));
  SearchSpace space;
  space.data_inner = *read_choice("2..5");
  EXPECT_EQ(inner_values(space, 6), (Numbers{2, 3}));
}

TEST(Domains, SchedulesAndChunks) {
  using List = std::vector<Schedule>;
  SearchSpace space;
  EXPECT_EQ(schedule_values(space), (List{Schedule::one_f_one_b, Schedule::interleaved}));
  EXPECT_EQ(interleave_values(space), (Numbers{1, 2, 3, 4, 6, 8}));
  space.interleave = *read_choice("1,5");
  EXPECT_EQ(interleave_values(space), (Numbers{1, 5}));
  space.schedules = {Schedule::gpipe, Schedule::zb_h1};
  EXPECT_EQ(schedule_values(space), (List{Schedule::gpipe, Schedule::zb_h1}));
  const FrameworkRules rules{.schedules = {Schedule::zb_h1, Schedule::one_f_one_b}};
  space.rules = &rules;
  EXPECT_EQ(schedule_values(space), List{Schedule::zb_h1});
  const FrameworkRules any{};
  space.rules = &any;
  EXPECT_EQ(schedule_values(space), (List{Schedule::gpipe, Schedule::zb_h1}));
}

// Degrees of every valid plan of the exhaustive twin are in the domains.
TEST(Domains, HoldTheTwinsPlans) {
  for (unsigned seed = 1; seed <= 100; seed += test::stride()) {
    const test::Instance i = test::random_instance(seed, 500);
    const Numbers batches = micro_batch_values(i.inputs, i.training, i.space);
    const std::vector<Strategy> strategies = strategy_values(i.inputs, i.training, i.space);
    const auto has = [](const auto& list, const auto& value) {
      return std::find(list.begin(), list.end(), value) != list.end();
    };
    Pricer pricer(i.inputs);
    PricedPlan priced;
    for_each_plan(i.inputs, i.training, i.space, [&](const Plan& plan) {
      pricer.price(plan, priced);
      if (priced.status == PriceStatus::invalid) return true;
      const Parallelism& p = plan.parallelism;
      const std::int64_t most = i.inputs.cluster.devices() / p.strategy.cell() / p.pipeline;
      const bool known =
          has(batches, plan.training.micro_batch) && has(strategies, p.strategy) &&
          has(copies_values(i.training, i.space, plan.training.micro_batch, p.strategy, most), p.copies()) &&
          has(inner_values(i.space, p.copies()), p.data_inner) &&
          has(interleave_values(i.space), p.interleave) && has(schedule_values(i.space), p.schedule);
      EXPECT_TRUE(known) << i.text;
      return known;
    });
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace nest::question
