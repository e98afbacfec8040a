// What must hold of every price, on random plans by the hundred.
#include <gtest/gtest.h>

#include <numeric>

#include "nest/plan/test_plans.hpp"
#include "nest/price/price.hpp"
#include "nest/price/test_makespan.hpp"

namespace nest::price {
namespace {

using test::Dice;
using test::random_inputs;
using test::random_plan;

constexpr unsigned kSeed = 20261116;
constexpr int kRounds = 300;

// Calls `look` for `kRounds` plans that are priced, each on inputs of its own.
template <class Look>
void for_random_plans(unsigned seed, const std::string& recipe, Look look) {
  int priced = 0;
  for (unsigned i = 0; priced < kRounds; ++i) {
    ASSERT_LT(i, 20U * kRounds) << "hardly any plan is valid";
    Dice dice(seed + i);
    Pricer pricer(random_inputs(dice, recipe));
    const Plan plan = random_plan(dice, pricer.inputs());
    const PricedPlan price = pricer.price(plan);
    if (price.status == PriceStatus::invalid) {
      const bool expected = price.reason.find("cells do not fit") != std::string::npos ||
                            price.reason.find("does not know which modules") != std::string::npos;
      ASSERT_TRUE(expected) << price.reason;
      continue;
    }
    ++priced;
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    look(pricer, plan, price, dice);
    if (testing::Test::HasFailure()) return;
  }
}

double relative(double value) {
  return 1e-12 * std::max(1.0, std::abs(value));
}

TEST(PriceProperties, BreakdownAddsUpToTheStep) {
  for (const std::string recipe : {"plain", "megatron", "deepspeed"}) {
    for_random_plans(kSeed, recipe, [](Pricer&, const Plan& plan, const PricedPlan& price, Dice&) {
      const Breakdown& b = price.predicted.breakdown;
      EXPECT_NEAR(b.total().value, price.predicted.step.value, relative(b.total().value));
      const auto rest = b.data + b.zero + b.optimizer;
      EXPECT_GE(price.predicted.step.value, price.pipeline.value - relative(price.pipeline.value));
      EXPECT_LE(price.predicted.step.value, (price.pipeline + rest).value * (1 + 1e-12));
      for (const Seconds part : {b.compute, b.recompute, b.tensor, b.expert, b.context, b.pipeline, b.bubble,
                                 b.data, b.zero, b.optimizer}) {
        EXPECT_GE(part.value, 0);
      }
      EXPECT_NEAR(price.predicted.samples_per_s * price.predicted.step.value,
                  static_cast<double>(plan.training.global_batch), 1e-9);
    });
  }
}

TEST(PriceProperties, NoStageWorksLongerThanThePipeline) {
  for_random_plans(kSeed + 10'000, "megatron", [](Pricer&, const Plan& plan, const PricedPlan& price, Dice&) {
    const auto m = static_cast<double>(plan.training.micro_batches);
    for (const StageCost& stage : price.stages) {
      const Seconds work = stage.f() + stage.b() - stage.saved();
      EXPECT_LE(m * work.value, price.pipeline.value * (1 + 1e-12));
      EXPECT_NEAR(work.value, stage.time().total().value, 1e-15);
    }
  });
}

// The closed forms are lower bounds of the time that the task order takes, and not far below it.
TEST(PriceProperties, ThePipelineIsNeverAboveItsTaskOrder) {
  double worst = 1;
  for_random_plans(kSeed + 15'000, "plain", [&](Pricer&, const Plan& plan, const PricedPlan& price, Dice&) {
    std::vector<StagePass> passes;
    for (const StageCost& stage : price.stages) {
      add_passes(stage.chunks, plan.parallelism.schedule, passes);
    }
    const Parallelism& p = plan.parallelism;
    const auto walked = makespan(p.schedule, {p.pipeline, plan.training.micro_batches, p.interleave}, passes);
    ASSERT_TRUE(walked);
    EXPECT_LE(price.pipeline.value, *walked * (1 + 1e-12));
    worst = std::min(worst, price.pipeline.value / *walked);
  });
  EXPECT_GT(worst, 0.75);
}

