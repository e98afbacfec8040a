#include "nest/solve/table/fill.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>

#include "nest/plan/test_example.hpp"
#include "nest/solve/tree/test_samples.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::FillCase;
using test::Instance;
using test::Sample;

constexpr Seconds kInfinite = Seconds::most();
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// An instance with one recomputation per stage and one strategy for all, and one of its plans: which
// configuration to fill.
Sample sample_of(unsigned seed) {
  const std::size_t fewest = seed % 6 == 0 ? 1 : 2;
  Sample sample = test::plain_sample(seed, [&](const Plan& plan) {
    std::size_t layers = 0;
    for (const Stage& stage : plan.stages) layers += stage.layers.size();
    const std::size_t stages = plan.stages.size();
    return stages >= fewest && stages <= 4 && layers <= 7;
  });
  sample.instance.inputs.recipe.jitter = 0;  // tables know nothing of stragglers
  sample.instance.training.contents = {};
  if (sample.plan) sample.plan->training.contents = {};
  return sample;
}

// Stages of the best fill over all questions about shared weights.
struct Best {
  Filled filled;
  FillCounts counts;
  bool found = false;
};

Best fill_of(FillCase& c, const Prunings& prunings, Seconds threshold) {
  Best best;
  Filler filler(prunings);
  for (const TieQuestion& ties : c.problem.ties(c.configuration)) {
    const PlanNetwork network = c.network(ties);
    StageOptions options = c.options(network);
    const auto filled = filler.fill(options, c.question(ties), threshold, best.counts);
    if (!filled || (best.found && filled->step >= best.filled.step)) continue;
    best.filled = *filled;
    best.found = true;
  }
  return best;
}

std::optional<Seconds> best_by_hand(FillCase& c) {
  std::optional<Seconds> least;
  c.for_each_cut([&](const std::vector<std::int32_t>& stage_of) {
    c.cut(stage_of);
    c.try_recompute(least);
  });
  return least;
}

template <class Look>
void for_samples(unsigned first, unsigned count, Look look) {
  test::for_samples(first, count, 10, sample_of, look);
}

// The stages as a plan.
Plan plan_of(FillCase& c, const Filled& filled) {
  Plan plan = c.plan();
  for (std::size_t i = 0; i < filled.stages.size(); ++i) {
    plan.stages[i].layers =
        c.problem.batch(c.configuration).sets->stage(filled.stages[i].from, filled.stages[i].to);
    plan.stages[i].recompute = filled.stages[i].recompute;
  }
  return plan;
}

TEST(Fill, FindsTheBestOfAllStages) {
  int feasible = 0;
  for_samples(60'001, 150, [&](FillCase& c) {
    const auto least = best_by_hand(c);
    const Best best = fill_of(c, {}, kInfinite);
    ASSERT_EQ(best.found, least.has_value());
    if (!least) return;
    ++feasible;
    EXPECT_NEAR(best.filled.step.value, least->value, 1e-9 * least->value);
    ASSERT_EQ(best.filled.stages.size(), c.stages());
    for (std::size_t i = 0; i < c.stages(); ++i) EXPECT_EQ(best.filled.stages[i].place, i);
    const PricedPlan priced = c.price(plan_of(c, best.filled));
    EXPECT_EQ(priced.status, PriceStatus::feasible) << priced.reason;
    EXPECT_NEAR(priced.predicted.step.value, best.filled.step.value, 1e-9 * least->value);
  });
  EXPECT_GT(test::often(feasible), 50);
}

// Each pruning off, and all; without a limit, with one that just lets the best through, and a little more.
TEST(Fill, PruningsChangeNothing) {
  for_samples(61'001, 150, [](FillCase& c) {
    Prunings none;
    for (const std::string& name : pruning_names()) *find_pruning(none, name) = false;
    const Best all = fill_of(c, none, kInfinite);
    for (const std::string& name : pruning_names()) {
      Prunings prunings;
      *find_pruning(prunings, name) = false;
      for (const double share : {1 + 1e-12, 1.05, kNoLimit}) {
        const Best best = fill_of(c, prunings, all.found ? share * all.filled.step : kInfinite);
        ASSERT_EQ(best.found, all.found) << "without " << name;
        EXPECT_NEAR(best.filled.step.value, all.filled.step.value, 1e-9 * all.filled.step.value)
            << "without " << name;
      }
    }
  });
}

