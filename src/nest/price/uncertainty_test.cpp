#include "nest/price/uncertainty.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/cluster/catalog.hpp"
#include "nest/price/price.hpp"

namespace nest::price {
namespace {

PlanInputs inputs_of(const std::string& model, const std::string& cluster, const std::string& recipe) {
  Warnings warnings;
  return {Value(model), load_model(model, warnings), load_cluster(cluster), named_recipe(recipe), {}};
}

// On 16 devices, incomplete.
Plan small_plan() {
  Plan plan;
  plan.training.sequence = 4096;
  plan.training.global_batch = 64;
  plan.training.micro_batches = 0;
  plan.parallelism.strategy = {.tensor = 2, .sequence_parallel = true};
  plan.parallelism.data = 8;
  plan.parallelism.zero = 1;
  return plan;
}

TEST(Spread, AlongItsQuantiles) {
  const Spread spread{"runs", 9, {0.1, 0.5, 0.9}, {0.9, 1.0, 1.2}};
  EXPECT_DOUBLE_EQ(spread.ratio(0.5), 1);
  EXPECT_DOUBLE_EQ(spread.ratio(0.7), 1.1);
  EXPECT_DOUBLE_EQ(spread.ratio(0.999), 1.2);
  EXPECT_DOUBLE_EQ(spread.share_below(1.1), 0.7);
  EXPECT_DOUBLE_EQ(spread.share_below(0.1), 0.1);
  EXPECT_DOUBLE_EQ(spread.share_below(9), 0.9);
  EXPECT_FALSE(spread.beyond(1.1));
  EXPECT_TRUE(spread.beyond(1.2));
  // Two runs tell two thirds at most, wherever the third may lie.
  const Spread two{"runs", 2, {0.1, 0.5, 0.9}, {0.9, 1.0, 1.2}};
  EXPECT_DOUBLE_EQ(two.share_below(1.15), 2.0 / 3);
  EXPECT_TRUE(two.beyond(1.15));
}

TEST(Uncertainty, TraitsOfARun) {
  const RunTraits small = *traits_of(inputs_of("llama3.1-8b", "h100-spine-leaf", "megatron"), {}, 8);
  EXPECT_FALSE(small.experts);
  EXPECT_FALSE(small.several_nodes);
  EXPECT_TRUE(small.compared);
  const RunTraits large = *traits_of(inputs_of("mixtral-8x7b", "h100-spine-leaf", "plain"), {}, 16);
  EXPECT_TRUE(large.experts);
  EXPECT_TRUE(large.several_nodes);
  EXPECT_FALSE(large.compared);
  EXPECT_FALSE(large.tuned);
}

// Adapters, frozen parts and documents that share a sequence: runs that were measured by themselves.
TEST(Uncertainty, FineTuningHasASpreadOfItsOwn) {
  const PlanInputs inputs = inputs_of("llama3.1-8b", "h100-spine-leaf", "megatron");
  const auto spread = [&](const Training& training) {
    return time_spread(*traits_of(inputs, training, 64)).name;
  };
  Training adapters;
  adapters.tuning.kind = Tuning::Kind::lora;
  Training frozen;
  frozen.tuning.freeze = {"embedding"};
  Training packed;
  packed.contents.lengths = std::make_shared<const Lengths>(std::vector<LengthCount>{{200, 1}});
  for (const Training& training : {adapters, frozen, packed}) EXPECT_EQ(spread(training), "fine-tuning");
  EXPECT_EQ(spread({}), "dense models on several nodes");
  // The margin of memory is not touched: no memory of such runs was measured.
  EXPECT_EQ(memory_spread(*traits_of(inputs, adapters, 64)), memory_spread(*traits_of(inputs, {}, 64)));
}

// Every spread rises, contains 1, and is as wide as errors of some percent are.
TEST(Uncertainty, SpreadsAreOrderly) {
  for (const bool experts : {false, true}) {
    for (const bool nodes : {false, true}) {
      for (const bool compared : {false, true}) {
        for (const char* framework : {"megatron", "torchtitan", ""}) {
          const RunTraits traits{experts, nodes, compared, framework};
          for (const Spread* s : {&time_spread(traits), memory_spread(traits)}) {
            EXPECT_TRUE(std::is_sorted(s->ratios.begin(), s->ratios.end())) << s->name;
            EXPECT_LT(s->ratio(0.1), 1) << s->name;
            EXPECT_GT(s->ratio(0.9), 1) << s->name;
            EXPECT_GT(s->ratios.front(), 0.5) << s->name;
            EXPECT_LT(s->ratios.back(), 3) << s->name;
            EXPECT_GE(s->rows, 20) << s->name;
          }
        }
      }
    }
  }
  // Experts are less sure than dense models, and so is what was never compared.
  const auto width = [](const RunTraits& t) { return time_spread(t).ratio(0.9) - time_spread(t).ratio(0.1); };
  EXPECT_GT(width({true, true, true, "megatron"}), width({false, true, true, "megatron"}));
  EXPECT_NE(memory_spread({false, true, true, "megatron"})->name,
            memory_spread({false, true, true, ""})->name);
}

TEST(Uncertainty, APriceHasAnIntervalAndSaysHowSureItFits) {
  Pricer pricer(inputs_of("llama3.1-8b", "h100-spine-leaf", "megatron"));
  const Prediction p = pricer.price(pricer.complete(small_plan())).predicted;
  EXPECT_EQ(p.interval.coverage, kCoverage);
  EXPECT_LT(p.interval.low, p.step);
  EXPECT_GT(p.interval.high, p.step);
  EXPECT_GT(*p.fits_probability, 0.9);
  EXPECT_LT(p.memory->low, p.memory->high);
}

// 28 runs tell 97 % at most: what leaves more room than the worst of them needed may fit more surely than that.
TEST(Uncertainty, WhatSoFewRunsCannotTellIsAtLeast) {
  const PlanInputs inputs = inputs_of("llama3.1-8b", "h100-spine-leaf", "megatron");
  Pricer roomy(inputs);
  const Prediction p = roomy.price(roomy.complete(small_plan())).predicted;
  EXPECT_TRUE(p.fits_at_least);
  EXPECT_DOUBLE_EQ(*p.fits_probability, 28.0 / 29);
  Plan large = small_plan();
  large.training.micro_batch = 4;
  const Prediction full = roomy.price(roomy.complete(large)).predicted;
  ASSERT_LT(*full.fits_probability, 0.9);
  EXPECT_FALSE(full.fits_at_least);
}

// Whose runs they are, and how well intervals do without them: between 72 and 88 % are wanted of 80 % intervals.
TEST(Uncertainty, SaysWhoseRunsItIsMadeFrom) {
  EXPECT_TRUE(time_sources().has("bigscience-workshop/bigscience"));
  EXPECT_FALSE(time_sources().has("somebody/else"));
  EXPECT_TRUE(memory_sources().has("InternLM/InternEvo"));
  for (const SpreadSources& s : {time_sources(), memory_sources()}) {
    EXPECT_GE(s.share(), 0.72);
    EXPECT_LE(s.share(), 0.88);
  }
}

// With so much free, the probability is what was asked; the fullest plan that leaves it free says so.
TEST(Uncertainty, AMarginForAProbability) {
  const PlanInputs inputs = inputs_of("llama3.1-8b", "h100-spine-leaf", "megatron");
  const Spread& spread = *memory_spread(*traits_of(inputs, {}, 64));
  for (const double wanted : {0.5, 0.8, 0.9, 0.95}) {
    const double margin = margin_for(inputs, wanted);
    EXPECT_GE(margin, 0);
    if (margin > 0) {
      EXPECT_GE(spread.share_below(1 / (1 - margin)), wanted - 1e-9);
    }
  }
  EXPECT_GT(margin_for(inputs, 0.95), margin_for(inputs, 0.9));
  EXPECT_EQ(margin_for(inputs, 0.05), 0);                            // never more than there is
  EXPECT_DOUBLE_EQ(memory_spread(inputs)->most_share(), 28.0 / 29);  // of 28 runs
}

// A recipe without what libraries take is like no measured run.
TEST(Uncertainty, PlainRecipesHaveNoMargin) {
  const PlanInputs inputs = inputs_of("llama3.1-8b", "h100-spine-leaf", "plain");
  EXPECT_EQ(margin_for(inputs, 0.95), 0);
  EXPECT_EQ(memory_spread(inputs), nullptr);
}

// The price of a plan with a margin differs in nothing but whether it fits.
TEST(Uncertainty, AMarginIsNoUse) {
  const PlanInputs inputs = inputs_of("llama3.1-8b", "h100-spine-leaf", "megatron");
  Pricer plain(inputs);
  const Plan plan = plain.complete(small_plan());
  const PricedPlan free = plain.price(plan);
  const StageMemory& m = free.stages.front().memory;
  ASSERT_EQ(free.status, PriceStatus::feasible);
  EXPECT_EQ(m.margin, Bytes{0});
  const double left = 1 - static_cast<double>(m.total().value) / static_cast<double>(m.capacity.value);
  const PricedPlan tight = Pricer(inputs, {.memory_margin = left + 0.001}).price(plan);
  EXPECT_EQ(tight.status, PriceStatus::infeasible);
  EXPECT_NE(tight.reason.find("are kept free"), std::string::npos) << tight.reason;
  EXPECT_EQ(tight.predicted.step, free.predicted.step);
  EXPECT_EQ(tight.stages.front().memory.total(), m.total());
  EXPECT_EQ(Pricer(inputs, {.memory_margin = left - 0.001}).price(plan).status, PriceStatus::feasible);
}

}  // namespace
}  // namespace nest::price
