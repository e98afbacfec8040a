// simulate against price over random plans: the chain of trust of docs/design.md, section 2. Prints the bands
// that it finds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "nest/simulate/simulate.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

constexpr unsigned kSeed = 20260803;
constexpr int kPlans = 500;

// Price takes the slowest copy at every boundary. Where copies differ in which boundary is slow, none is as
// slow as that, and the run may be below its price: such plans have a bound of their own.
struct Band {
  double least = 1;   // over plans whose copies are all alike
  double unlike = 1;  // over the others
  double most = -1;
  double mean = 0;
  double within = 0;  // share of plans within 1 %
  double memory = 0;  // largest difference of peak memory
};

Band measure(const char* what, const Draw& draw) {
  std::mt19937 random(kSeed);
  Band band;
  for (int n = 0; n < kPlans; ++n) {
    const Case c = random_case(random, draw);
    const SimulationResult r = run_simulation(c.plan, c.priced, c.inputs, {.contention = false});
    const double excess = r.step.value / c.priced.predicted.step.value - 1;
    const bool alike = r.workers == c.plan.parallelism.pipeline;
    double& least = alike ? band.least : band.unlike;
    least = std::min(least, excess);
    band.most = std::max(band.most, excess);
    band.mean += excess / kPlans;
    band.within += (excess <= 0.01 ? 1.0 : 0.0) / kPlans;
    for (std::size_t i = 0; i < r.stages.size(); ++i) {
      const auto expected = static_cast<double>(c.priced.stages[i].memory.total().value);
      const auto peak = static_cast<double>(r.stages[i].peak.value);
      band.memory = std::max(band.memory, std::abs(peak / expected - 1));
    }
  }
  std::printf(
      "seed %u, %d plans, %-12s spread %3.0f %%: simulated over priced %.1e (copies unlike: %.1e) to %.2f "
      "%%, "
      "mean %.3f %%, within 1 %%: %.1f %%\n",
      kSeed, kPlans, what, 100 * draw.spread, band.least, band.unlike, 100 * band.most, 100 * band.mean,
      100 * band.within);
  EXPECT_GT(band.unlike, -0.06);
  EXPECT_LT(band.memory, 1e-9) << what;
  return band;
}

TEST(Agreement, OneForwardOneBackward) {
  for (const double spread : {0.0, 0.3, 3.0}) {
    const Band band = measure("1f1b", {.spread = spread});
    EXPECT_GT(band.least, -1e-9);
    EXPECT_LT(band.most, spread > 1 ? 0.10 : 0.05);
    EXPECT_GE(band.within, spread > 1 ? 0.9 : 0.98);
  }
}

// Uneven stages may leave more time between the last passes of neighbours than one backward pass, which hides
// more of the later one's reduction than the price expects.
TEST(Agreement, EndOfTheStep) {
  for (const bool overlap : {false, true}) {
    for (const double spread : {0.0, 0.3, 3.0}) {
      const Band band = measure(overlap ? "1f1b, hidden" : "1f1b, end",
                                {.spread = spread, .collectives = true, .overlap = overlap});
      EXPECT_GT(band.least, spread > 0 ? -0.02 : -1e-9);
      EXPECT_LT(band.most, spread > 1 ? 0.10 : 0.05);
      EXPECT_GE(band.within, spread > 1 ? 0.9 : 0.98);
    }
  }
}

TEST(Agreement, GPipe) {
  for (const double spread : {0.0, 0.3, 3.0}) {
    const Band band = measure("gpipe", {.schedule = Schedule::gpipe, .spread = spread});
    EXPECT_GT(band.least, -1e-9);
    EXPECT_LT(band.most, 0.001);
  }
}

TEST(Agreement, Interleaved) {
  for (const double spread : {0.0, 0.1, 0.3, 3.0}) {
    const Band band = measure("interleaved", {.schedule = Schedule::interleaved, .spread = spread});
    EXPECT_GT(band.least, -1e-9);
    EXPECT_LT(band.most, spread == 0 ? 0.01 : spread < 1 ? 0.08 : 0.35);
  }
}

TEST(Agreement, ZeroBubble) {
  for (const double spread : {0.0, 0.1, 0.3, 3.0}) {
    const Band band = measure("zb-h1", {.schedule = Schedule::zb_h1, .spread = spread});
    EXPECT_GT(band.least, -1e-9);
    EXPECT_LT(band.most, spread < 1 ? 0.06 : 0.20);
  }
}

TEST(Agreement, ZeroBubbleV) {
  for (const double spread : {0.0, 0.1, 0.3, 3.0}) {
    const Band band = measure("zb-v", {.schedule = Schedule::zb_v, .spread = spread});
    EXPECT_GT(band.least, -1e-9);
    EXPECT_LT(band.most, 1e-9);
  }
}

