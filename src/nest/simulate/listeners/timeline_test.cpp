#include "nest/simulate/listeners/timeline.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

TEST(Timeline, KeepsWhatEachStreamDid) {
  Case c = example_case();
  c.priced.stages[0].chunks[0].recompute = Seconds{2e-3};
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  Timeline timeline;
  const std::array<Listener*, 1> listeners{&timeline};
  const EngineResult r = run_engine(scenario, listeners);
  EXPECT_EQ(timeline.step(), r.step);
  EXPECT_EQ(timeline.stages(), 2U);
  EXPECT_NEAR(timeline.recomputed_share(0, 0), 2.0 / 8, 1e-12);
  std::array<double, 8> sums{};
  double last_on_stage_1 = 0;
  for (const Segment& s : timeline.segments()) {
    sums[static_cast<std::size_t>(s.kind)] += (s.to - s.from).value;
    if (s.worker == 1 && s.stream == Stream::compute) {
      EXPECT_GE(s.from.value, last_on_stage_1 - 1e-15);  // one thing at a time
      last_on_stage_1 = s.to.value;
    }
  }
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::forward)], 4 * (3e-3 + 1e-3), 1e-12);
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::backward)], 4 * (8e-3 + 2e-3), 1e-12);
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::receive)], 8 * 0.501e-3, 1e-12);
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::reduce)], 60.020e-3, 1e-12);
}

}  // namespace
}  // namespace nest::simulate
