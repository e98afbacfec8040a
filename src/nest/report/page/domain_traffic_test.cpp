#include "nest/report/page/domain_traffic.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/plan/test_example.hpp"
#include "nest/report/page/pass_traffic.hpp"
#include "nest/report/page/report_traffic.hpp"

namespace nest::report {
namespace {

// Two stages, each of two copies on the devices of one node; sends go over the rack.
TEST(DomainTraffic, CountsWhatLeavesEachDeviceAndNode) {
  Pricer pricer(test::example_inputs());
  const Plan placed = pricer.place(test::example_plan({{0, 1}, {2}}, 2, 2));
  const PricedPlan priced = pricer.price(placed);
  DomainTraffic domains(pricer.inputs().cluster);
  count_step(domains, placed, priced, pricer.inputs());
  // Stage 0 sends 50 MB forward for each of 4 micro-batches and 2 copies, and stage 1 as much back.
  EXPECT_DOUBLE_EQ(domains.bytes(LevelId{1}, 0), 4 * 2 * 50e6);
  EXPECT_DOUBLE_EQ(domains.bytes(LevelId{1}, 1), 4 * 2 * 50e6);
  // Gradients of 400 MB, all-reduced by the two devices of the node: each sends them once.
  EXPECT_NEAR(domains.bytes(LevelId{0}, 2), 400e6, 1);
  EXPECT_NEAR(domains.bytes(LevelId{0}, 0), 200e6, 1);  // the last stage comes first
}

TEST(DomainTraffic, AddsUpToWhatASimulatedStepSends) {
  Pricer pricer(test::example_inputs());
  const Plan placed = pricer.place(test::example_plan({{0}, {1, 2}}, 2, 1));
  const PricedPlan priced = pricer.price(placed);
  TrafficByPurpose simulated;
  std::array<Listener*, 1> listeners{&simulated};
  const SimulationResult result = run_simulation(placed, priced, pricer.inputs(), {}, listeners);
  DomainTraffic domains(pricer.inputs().cluster);
  count_step(domains, placed, priced, pricer.inputs());
  for (std::size_t l = 0; l < simulated.levels().size(); ++l) {
    double sum = 0;
    const std::int32_t children = l == 0 ? 4 : 2;
    for (std::int32_t c = 0; c < children; ++c)
      sum += domains.bytes(LevelId{static_cast<std::int32_t>(l)}, c);
    EXPECT_NEAR(sum, simulated.levels()[l].total(), 1) << "level " << l;
  }
  const Value v = domains.value(result.step);
  const Value& last = v.as_array()->back();
  EXPECT_EQ(*last.find("of")->as_string(), "node");
  EXPECT_EQ(last.find("bytes")->as_array()->size(), 2U);
  const double busy = *(*last.find("busy")->as_array())[0].as_real();
  EXPECT_GT(busy, 0);
  EXPECT_LE(busy, 1);
}

TEST(DomainTraffic, HearsOfPasses) {
  const PlanInputs inputs = test::example_inputs();
  Pricer pricer(inputs);
  Plan plan = test::example_plan({{0, 1, 2}}, 2, 2);
  plan.parallelism.zero = 3;
  DomainTraffic domains(inputs.cluster);
  const std::vector<PassTraffic> passes = pass_traffic(pricer.place(plan), inputs, &domains);
  const double sum = domains.bytes(LevelId{0}, 0) + domains.bytes(LevelId{0}, 1);
  EXPECT_NEAR(sum, passes[0].gradients + passes[0].parameters, 100);
}

}  // namespace
}  // namespace nest::report