// With pairs, of which exchanges hide more or less.
TEST(Agreement, DualPipeV) {
  for (const double spread : {0.0, 0.1, 0.3, 3.0}) {
    const Band band = measure("dualpipe-v", {.schedule = Schedule::dualpipe_v, .spread = spread});
    EXPECT_GT(band.least, -1e-9);
    EXPECT_LT(band.most, 1e-9);
  }
}

// Equal stages that send nothing: the schedule's formula is its simulation, whatever the times of forward passes, input
// gradients, weight gradients and what of exchanges hides in pairs.
void expect_exact(std::mt19937& random, Schedule schedule) {
  std::uniform_real_distribution<double> times(0, 3e-3);
  Case c = random_case(random, {.schedule = schedule});
  const Seconds forward{times(random)};
  const Seconds input{times(random)};
  const Seconds weight{times(random)};
  const double exchange = times(random);
  const double hidden = times(random) / 3e-3;
  for (StageCost& stage : c.priced.stages) {
    for (ChunkCost& chunk : stage.chunks) {
      chunk.forward = forward;
      chunk.backward_input = input;
      chunk.backward_weight = weight;
      chunk.forward_bytes = chunk.backward_bytes = Bytes{0};
      if (schedule == Schedule::dualpipe_v) add_exchanges(chunk, exchange, hidden, 1);
    }
  }
  price_receives(c);
  price_step(c);
  const SimulationResult r = run_simulation(c.plan, c.priced, c.inputs, {});
  ASSERT_NEAR(r.pipeline.value, c.priced.pipeline.value, 1e-11 * c.priced.pipeline.value)
      << name_of(schedule) << ", " << c.plan.stages.size() << " stages, " << c.plan.training.micro_batches
      << " micro-batches";
}

TEST(Agreement, FormulasAreExactForEqualStagesWithoutCommunication) {
  SCOPED_TRACE("seed " + std::to_string(kSeed + 3));
  std::mt19937 random(kSeed + 3);
  for (int n = 0; n < 400 && !HasFatalFailure(); ++n)
    expect_exact(random, static_cast<Schedule>(n % static_cast<int>(kSchedules.size())));
}

TEST(Agreement, DualPipeVIsExactForEqualStages) {
  SCOPED_TRACE("seed " + std::to_string(kSeed + 4));
  std::mt19937 random(kSeed + 4);
  for (int n = 0; n < 2000 && !HasFatalFailure(); ++n) expect_exact(random, Schedule::dualpipe_v);
}

// Who has to share is never sooner done, since the order of tasks is fixed.
TEST(Agreement, SharingLinksNeverHelps) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed + 1);
  double most = 0;
  for (int n = 0; n < 200; ++n) {
    const Case c =
        random_case(random, {.schedule = static_cast<Schedule>(n % 6), .spread = 0.3, .collectives = true});
    const SimulationResult alone = run_simulation(c.plan, c.priced, c.inputs, {.contention = false});
    const SimulationResult shared = run_simulation(c.plan, c.priced, c.inputs, {});
    ASSERT_GE(shared.pipeline.value, alone.pipeline.value * (1 - 1e-9)) << n;
    ASSERT_GE(shared.step.value, alone.step.value * (1 - 1e-9)) << n;
    most = std::max(most, shared.step.value / alone.step.value - 1);
  }
  std::printf("seed %u: sharing adds up to %.1f %%\n", kSeed + 1, 100 * most);
}

// One copy of those that are alike, or all of them: the same step.
TEST(Agreement, AllCopiesGiveWhatOneOfEachKindGives) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed + 2);
  double most = 0;
  int saved = 0;
  for (int n = 0; n < 200; ++n) {
    const Case c =
        random_case(random, {.schedule = static_cast<Schedule>(n % 6), .spread = 0.3, .collectives = true});
    const SimulationResult few = run_simulation(c.plan, c.priced, c.inputs, {});
    const SimulationResult all = run_simulation(c.plan, c.priced, c.inputs, {.all_devices = true});
    most = std::max(most, std::abs(few.step.value / all.step.value - 1));
    if (few.workers < all.workers) ++saved;
    ASSERT_EQ(few.levels.size(), all.levels.size());
    for (std::size_t l = 0; l < few.levels.size(); ++l) {
      ASSERT_NEAR(static_cast<double>(few.levels[l].bytes.value),
                  static_cast<double>(all.levels[l].bytes.value), 2);
    }
  }
  std::printf(
      "seed %u: one copy of each kind differs from all copies by up to %.3f %%; %d of 200 have fewer\n",
      kSeed + 2, 100 * most, saved);
  EXPECT_LT(most, 0.01);
}

}  // namespace
}  // namespace nest::simulate
