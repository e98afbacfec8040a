#include "nest/solve/table/interleaved_fill.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nest/plan/rules/interleaved_splits.hpp"
#include "nest/solve/tree/test_samples.hpp"
#include "nest/solve/twin/all_cuts.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::FillCase;
using test::Instance;
using test::Sample;

constexpr Seconds kInfinite = Seconds::most();
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// An instance whose stages have chunks, with one of its plans: which configuration to fill.
Sample sample_of(unsigned seed) {
  Sample sample{test::random_instance(seed, 2000), std::nullopt};
  sample.instance.inputs.recipe.jitter = 0;  // tables know nothing of stragglers
  sample.instance.training.contents = {};
  if (sample.plan) sample.plan->training.contents = {};
  SearchSpace& space = sample.instance.space;
  space.mixed = space.same_recompute = false;
  space.rules = nullptr;
  const bool turns = seed % 4 == 0;
  space.schedules = {turns ? Schedule::zb_v : Schedule::interleaved};
  space.interleave = *read_choice(turns ? "2" : "2,3");
  space.pipeline = {};
  test::Dice dice(seed);
  if (dice.once_in(2)) space.recompute.clear();
  sample.plan =
      test::some_plan(dice, sample.instance, [](const Plan& plan) { return plan.stages.size() <= 3; });
  return sample;
}

template <class Look>
void for_samples(unsigned first, unsigned count, Look look) {
  test::for_samples(first, count, 20, sample_of, look);
}

void set_chunks(Plan& plan, const std::vector<std::vector<LayerId>>& chunks) {
  const std::size_t p = plan.stages.size();
  for (Stage& stage : plan.stages) {
    stage.layers.clear();
    stage.chunks.clear();
  }
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    Stage& stage = plan.stages[place_of_part(plan.parallelism.schedule, p, k).stage];
    stage.layers.insert(stage.layers.end(), chunks[k].begin(), chunks[k].end());
    stage.chunks.push_back(chunks[k]);
  }
}

std::optional<Seconds> best_by_hand(FillCase& c) {
  std::optional<Seconds> least;
  const auto chunks = static_cast<std::size_t>(c.configuration.interleave);
  for (const CutParts& parts : all_chunk_cuts(c.graph(), c.stages() * chunks)) {
    set_chunks(c.plan(), parts);
    c.try_recompute(least);
  }
  return least;
}

struct Best {
  InterleavedFilled filled;
  FillCounts counts;
  bool found = false;
};

Best fill_of(FillCase& c, const Prunings& prunings, Seconds threshold, bool bound = false) {
  Best best;
  const Plan& plan = c.plan();
  const auto splits = interleaved_splits(c.graph(), plan.parallelism.pipeline, plan.parallelism.interleave);
  InterleavedFiller filler(c.graph(), *c.problem.batch(c.configuration).sets, prunings);
  for (const TieQuestion& ties : c.problem.ties(c.configuration)) {
    const PlanNetwork network = c.network(ties);
    StageOptions options = c.options(network);
    InterleavedQuestion shape;
    shape.stages = plan.parallelism.pipeline;
    shape.micro_batches = plan.training.micro_batches;
    shape.chunks = plan.parallelism.interleave;
    shape.model = c.problem.problem.pipeline_model;
    shape.capacity = c.problem.costs.capacity();
    for (std::size_t i = 0; i < c.stages(); ++i) shape.places.push_back(i);
    shape.wrap = &network.wrap;
    shape.ties = ties.ties;
    shape.tied_first = ties.first;
    shape.tied_last = ties.last;
    shape.bound = bound;
    shape.schedule = plan.parallelism.schedule;
    const auto filled = filler.fill(options, shape, splits, threshold, best.counts);
    if (!filled || (best.found && filled->step >= best.filled.step)) continue;
    best.filled = *filled;
    best.found = true;
  }
  return best;
}

Plan plan_of(FillCase& c, const InterleavedFilled& filled) {
  Plan plan = c.plan();
  const auto splits = interleaved_splits(c.graph(), plan.parallelism.pipeline, plan.parallelism.interleave);
  const std::vector<std::int32_t>& split = splits[filled.split];
  std::vector<std::vector<LayerId>> chunks(split.size() - 1);
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    for (std::int32_t id = split[k]; id < split[k + 1]; ++id) chunks[k].emplace_back(id);
  }
  set_chunks(plan, chunks);
  for (std::size_t i = 0; i < plan.stages.size(); ++i) plan.stages[i].recompute = filled.recompute[i];
  return plan;
}

TEST(InterleavedFill, FindsTheBestOfAllSplits) {
  int feasible = 0;
  for_samples(64'001, 100, [&](FillCase& c) {
    const auto least = best_by_hand(c);
    const Best best = fill_of(c, {}, kInfinite);
    ASSERT_EQ(best.found, least.has_value());
    EXPECT_EQ(best.counts.cut_short, 0);
    if (!least) return;
    ++feasible;
    EXPECT_NEAR(best.filled.step.value, least->value, 1e-9 * least->value);
    const PricedPlan priced = c.price(plan_of(c, best.filled));
    EXPECT_EQ(priced.status, PriceStatus::feasible) << priced.reason;
    EXPECT_NEAR(priced.predicted.step.value, best.filled.step.value, 1e-9 * least->value);
  });
  EXPECT_GT(test::often(feasible), 40);
}

TEST(InterleavedFill, ThresholdsAndTheSplitBoundChangeNothing) {
  for_samples(65'001, 100, [](FillCase& c) {
    Prunings off;
    off.split_bound = false;
    const Best all = fill_of(c, off, kInfinite);
    for (const Prunings& prunings : {Prunings{}, off}) {
      for (const double share : {1 + 1e-9, 1.1, kNoLimit}) {
        const Best best = fill_of(c, prunings, all.found ? share * all.filled.step : kInfinite);
        ASSERT_EQ(best.found, all.found) << share;
        EXPECT_NEAR(best.filled.step.value, all.filled.step.value, 1e-9 * all.filled.step.value) << share;
      }
    }
    EXPECT_FALSE(all.found && fill_of(c, {}, 0.999 * all.filled.step).found) << "all are above that";
  });
}

// What stands for all placements may leave the reduction out, and is never above.
TEST(InterleavedFill, ABoundIsNeverAbove) {
  int below = 0;
  for_samples(66'001, 100, [&](FillCase& c) {
    const Best best = fill_of(c, {}, kInfinite);
    if (!best.found) return;
    const Best bound = fill_of(c, {}, kInfinite, true);
    ASSERT_TRUE(bound.found);
    EXPECT_LE(bound.filled.step, best.filled.step * (1 + 1e-12));
    below += bound.filled.step < 0.999 * best.filled.step ? 1 : 0;
  });
  EXPECT_GT(test::often(below), 5);
}

}  // namespace
}  // namespace nest::solve
