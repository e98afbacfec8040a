#include "nest/solve/table/stage_options.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/tree/test_fill.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::FillCase;
using test::Instance;

Instance example() {
  Instance instance{test::example_inputs(), {}, {}, {}, {}};
  instance.training = {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd};
  return instance;
}

// The classes of a plan's stages, first stage first: the way through the downsets from its last stage on.
std::vector<std::int32_t> classes_of(const LayerSets& sets, const Plan& plan) {
  std::vector<std::int32_t> classes(plan.stages.size(), -1);
  std::int32_t state = 0;
  for (std::size_t i = plan.stages.size(); i-- > 0;) {
    const auto moves = sets.moves(state);
    const auto own = std::find_if(moves.begin(), moves.end(), [&](const Move& move) {
      return sets.stage(state, move.to) == plan.stages[i].layers;
    });
    if (own == moves.end()) return {};
    classes[i] = own->stage_class;
    state = own->to;
  }
  return classes;
}

// The first and the last stage that share a weight, as the plan's network has to know them.
TieQuestion ties_of(const LayerSets& sets, const std::vector<std::int32_t>& classes) {
  TieQuestion ties;
  bool any = false;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!sets.classes()[static_cast<std::size_t>(classes[i])].splits_tied) continue;
    if (!any) ties.first = i;
    ties.last = i;
    any = true;
  }
  return ties;
}

void expect_cost(const StageOption& option, const StageCost& cost) {
  const auto near = [](Seconds a, Seconds b, const char* what) {
    EXPECT_NEAR(a.value, b.value, 1e-12 * std::max(std::abs(a.value), std::abs(b.value))) << what;
  };
  const ChunkCost& chunk = cost.chunks.front();
  near(option.f, chunk.f(), "f");
  near(option.b, chunk.b(), "b");
  near(option.weight, chunk.backward_weight, "weight");
  near(option.work_b, chunk.backward_work(), "work_b");
  near(option.hidden, chunk.forward_hidden + chunk.backward_hidden, "hidden");
  near(option.alone, cost.reduce_alone, "alone");
  near(option.reduce, cost.reduce, "reduce");
  near(option.gather, cost.gather, "gather");
  near(option.slow_down, cost.slow_down, "slow_down");
  near(option.optimizer, cost.optimizer, "optimizer");
  near(option.norm, cost.norm, "norm");
}

// Plans of random spaces, stage by stage: `look` gets the case, its plan's price, and its classes.
template <class Look>
void for_samples(unsigned first, unsigned count, Look look) {
  unsigned looked_at = 0;
  for (unsigned seed = first; looked_at < test::fewer(count); ++seed) {
    ASSERT_LT(seed, first + 10 * count) << "hardly any sample has a plan";
    Instance instance = test::random_instance(seed, 1000);
    instance.space.mixed = instance.space.same_recompute = false;
    instance.space.rules = nullptr;
    test::Dice dice(seed);
    const auto plan =
        test::some_plan(dice, instance, [](const Plan& p) { return p.parallelism.interleave == 1; });
    if (!plan) continue;
    ++looked_at;
    FillCase c(instance, *plan);
    const PricedPlan priced = c.price(*plan);
    const std::vector<std::int32_t> classes = classes_of(*c.problem.batch(c.configuration).sets, *plan);
    ASSERT_EQ(classes.size(), plan->stages.size()) << instance.text << test::in_words(*plan);
    look(c, priced, classes);
    ASSERT_FALSE(testing::Test::HasFailure()) << instance.text << test::in_words(*plan);
  }
}

