#include "nest/solve/table/mixed_fill.hpp"

#include <gtest/gtest.h>

#include "nest/solve/tree/test_samples.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::FillCase;
using test::Instance;
using test::Sample;

constexpr Seconds kInfinite = Seconds::most();

// A profile whose strategies can stand side by side, and a plan of at most three stages.
Sample sample_of(unsigned seed) {
  Sample sample{test::random_instance(seed, 500), std::nullopt};
  sample.instance.inputs.recipe.jitter = 0;  // tables know nothing of stragglers
  sample.instance.training.contents = {};
  if (sample.plan) sample.plan->training.contents = {};
  SearchSpace& space = sample.instance.space;
  const LayerProfile* profile = sample.instance.inputs.profile();
  if (profile == nullptr || profile->strategies.front().layers.size() > 6 || !test::can_mix(*profile))
    return sample;
  space.mixed = true;
  space.same_recompute = false;
  space.rules = nullptr;
  space.tensor = space.context = space.expert = space.pipeline = {};
  space.schedules = {Schedule::one_f_one_b, Schedule::gpipe, Schedule::zb_h1};
  space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  test::Dice dice(seed);
  sample.plan = test::some_plan(dice, sample.instance, [](const Plan& plan) {
    return plan.stages.size() >= 2 && plan.stages.size() <= 3 && plan.parallelism.interleave == 1 &&
           !(plan.stages.front().strategy == plan.stages.back().strategy);
  });
  return sample;
}

template <class Look>
void for_samples(unsigned first, unsigned count, Look look) {
  test::for_samples(first, count, 40, sample_of, look);
}

// The first stage's strategy, then the others that fit beside it.
std::vector<Strategy> mixable_with(const FillCase& c, const Strategy& first) {
  std::vector<Strategy> mixable{first};
  for (const Strategy& s : c.problem.problem.strategies) {
    if (!(s == first) && s.cell() == first.cell() && s.side() == first.side()) mixable.push_back(s);
  }
  return mixable;
}

void try_strategies(FillCase& c, const std::vector<Strategy>& mixable, std::size_t stage,
                    std::optional<Seconds>& least) {
  if (stage == c.stages()) {
    c.for_each_cut([&](const std::vector<std::int32_t>& stage_of) {
      c.cut(stage_of);
      c.try_recompute(least);
    });
    return;
  }
  for (const Strategy& strategy : mixable) {
    c.plan().stages[stage].strategy = strategy;
    try_strategies(c, mixable, stage + 1, least);
  }
}

struct Best {
  MixedFilled mixed;
  FillCounts counts;
  bool found = false;
};

Best fill_of(FillCase& c, const std::vector<Strategy>& mixable, Seconds threshold) {
  Best best;
  Filler filler({});
  MixedFiller mixed(c.problem.costs, filler);
  const Parallelism p = c.plan().parallelism;
  for (const TieQuestion& ties : c.problem.ties(c.configuration)) {
    const auto network = std::make_shared<const PlanNetwork>(c.network(ties));
    const Placement placement{p.data_inner, p.block_devices, p.first_stage_first, p.zero_shards, network};
    const StageSetting setting = c.setting(*network);
    const FillQuestion fill = c.question(ties);
    auto filled = mixed.fill({c.problem.batch(c.configuration), mixable, setting, fill, placement, p.copies(),
                              c.network_options(ties)},
                             threshold, best.counts);
    if (!filled || (best.found && filled->filled.step >= best.mixed.filled.step)) continue;
    best.mixed = std::move(*filled);
    best.found = true;
  }
  return best;
}

TEST(MixedFill, FindsTheBestOfAllStrategies) {
  int feasible = 0;
  int different = 0;
  for_samples(67'001, 60, [&](FillCase& c) {
    const std::vector<Strategy> mixable = mixable_with(c, c.plan().parallelism.strategy);
    std::optional<Seconds> least;
    c.plan().stages.front().strategy = mixable.front();
    try_strategies(c, mixable, 1, least);
    const Best best = fill_of(c, mixable, kInfinite);
    ASSERT_EQ(best.found, least.has_value());
    EXPECT_EQ(best.counts.cut_short, 0);
    if (!least) return;
    ++feasible;
    const Seconds step = best.mixed.filled.step;
    EXPECT_NEAR(step.value, least->value, 1e-9 * least->value);
    ASSERT_EQ(best.mixed.strategies.size(), c.stages());
    EXPECT_EQ(best.mixed.strategies.front(), mixable.front());
    different += best.mixed.strategies.back() == mixable.front() ? 0 : 1;
    // And that plan costs as much.
    Plan plan = c.plan();
    for (std::size_t i = 0; i < c.stages(); ++i) {
      const FilledStage& stage = best.mixed.filled.stages[i];
      plan.stages[i].layers = c.problem.batch(c.configuration).sets->stage(stage.from, stage.to);
      plan.stages[i].recompute = stage.recompute;
      plan.stages[i].strategy = best.mixed.strategies[i];
    }
    const PricedPlan priced = c.price(plan);
    EXPECT_EQ(priced.status, PriceStatus::feasible) << priced.reason;
    EXPECT_NEAR(priced.predicted.step.value, step.value, 1e-9 * step.value);
    // A limit that just lets it through finds it too.
    const Best again = fill_of(c, mixable, step * (1 + 1e-12));
    ASSERT_TRUE(again.found);
    EXPECT_NEAR(again.mixed.filled.step.value, step.value, 1e-12 * step.value);
    EXPECT_LE(again.counts.work, best.counts.work);
  });
  EXPECT_GT(test::often(feasible), 20);
  EXPECT_GT(test::often(different), 5) << "strategies of one plan hardly ever differ";
}

// With one strategy to choose from, it is the plain filler.
TEST(MixedFill, OneStrategyToChooseFrom) {
  for_samples(68'001, 20, [](FillCase& c) {
    const Best best = fill_of(c, {c.plan().parallelism.strategy}, kInfinite);
    std::optional<Seconds> plain;
    for (const TieQuestion& ties : c.problem.ties(c.configuration)) {
      const PlanNetwork network = c.network(ties);
      StageOptions options = c.options(network);
      FillCounts counts;
      const auto filled = Filler({}).fill(options, c.question(ties), kInfinite, counts);
      if (filled && (!plain || filled->step < *plain)) plain = filled->step;
    }
    ASSERT_EQ(best.found, plain.has_value());
    EXPECT_DOUBLE_EQ(best.mixed.filled.step.value, plain.value_or(Seconds{}).value);
  });
}

}  // namespace
}  // namespace nest::solve
