#include "nest/report/page/report_roofline.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::report {
namespace {

TEST(ReportRoofline, NothingStandsAboveTheRoof) {
  PlanInputs inputs = test::example_inputs();
  Warnings warnings;
  set_model(inputs, "llama3.2-1b", warnings);
  Plan plan;
  plan.training.global_batch = 8;
  plan.training.sequence = 4096;
  plan.parallelism.data = 4;
  plan = Pricer(inputs).complete(plan);
  const Value v = roofline_value(plan, inputs);
  const double peak = *v.find("peak_flops_per_s")->as_real();
  EXPECT_EQ(peak, 1e15);
  EXPECT_EQ(*v.find("bandwidth_bytes_per_s")->as_real(), 3e12);
  std::int64_t layers = 0;
  std::size_t products = 0;
  for (const Value& layer : *v.find("layers")->as_array()) {
    layers += *layer.find("count")->as_int();
    for (const Value& op : *layer.find("operators")->as_array()) {
      const auto number = [&](const char* key) {
        const Value* found = op.find(key);
        return found->as_int() != nullptr ? static_cast<double>(*found->as_int()) : *found->as_real();
      };
      if (number("forward_flops") == 0) continue;
      ++products;
      EXPECT_GT(number("forward_bytes"), 0);
      EXPECT_LE(number("forward_flops") / number("forward_s"), peak) << *op.find("name")->as_string();
    }
  }
  EXPECT_EQ(layers, 18);  // 16 blocks, the embedding and the head
  EXPECT_GE(products, 6U);
}

TEST(ReportRoofline, ALayerProfileHasNoOperators) {
  EXPECT_TRUE(roofline_value(test::example_plan({{0, 1, 2}}, 2, 2), test::example_inputs()).is_null());
}

}  // namespace
}  // namespace nest::report
