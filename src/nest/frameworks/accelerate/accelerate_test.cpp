#include "nest/frameworks/accelerate/accelerate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

using ::testing::HasSubstr;

TEST(Accelerate, OneDeviceGetsAScriptThatChecksThePlan) {
  test::Planner planner("llama3.2-1b", "accelerate");
  const test::Exported out = test::exported("accelerate", planner.question(test::degrees({}, 1, 1)));
  EXPECT_EQ(out.result.rule, "");
  EXPECT_TRUE(out.result.lost.empty());
  EXPECT_THAT(out.files.at("train_smoke.py"), HasSubstr("import nest_plan"));
  EXPECT_THAT(out.files.at("nest_plan.py"), HasSubstr("nest_plan.json"));
  EXPECT_THAT(out.files.at("model_config.json"), HasSubstr("\"model_type\": \"llama\""));
  EXPECT_FALSE(out.files.contains("ds_config.json"));
}

}  // namespace
}  // namespace nest::frameworks