// What is above the threshold is not found, or only as what it is.
TEST(Fill, NothingBelowTheBestIsMadeUp) {
  for_samples(62'001, 100, [](FillCase& c) {
    const Best all = fill_of(c, {}, kInfinite);
    if (!all.found) return;
    for (const double share : {0.0, 0.5, 0.999}) {
      const Best best = fill_of(c, {}, share * all.filled.step);
      EXPECT_GE(best.found ? best.filled.step : kInfinite, all.filled.step * (1 - 1e-12));
      EXPECT_LE(best.counts.work, all.counts.work);
    }
    EXPECT_FALSE(fill_of(c, {}, Seconds{0}).found);
  });
}

// Each makes the filler look at less, somewhere. (Longer stages that memory-order passes over are not
// counted: their options do not fit either way.)
TEST(Fill, EveryPruningSavesWork) {
  const std::vector<std::string> own{"dominance", "floors", "label-bound", "stage-bound", "option-order"};
  std::int64_t with = 0;
  std::vector<std::int64_t> without(own.size(), 0);
  for_samples(63'001, 100, [&](FillCase& c) {
    const Best all = fill_of(c, {}, kInfinite);
    const Seconds threshold = all.found ? 1.02 * all.filled.step : kInfinite;
    const auto cost = [&](const Prunings& prunings) {
      const FillCounts counts = fill_of(c, prunings, threshold).counts;
      return counts.work + counts.labels;
    };
    with += cost({});
    for (std::size_t i = 0; i < own.size(); ++i) {
      Prunings prunings;
      *find_pruning(prunings, own[i]) = false;
      without[i] += cost(prunings);
    }
  });
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_GT(test::often(without[i]), with) << own[i];
}

// The worked example of docs/design.md: two stages in two copies side by side. The cut 01|2 takes 65.027 ms,
// 0|12 66.027 ms.
TEST(Fill, TheExample) {
  Instance instance{test::example_inputs(), {}, {}, {}, {}};
  instance.training = {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd};
  Plan plan = test::example_plan({{0, 1}, {2}}, 2, 2);
  plan.parallelism.zero_shards = 1;
  for (Stage& stage : plan.stages) stage.strategy = plan.parallelism.strategy;
  FillCase c(instance, plan);
  const Best best = fill_of(c, {}, kInfinite);
  ASSERT_TRUE(best.found);
  EXPECT_NEAR(best.filled.step.value, 65.027e-3, 1e-12);
  EXPECT_EQ(plan_of(c, best.filled).stages[0].layers, (std::vector<LayerId>{LayerId{0}, LayerId{1}}));
  EXPECT_EQ(best.filled.stages[0].recompute, Recompute{});
  EXPECT_GT(best.counts.work, 0);
  EXPECT_GT(best.counts.labels, 0);
}

TEST(Fill, MoreStagesThanLayersAreNone) {
  Instance instance{test::example_inputs(), {}, {}, {}, {}};
  instance.training = {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd};
  FillCase c(instance, test::example_plan({{0}, {1}, {2}}, 1, 1));
  const PlanNetwork network = c.network({});
  StageOptions options = c.options(network);
  FillQuestion question = c.question({});
  FillCounts counts;
  EXPECT_TRUE(Filler({}).fill(options, question, kInfinite, counts));
  question.pipeline.stages = 4;
  question.places.push_back({0});
  EXPECT_FALSE(Filler({}).fill(options, question, kInfinite, counts));
}

TEST(Fill, Cancelled) {
  const Deadline deadline;
  deadline.cancel();
  int tried = 0;
  for (unsigned seed = 90'000; tried < 5; ++seed) {
    const Sample sample = sample_of(seed);
    if (!sample.plan) continue;
    ++tried;
    FillCase c(sample.instance, *sample.plan);
    const TieQuestion ties = c.problem.ties(c.configuration).front();
    const PlanNetwork network = c.network(ties);
    StageOptions options = c.options(network);
    FillCounts counts;
    counts.deadline = &deadline;
    Filler filler(Prunings{});
    EXPECT_THROW((void)filler.fill(options, c.question(ties), kInfinite, counts), Stopped);
  }
}

}  // namespace
}  // namespace nest::solve