TEST(StageOptions, AreWhatThePriceSays) {
  int recomputed = 0;
  for_samples(
      70'001, 200, [&](FillCase& c, const PricedPlan& priced, const std::vector<std::int32_t>& classes) {
        const LayerSets& sets = *c.problem.batch(c.configuration).sets;
        const PlanNetwork network = c.network(ties_of(sets, classes));
        StageOptions options = c.options(network);
        for (std::size_t i = 0; i < classes.size(); ++i) {
          std::vector<StageOption>& all = options.of(i, classes[i]);
          const Recompute& own = c.plan().stages[i].recompute;
          auto option =
              std::find_if(all.begin(), all.end(), [&](const StageOption& o) { return o.recompute == own; });
          const StageClass& stage = sets.classes()[static_cast<std::size_t>(classes[i])];
          // All are the same to layers that cannot recompute; the first one stands for them.
          if (option == all.end() && stage.recomputable == 0) option = all.begin();
          ASSERT_NE(option, all.end());
          EXPECT_FALSE(option->priced);
          options.price(i, stage, *option);
          EXPECT_TRUE(option->priced);
          expect_cost(*option, priced.stages[i]);
          const StageSetting& setting = options.setting();
          const std::int64_t held = in_flight(setting.schedule, setting.shape, static_cast<std::int64_t>(i));
          EXPECT_EQ(option->total(held), priced.stages[i].memory.allocated());
          recomputed += own.policy == RecomputePolicy::full ? 1 : 0;
        }
      });
  EXPECT_GT(recomputed, 20);
}

// Made one by one or all at once, the list is the same.
TEST(StageOptions, TheFirstStaysTheFirst) {
  int alone = 0;
  for_samples(72'001, 100, [&](FillCase& c, const PricedPlan&, const std::vector<std::int32_t>& classes) {
    const PlanNetwork network = c.network({});
    StageOptions whole = c.options(network);
    StageOptions parts = c.options(network);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const std::vector<StageOption>& all = whole.of(i, classes[i]);
      std::vector<StageOption>& own = parts.first_of(i, classes[i]);
      ASSERT_EQ(own.empty(), all.empty());
      if (all.empty()) continue;
      EXPECT_EQ(own.front().recompute, all.front().recompute);
      alone += own.size() == 1 && all.size() > 1 ? 1 : 0;
      const std::size_t before = own.size();
      EXPECT_EQ(parts.complete(i, classes[i]), before < all.size());
      ASSERT_EQ(own.size(), all.size());
      for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(own[k].recompute, all[k].recompute);
      EXPECT_FALSE(parts.complete(i, classes[i])) << "there is nothing left";
    }
  });
  EXPECT_GT(test::often(alone), 20);
}

// In order of backward time; the layers' least times are never above.
TEST(StageOptions, ComeInOrderAndAboveTheirFloors) {
  for_samples(71'001, 100, [](FillCase& c, const PricedPlan&, const std::vector<std::int32_t>& classes) {
    const LayerSets& sets = *c.problem.batch(c.configuration).sets;
    const PlanNetwork network = c.network({});
    StageOptions options = c.options(network);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const StageClass& stage = sets.classes()[static_cast<std::size_t>(classes[i])];
      Seconds f;
      Seconds b;
      for (std::size_t kind = 0; kind < stage.counts.size(); ++kind) {
        f += stage.counts[kind] * options.least_forward(kind);
        b += stage.counts[kind] * options.least_backward(kind);
      }
      Seconds last;
      for (StageOption& option : options.of(i, classes[i])) {
        options.price(i, stage, option);
        EXPECT_GE(option.layers_b, last);
        last = option.layers_b;
        EXPECT_GE(option.work_b * (1 + 1e-12), option.layers_b);
        EXPECT_GE(option.f * (1 + 1e-12), f);
        EXPECT_GE(option.layers_b * (1 + 1e-12), b);
      }
    }
  });
}

