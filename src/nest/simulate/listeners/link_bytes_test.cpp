#include "nest/simulate/listeners/link_bytes.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

TEST(LinkBytes, CountsWhatPassed) {
  const Case c = example_case();
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  LinkBytes bytes;
  const std::array<Listener*, 1> listeners{&bytes};
  const EngineResult r = run_engine(scenario, listeners);
  ASSERT_EQ(bytes.by_level().size(), 2U);
  EXPECT_NEAR(bytes.by_level()[0], 2 * 4 * 100e6, 1);  // both copies, four micro-batches, there and back
  const std::vector<BusyLink> links = bytes.busiest(100, r.waited_s);
  ASSERT_FALSE(links.empty());
  EXPECT_EQ(links.front().name, "node 0 uplink");
  for (std::size_t i = 1; i < links.size(); ++i)
    EXPECT_LE(links[i].utilisation, links[i - 1].utilisation + 1e-9);
  bool found = false;
  for (const BusyLink& l : links) {
    if (l.name != "device 1 uplink") continue;  // stage 0 sends forward
    found = true;
    EXPECT_EQ(l.bytes.value, 4 * 50'000'000);
    EXPECT_EQ(l.level, LevelId{0});
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(bytes.busiest(2, r.waited_s).size(), 2U);
}

}  // namespace
}  // namespace nest::simulate
