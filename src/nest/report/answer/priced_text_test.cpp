#include "nest/report/answer/priced_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/changed_inputs.hpp"
#include "nest/plan/test_example.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;

TEST(PricedText, SaysWhereTheStepGoes) {
  const PlanInputs inputs = test::example_inputs();
  Pricer pricer(inputs);
  const Plan plan = pricer.complete(test::example_plan({{0, 1}, {2}}, 2, 1));
  const std::string text = priced_text(plan, pricer.price(plan), inputs);
  EXPECT_THAT(text, HasSubstr("three on four: 4 devices, pipeline 2 (1f1b), data 2, ZeRO 0"));
  EXPECT_THAT(text, HasSubstr("Where the step goes\n"));
  EXPECT_THAT(text, HasSubstr("Memory of a device (74.5 GiB)\n"));
}

TEST(PricedText, SaysWhatDoesNotFit) {
  const PlanInputs inputs = with_memory(test::example_inputs(), Bytes{500'000'000});
  Pricer pricer(inputs);
  const Plan plan = pricer.complete(test::example_plan({{0, 1}, {2}}, 2, 1));
  EXPECT_THAT(priced_text(plan, pricer.price(plan), inputs), HasSubstr("does not fit: stage 0"));
}

}  // namespace
}  // namespace nest::report
