#include "nest/simulate/listeners/memory_use.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

TEST(MemoryUse, PeakIsStaticStashesAndWhatATaskNeeds) {
  Case c = example_case();
  c.priced.stages[0].transient = c.priced.stages[0].memory.workspace = Bytes{7};
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  MemoryUse memory(true);
  const std::array<Listener*, 1> listeners{&memory};
  static_cast<void>(run_engine(scenario, listeners));
  // The worked example of docs/design.md: 400 + 400 + 2 * 200 MB, and 200 + 200 + 100 MB.
  EXPECT_EQ(memory.peak(0).value, 1'200'000'007);
  EXPECT_EQ(memory.peak(1).value, 500'000'000);
  ASSERT_EQ(memory.steps().size(), 32U);
  EXPECT_EQ(memory.steps().back().bytes.value, 800'000'000);  // stage 0 ends with what it always holds
}

// Stashes stay until the weight gradients that wait are done.
TEST(MemoryUse, ZeroBubbleHoldsStashesLonger) {
  Case c = example_case();
  c.plan.parallelism.schedule = Schedule::zb_h1;
  price_step(c);
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  MemoryUse memory;
  const std::array<Listener*, 1> listeners{&memory};
  static_cast<void>(run_engine(scenario, listeners));
  EXPECT_EQ(memory.peak(1).value, 600'000'000);
  EXPECT_EQ(memory.peak(1), c.priced.stages[1].memory.total());
}

}  // namespace
}  // namespace nest::simulate
