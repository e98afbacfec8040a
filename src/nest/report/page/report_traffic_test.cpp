#include "nest/report/page/report_traffic.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/plan/test_example.hpp"

namespace nest::report {
namespace {

struct CountedStep {
  TrafficByPurpose traffic;
  SimulationResult result;
};

void simulate_into(const Plan& plan, CountedStep& out) {
  Pricer pricer(test::example_inputs());
  const Plan placed = pricer.place(plan);
  const PricedPlan priced = pricer.price(placed);
  std::array<Listener*, 1> listeners{&out.traffic};
  out.result = run_simulation(placed, priced, pricer.inputs(), {}, listeners);
}

TEST(ReportTraffic, TellsSendsFromGradients) {
  CountedStep r;
  simulate_into(test::example_plan({{0, 1}, {2}}, 2, 2), r);
  ASSERT_EQ(r.traffic.levels().size(), 2U);
  // Each copy sends 50 MB forward and back for each of 4 micro-batches, over the rack.
  EXPECT_DOUBLE_EQ(r.traffic.levels()[1].pipeline, 2 * 4 * 2 * 50e6);
  EXPECT_EQ(r.traffic.levels()[0].pipeline, 0);
  // Gradients of 400 and 200 MB, each all-reduced by two devices of a node: both send them once over.
  EXPECT_NEAR(r.traffic.levels()[0].gradients, 2 * (400e6 + 200e6), 1);
  EXPECT_EQ(r.traffic.levels()[1].gradients, 0);
}

TEST(ReportTraffic, AddsUpToWhatTheSimulationCounts) {
  for (const std::int64_t zero : {0, 1}) {
    CountedStep r;
    Plan plan = test::example_plan({{0}, {1, 2}}, 2, 1);
    plan.parallelism.zero = zero;
    simulate_into(plan, r);
    for (std::size_t l = 0; l < r.traffic.levels().size(); ++l) {
      EXPECT_NEAR(r.traffic.levels()[l].total(), static_cast<double>(r.result.levels[l].bytes.value), 1);
    }
  }
}

TEST(ReportTraffic, PassesAreAdded) {
  CountedStep r;
  simulate_into(test::example_plan({{0, 1}, {2}}, 2, 2), r);
  const std::vector<PassTraffic> passes{{.tensor = 5, .gradients = 100}, {}};
  const Value v = traffic_value(r.traffic, passes, r.result, test::example_inputs().cluster);
  const Value& node = (*v.find("levels")->as_array())[0];
  EXPECT_EQ(*node.find("tensor_bytes")->as_int(), 5);
  EXPECT_EQ(*node.find("gradient_bytes")->as_int(), 1'200'000'100);
  EXPECT_FALSE(v.find("links")->as_array()->empty());
}

}  // namespace
}  // namespace nest::report