TEST(PriceProperties, TheRulesDevicesCostWhatTheRuleCosts) {
  for_random_plans(kSeed + 20'000, "megatron",
                   [](Pricer& pricer, const Plan& plan, const PricedPlan& price, Dice&) {
                     const Plan placed = pricer.place(plan);
                     ASSERT_TRUE(placed.placed());
                     const PricedPlan again = pricer.price(placed);
                     EXPECT_EQ(again.status, price.status);
                     EXPECT_NEAR(again.predicted.step.value, price.predicted.step.value,
                                 1e-12 * price.predicted.step.value);
                     for (std::size_t i = 0; i < price.stages.size(); ++i)
                       EXPECT_EQ(again.stages[i].memory.total(), price.stages[i].memory.total());
                   });
}

// The value that price fills may have held another plan's results before.
TEST(PriceProperties, AUsedResultIsAsGoodAsAFreshOne) {
  PricedPlan used;
  for_random_plans(kSeed + 25'000, "megatron",
                   [&](Pricer& pricer, const Plan&, const PricedPlan&, Dice& dice) {
                     const Plan plan = random_plan(dice, pricer.inputs());
                     pricer.price(plan, used);
                     const PricedPlan fresh = Pricer(pricer.inputs()).price(plan);
                     ASSERT_EQ(used.status, fresh.status);
                     ASSERT_EQ(used.reason, fresh.reason);
                     if (fresh.status == PriceStatus::invalid) return;
                     ASSERT_EQ(used.predicted.step, fresh.predicted.step);
                     ASSERT_EQ(used.stages.size(), fresh.stages.size());
                     for (std::size_t s = 0; s < fresh.stages.size(); ++s) {
                       ASSERT_EQ(used.stages[s].memory.total(), fresh.stages[s].memory.total());
                       ASSERT_EQ(used.stages[s].reduces.size(), fresh.stages[s].reduces.size());
                     }
                   });
}

PlanInputs with_slower_level(const PlanInputs& inputs, std::size_t level) {
  ClusterParts parts = inputs.cluster.parts();
  parts.levels[level].bandwidth.value /= 3;
  parts.levels[level].latency.value *= 3;
  return {inputs.model, inputs.source, Cluster(std::move(parts)), inputs.recipe};
}

TEST(PriceProperties, ASlowerLevelNeverMakesAStepFaster) {
  for_random_plans(
      kSeed + 30'000, "plain", [](Pricer& pricer, const Plan& plan, const PricedPlan& price, Dice& dice) {
        const auto level = static_cast<std::size_t>(dice.pick(0, 2));
        Pricer slower(with_slower_level(pricer.inputs(), level));
        const PricedPlan slow = slower.price(plan);
        EXPECT_GE(slow.predicted.step.value, price.predicted.step.value * (1 - 1e-12)) << "level " << level;
      });
}

TEST(PriceProperties, EachZeroStageHoldsNoMoreThanTheOneBefore) {
  for_random_plans(kSeed + 40'000, "megatron",
                   [](Pricer& pricer, const Plan& plan, const PricedPlan&, Dice&) {
                     Plan other = plan;
                     other.parallelism.zero_shards = 0;
                     std::vector<StageMemory> before;
                     for (std::int64_t zero = 0; zero <= 3; ++zero) {
                       other.parallelism.zero = zero;
                       const PricedPlan price = pricer.price(other);
                       ASSERT_NE(price.status, PriceStatus::invalid) << price.reason;
                       for (std::size_t i = 0; i < price.stages.size(); ++i) {
                         const StageMemory& m = price.stages[i].memory;
                         if (zero > 0) {
                           EXPECT_LE(m.weights, before[i].weights);
                           EXPECT_LE(m.gradients, before[i].gradients);
                           EXPECT_LE(m.optimizer, before[i].optimizer);
                           EXPECT_EQ(m.activations, before[i].activations);
                         }
                       }
                       before.clear();
                       for (const StageCost& s : price.stages) before.push_back(s.memory);
                     }
                   });
}

TEST(PriceProperties, FewerShardsHoldMore) {
  for_random_plans(kSeed + 50'000, "megatron",
                   [](Pricer& pricer, const Plan& plan, const PricedPlan& price, Dice&) {
                     if (!plan.parallelism.zero.shards_anything()) return;
                     Plan whole = plan;
                     whole.parallelism.zero_shards = 0;
                     const PricedPlan least = pricer.price(whole);
                     for (std::size_t i = 0; i < price.stages.size(); ++i)
                       EXPECT_GE(price.stages[i].memory.total(), least.stages[i].memory.total());
                   });
}

