#include <gtest/gtest.h>

#include <string>

#include "nest/frameworks/megatron/test_megatron_flags.hpp"
#include "nest/frameworks/megatron_core/core_knobs.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::frameworks {
namespace {

TEST(CoreKnobTable, HasFlagsOfMegatronLm) {
  const test::FlagTable flags;
  for (const CoreKnob& knob : core_knobs()) {
    if (knob.flag.empty()) continue;
    const std::string problem = flags.problem(kBridgeCore, {{std::string(knob.flag), {}}});
    EXPECT_FALSE(problem.ends_with("is not known")) << problem;
  }
}

// A knob without a flag has a value that is always written, and words belong to knobs of that kind.
TEST(CoreKnobTable, IsComplete) {
  for (const CoreKnob& knob : core_knobs()) {
    if (knob.flag.empty()) {
      EXPECT_FALSE(knob.bridge.absent.empty()) << knob.bridge.key;
    }
    EXPECT_EQ(knob.kind == KnobKind::word, !knob.word.empty()) << knob.flag;
  }
}

}  // namespace
}  // namespace nest::frameworks
