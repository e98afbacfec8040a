#include "nest/simulate/simulate.hpp"

#include <gtest/gtest.h>

#include "nest/simulate/test_plans.hpp"
#include "support/message_of.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

TEST(Simulate, FirstRowOfTheExample) {
  const Case c = example_case();
  const SimulationResult r = run_simulation(c.plan, c.priced, c.inputs, {});
  EXPECT_NEAR(c.priced.predicted.step.value, 78.515e-3, 1e-12);
  EXPECT_NEAR(r.pipeline.value, 38.505e-3, 1e-12);
  EXPECT_NEAR(r.step.value, 78.515e-3, 1e-12);
  EXPECT_EQ(r.cause, "as priced");
  EXPECT_EQ(r.stages[0].peak.value, 1'200'000'000);
  EXPECT_EQ(r.stages[1].peak.value, 500'000'000);
  EXPECT_NEAR(r.bubble_fraction, 0.501 / 78.515, 1e-9);
  EXPECT_EQ(r.workers, 2);
  EXPECT_EQ(r.tasks, 16);
}

TEST(Simulate, PassesAreCountedAndLimited) {
  Plan plan = example_case().plan;  // two stages, two copies
  EXPECT_EQ(count_passes(plan, {}, ""), 16);
  EXPECT_EQ(count_passes(plan, {.all_devices = true}, ""), 32);
  plan.training.micro_batches = 1'000'000;
  EXPECT_EQ(count_passes(plan, {}, ""), 4e6);
  EXPECT_EQ(message_of([&] { count_passes(plan, {.drawn = true}, "p.json"); }),
            "p.json: 4e+06 passes are more than can be drawn; leave out --trace and --svg, or use fewer "
            "micro-batches");
  plan.training.micro_batches = 100'000'000;
  EXPECT_EQ(
      message_of([&] { count_passes(plan, {}, "p.json"); }),
      "p.json: 4e+08 passes are more than can be simulated; use fewer micro-batches: a step is periodic "
      "after the first few");
}

TEST(Simulate, AllDevicesGiveTheSame) {
  const Case c = example_case();
  const SimulationResult r = run_simulation(c.plan, c.priced, c.inputs, {.all_devices = true});
  EXPECT_NEAR(r.step.value, 78.515e-3, 1e-12);
  EXPECT_EQ(r.workers, 4);
  EXPECT_EQ(r.tasks, 32);
}

// Four micro-batches of 50 MB forward and back inside each node; 400 and 200 MB across the rack.
TEST(Simulate, CountsBytesByLevelAndLink) {
  const Case c = example_case();
  const SimulationResult r = run_simulation(c.plan, c.priced, c.inputs, {});
  ASSERT_EQ(r.levels.size(), 2U);
  EXPECT_EQ(r.levels[0].bytes.value, 2 * 4 * 2 * 50'000'000LL);
  EXPECT_EQ(r.levels[1].bytes.value, 2 * (400'000'000LL + 200'000'000LL));
  ASSERT_FALSE(r.links.empty());
  EXPECT_EQ(r.links[0].name, "node 0 uplink");
  EXPECT_NEAR(r.links[0].utilisation, 600e6 / (20e9 * 78.515e-3), 1e-9);
}

TEST(Simulate, SaysWhyItDiffers) {
  Case c = example_case();
  // Both stages of both copies in one node each: sends share nothing, so make the rack narrow instead.
  c.inputs = inputs_on(cluster_of({level("node", 2, 100e9, 1e-6), level("rack", 2, 10e9, 5e-6, 4)}));
  const SimulationResult r = run_simulation(c.plan, c.priced, c.inputs, {});
  // Each group alone gets 2 * 10 / 4 GB/s of its node's uplink; both at once get half of that each.
  EXPECT_GT(r.step.value, c.priced.predicted.step.value);
  EXPECT_NE(r.cause.find("reductions and gathers wait for each other on the rack"), std::string::npos)
      << r.cause;
  double sum = 0;
  for (const Difference& d : r.causes) sum += d.time.value;
  EXPECT_NEAR(sum, r.step.value - r.priced.value, 1e-12);
}

TEST(Simulate, AsJson) {
  const Case c = example_case();
  const Value v = to_value(run_simulation(c.plan, c.priced, c.inputs, {}));
  for (const char* key : {"step_s", "priced_s", "bubble_fraction", "stages", "links", "cause"}) {
    EXPECT_NE(v.find(key), nullptr) << key;
  }
  EXPECT_EQ(*v.find("stages")->as_array()->front().find("peak_bytes")->as_int(), 1'200'000'000);
}

TEST(Simulate, RefusesWhatHasNoPriceOrNoDevices) {
  Case c = example_case();
  PricedPlan invalid;
  invalid.status = PriceStatus::invalid;
  invalid.reason = "layer 2 is in no stage";
  EXPECT_EQ(message_of([&] { static_cast<void>(run_simulation(c.plan, invalid, c.inputs, {})); }),
            "plan: it has no price: layer 2 is in no stage");
  for (Stage& stage : c.plan.stages) stage.devices.clear();
  EXPECT_EQ(message_of([&] { static_cast<void>(run_simulation(c.plan, c.priced, c.inputs, {})); }),
            "stages: they have no devices; place the plan first");
}

}  // namespace
}  // namespace nest::simulate