// The setting that stands for all of ZeRO needs no more memory than any of them.
TEST(StageOptions, AnyZeroNeedsTheLeast) {
  for_samples(72'001, 100, [](FillCase& c, const PricedPlan&, const std::vector<std::int32_t>& classes) {
    PlanNetwork network = c.network({});
    for (StageNetwork& stage : network.stages) {
      stage.dense.shards = stage.dense.members;
      stage.expert.shards = stage.expert.members;
    }
    StageSetting setting = c.setting(network);
    const std::vector<Place> places = c.options(network).places();
    setting.zero = 3;
    setting.any_zero = true;
    StageOptions any(setting, places);
    setting.any_zero = false;
    for (const std::int64_t zero : {0, 1, 2, 3}) {
      setting.zero = zero;
      StageOptions own(setting, places);
      for (std::size_t i = 0; i < classes.size(); ++i) {
        const std::vector<StageOption>& least = any.of(i, classes[i]);
        const std::vector<StageOption>& all = own.of(i, classes[i]);
        ASSERT_EQ(least.size(), all.size());
        for (std::size_t o = 0; o < all.size(); ++o) {
          EXPECT_EQ(least[o].recompute, all[o].recompute);
          for (const std::int64_t held : {1, 3})
            EXPECT_LE(least[o].total(held), all[o].total(held)) << "ZeRO " << zero;
        }
      }
    }
  });
}

TEST(StageOptions, ThePeakIsOfPassesOrOfTheUpdate) {
  StageOption option;
  option.fixed = Bytes{1000};
  option.stash = Bytes{10};
  option.workspace = Bytes{5};
  option.update = Bytes{36};
  EXPECT_EQ(option.total(1), Bytes{1036});
  EXPECT_EQ(option.total(3), Bytes{1036});
  EXPECT_EQ(option.total(4), Bytes{1045});
}

// The worked example's layers: forward 1, 2, 1 ms, backward twice that.
TEST(StageOptions, RecomputationOfTheFirstLayers) {
  const Instance instance = example();
  FillCase c(instance, test::example_plan({{0, 1, 2}}, 1, 1));
  const PlanNetwork network = c.network({});
  StageOptions options = c.options(network);
  const LayerSets& sets = *options.setting().sets;
  const StageClass& all = sets.classes()[static_cast<std::size_t>(sets.moves(0).back().stage_class)];
  const auto terms = [&](const Recompute& recompute) {
    return stage_terms(sets, all, options.places().front(), recompute);
  };
  const auto recompute = [&](const Recompute& r) { return terms(r).of(Term::recompute); };
  EXPECT_NEAR(recompute({}), 0, 1e-15);
  EXPECT_NEAR(recompute({RecomputePolicy::full, 0}), 4e-3, 1e-15);
  EXPECT_NEAR(recompute({RecomputePolicy::full, 1}), 1e-3, 1e-15);
  EXPECT_NEAR(recompute({RecomputePolicy::full, 2}), 3e-3, 1e-15);
  EXPECT_EQ(terms({RecomputePolicy::full, 1}).of(Term::forward), terms({}).of(Term::forward));
  // A layer keeps 100 MB, under full recomputation the 50 MB that come in: nothing for the first.
  EXPECT_EQ(terms({}).of(Term::stash), 300e6);
  EXPECT_EQ(terms({RecomputePolicy::full, 1}).of(Term::stash), 200e6);
  EXPECT_EQ(terms({RecomputePolicy::full, 0}).of(Term::stash), 100e6);
  const std::vector<StageOption>& list = options.of(0, sets.moves(0).back().stage_class);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list.front().recompute, Recompute{});
  EXPECT_EQ(list.back().recompute, (Recompute{RecomputePolicy::full, 0}));
  EXPECT_NEAR(list.back().layers_b.value, 12e-3, 1e-15);
}

// A listed number of layers that the stage has not.
TEST(StageOptions, AStageMayHaveNone) {
  Instance instance = example();
  instance.space.recompute = {{RecomputePolicy::full, 2}};
  FillCase c(instance, test::example_plan({{0, 1, 2}}, 1, 1));
  const PlanNetwork network = c.network({});
  StageOptions options = c.options(network);
  const auto moves = options.setting().sets->moves(0);
  EXPECT_TRUE(options.of(0, moves[0].stage_class).empty());
  EXPECT_EQ(options.of(0, moves[1].stage_class).size(), 1U);
}

}  // namespace
}  // namespace nest::solve