TEST(PriceProperties, RecomputationTakesTimeAndSavesStashes) {
  for_random_plans(kSeed + 60'000, "plain",
                   [](Pricer& pricer, const Plan& plan, const PricedPlan& price, Dice&) {
                     // See ZeroBubbleReducesWaitForWeightGradients in price_test.cpp.
                     if (schedule_of(plan.parallelism.schedule).splits_backward) return;
                     Plan none = plan;
                     Plan full = plan;
                     for (Stage& s : none.stages) s.recompute = {};
                     for (Stage& s : full.stages) s.recompute = {RecomputePolicy::full, 0};
                     const PricedPlan least = pricer.price(none);
                     const PricedPlan most = pricer.price(full);
                     EXPECT_GT(most.predicted.step.value, least.predicted.step.value);
                     EXPECT_GE(price.predicted.step.value, least.predicted.step.value * (1 - 1e-12));
                     EXPECT_LE(price.predicted.step.value, most.predicted.step.value * (1 + 1e-12));
                     EXPECT_EQ(least.predicted.breakdown.recompute.value, 0);
                     for (std::size_t i = 0; i < price.stages.size(); ++i) {
                       const Bytes own = price.stages[i].memory.activations;
                       EXPECT_LT(most.stages[i].memory.activations, least.stages[i].memory.activations);
                       EXPECT_LE(own, least.stages[i].memory.activations);
                       EXPECT_GE(own, most.stages[i].memory.activations);
                     }
                   });
}

TEST(PriceProperties, AllLayersByCountIsAllLayers) {
  for_random_plans(kSeed + 70'000, "megatron",
                   [](Pricer& pricer, const Plan& plan, const PricedPlan&, Dice&) {
                     Plan all = plan;
                     Plan counted = plan;
                     for (std::size_t i = 0; i < plan.stages.size(); ++i) {
                       all.stages[i].recompute = {RecomputePolicy::full, 0};
                       counted.stages[i].recompute = {
                           RecomputePolicy::full, static_cast<std::int64_t>(plan.stages[i].layers.size())};
                     }
                     const double step = pricer.price(all).predicted.step.value;
                     EXPECT_NEAR(pricer.price(counted).predicted.step.value, step, 1e-12 * step);
                   });
}

TEST(PriceProperties, OneStageHasNoBubble) {
  for_random_plans(kSeed + 80'000, "megatron", [](Pricer&, const Plan& plan, const PricedPlan& price, Dice&) {
    if (plan.parallelism.pipeline > 1) return;
    EXPECT_EQ(price.predicted.bubble_fraction, 0);
    EXPECT_NEAR(price.pipeline.value,
                static_cast<double>(plan.training.micro_batches) * price.stages[0].time().total().value,
                1e-12);
    EXPECT_EQ(price.stages[0].time().pipeline.value, 0);
  });
}

// Devices of one node are all the same to each other and to everyone else.
TEST(PriceProperties, NamesOfDevicesInANodeDoNotMatter) {
  for_random_plans(kSeed + 90'000, "plain",
                   [](Pricer& pricer, const Plan& plan, const PricedPlan& price, Dice& dice) {
                     const DeviceTree& tree = pricer.inputs().cluster.tree();
                     std::vector<std::int32_t> other(static_cast<std::size_t>(tree.devices()));
                     std::iota(other.begin(), other.end(), 0);
                     for (std::int32_t d = 0; d < tree.domains(LevelId{0}); ++d) {
                       const std::int64_t first = tree.first_device(LevelId{0}, d).value;
                       for (std::int64_t k = tree.devices_in(LevelId{0}, d) - 1; k > 0; --k)
                         std::swap(other[static_cast<std::size_t>(first + k)],
                                   other[static_cast<std::size_t>(first + dice.pick(0, k))]);
                     }
                     Plan renamed = pricer.place(plan);
                     for (Stage& stage : renamed.stages) {
                       for (Cell& cell : stage.devices) {
                         for (DeviceId& id : cell) id = DeviceId{other[id.index()]};
                       }
                     }
                     const PricedPlan again = pricer.price(renamed);
                     EXPECT_NEAR(again.predicted.step.value, price.predicted.step.value,
                                 1e-12 * price.predicted.step.value);
                   });
}

}  // namespace
}  // namespace nest::price
