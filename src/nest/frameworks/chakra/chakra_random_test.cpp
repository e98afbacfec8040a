#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "nest/base/error.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/frameworks/chakra/chakra.hpp"
#include "nest/frameworks/chakra/test_chakra_replay.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/price/price.hpp"
#include "support/stride.hpp"

namespace nest::frameworks {
namespace {

// The same cluster with links that take no time worth mentioning.
Cluster quick(const Cluster& cluster) {
  ClusterParts parts = cluster.parts();
  for (Level& level : parts.levels) {
    level.bandwidth = BytesPerSecond{1e18};
    level.latency = Seconds{1e-15};
  }
  return Cluster(std::move(parts));
}

struct Drawn {
  ExportQuestion question;
  PricedPlan priced;
};

// A plan that fits its cluster.
Drawn draw(test::Dice& dice, bool cheap) {
  for (;;) {
    PlanInputs inputs = test::random_inputs(dice, dice.once_in(2) ? "plain" : "megatron");
    if (cheap) {
      inputs.cluster = quick(inputs.cluster);
      inputs.recipe = named_recipe("plain");
    }
    Plan plan = test::random_plan(dice, inputs);
    // Traces have no pairs; its chunks lie as those of ZB-V.
    if (plan.parallelism.schedule == Schedule::dualpipe_v) plan.parallelism.schedule = Schedule::zb_v;
    Pricer pricer(inputs);
    try {
      plan = pricer.place(pricer.complete(std::move(plan)));
    } catch (const InputError&) {
      continue;
    }
    PricedPlan priced = pricer.price(plan);
    if (priced.status == PriceStatus::invalid) continue;
    return {{std::move(plan), std::move(inputs), {}}, std::move(priced)};
  }
}

test::ReadExport exported(const ExportQuestion& question, std::int64_t slices = 1) {
  return test::read_export(
      [&](const ExportSink& sink) { return write_chakra(question, sink, {.slices = slices}); });
}

double compute_s(const Drawn& drawn, std::size_t stage) {
  const StageCost& cost = drawn.priced.stages[stage];
  double once = 0;
  for (const ChunkCost& c : cost.chunks) once += c.forward.value + c.backward_compute().value;
  return static_cast<double>(drawn.question.plan.training.micro_batches) * once + cost.norm.value +
         cost.optimizer.value;
}

TEST(ChakraRandom, TracesAreWholeAndNothingLocks) {
  constexpr unsigned kPlans = 300;
  for (unsigned seed = 1; seed <= kPlans; ++seed) {
    SCOPED_TRACE(seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice, false);
    const test::ReadExport out = exported(drawn.question, dice.pick(1, 3));
    ASSERT_EQ(out.result.rule, "");
    test::check_export(out);
    if (HasFatalFailure()) return;
    // Transfers at random, different for every rank of a stage: the order of a group's collectives must not
    // depend on when their turn comes.
    const auto some = [&](const ChakraNode&, std::size_t) {
      return 1e-6 * static_cast<double>(dice.pick(0, 5000));
    };
    for (const bool rendezvous : {false, true}) {
      for (const bool occupy : {false, true}) {
        if (rendezvous && (occupy || drawn.question.plan.parallelism.interleave > 1)) continue;
        ASSERT_TRUE(test::Replay(out, {rendezvous, occupy, some}).run()) << rendezvous << occupy;
      }
    }
  }
}

// Whole microseconds, and the sum is right to one of them.
TEST(ChakraRandom, ComputeAddsUp) {
  for (unsigned seed = 1; seed <= 100; seed += test::stride()) {
    SCOPED_TRACE(seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice, false);
    const test::ReadExport out = exported(drawn.question, 3);
    const Plan& plan = drawn.question.plan;
    std::vector<double> wanted;
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      for (std::size_t n = 0; n < plan.stages[i].devices.size() * plan.stages[i].devices[0].size(); ++n)
        wanted.push_back(compute_s(drawn, i));
    }
    std::vector<double> got;
    for (const test::ReadTrace& trace : out.ranks) {
      double sum = 0;
      for (const ChakraNode& node : trace.nodes) sum += static_cast<double>(node.micros) * 1e-6;
      if (trace.nodes.front().name != "idle") got.push_back(sum);
    }
    std::sort(wanted.begin(), wanted.end());
    std::sort(got.begin(), got.end());
    ASSERT_EQ(wanted.size(), got.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-6);
  }
}

// Where links cost nothing, the traces take what the plan is priced at. The price of 1F1B and ZB-H1 is a
// lower bound where stages differ much, as here; see docs/cost-model.md.
TEST(ChakraRandom, StepsTakeTheirPriceOnQuickLinks) {
  double least = 1e9;
  double most = 0;
  double sum = 0;
  constexpr int kPlans = 200;
  for (unsigned seed = 1; seed <= kPlans; ++seed) {
    SCOPED_TRACE(seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice, true);
    const auto took = test::Replay(exported(drawn.question), {}).run();
    ASSERT_TRUE(took);
    const double ratio = *took / drawn.priced.predicted.step.value;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    sum += ratio;
  }
  std::printf("replayed over priced: %.4f to %.4f, mean %.4f\n", least, most, sum / kPlans);
  EXPECT_GT(least, 0.9);
  EXPECT_LT(most, 1.15);
}

// The same of fine-tuning, whose first stages may have no backward pass.
TEST(ChakraRandom, FineTuningTakesItsPriceOnQuickLinks) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.2-1b", "h100-spine-leaf", "plain", warnings);
  inputs.cluster = quick(with_devices(inputs.cluster, 16));
  double least = 1e9;
  double most = 0;
  for (const char* train : {"lora:16", "lora:64:all-linear", "layers 12..", "layers 6..9", "layers ..3"}) {
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::gpipe, Schedule::zb_h1}) {
      Plan plan;
      plan.parallelism.pipeline = 4;
      plan.parallelism.data = 4;
      plan.parallelism.zero = 1;
      plan.parallelism.schedule = schedule;
      plan.training.sequence = 4096;
      plan.training.micro_batches = 8;
      plan.training.global_batch = 32;
      ASSERT_EQ(read_train(train, plan.training.tuning), "");
      Pricer pricer(inputs);
      plan = pricer.place(pricer.complete(std::move(plan)));
      const PricedPlan priced = pricer.price(plan);
      const auto took = test::Replay(exported({plan, inputs, {}}), {}).run();
      ASSERT_TRUE(took) << train;
      const double ratio = *took / priced.predicted.step.value;
      std::printf("%s, %s: replayed over priced: %.4f\n", train, std::string(name_of(schedule)).c_str(),
                  ratio);
      least = std::min(least, ratio);
      most = std::max(most, ratio);
    }
  }
  EXPECT_GT(least, 0.9);
  EXPECT_LT(most, 1.1);
}

}  // namespace
}  // namespace nest::frameworks
