#include "nest/report/page/report_roofline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::report {
namespace {

double number_of(const Value& v, std::string_view key) {
  const Value* found = v.find(key);
  return found->as_int() != nullptr ? static_cast<double>(*found->as_int()) : *found->as_real();
}

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
      if (number_of(op, "forward_flops") == 0) continue;
      ++products;
      EXPECT_GT(number_of(op, "forward_bytes"), 0);
      for (const std::string pass : {"forward", "backward"}) {
        EXPECT_LE(number_of(op, pass + "_flops") / number_of(op, pass + "_s"), peak)
            << *op.find("name")->as_string();
      }
    }
  }
  EXPECT_EQ(layers, 18);  // 16 blocks, the embedding and the head
  EXPECT_GE(products, 6U);
}

// A frozen product makes no gradient of its weight: its backward pass is as much work as its forward pass. That of an
// adapter's product is twice as much, except where it reads what only frozen weights led to: before the first adapter
// nothing is differentiated.
TEST(ReportRoofline, FrozenProductsGoBackOnce) {
  PlanInputs inputs = test::example_inputs();
  Warnings warnings;
  set_model(inputs, "llama3.2-1b", warnings);
  Plan plan;
  plan.training.global_batch = 8;
  plan.training.sequence = 4096;
  plan.parallelism.data = 4;
  const auto shares = [&] {
    std::map<std::string, double> of;
    const Value v = roofline_value(Pricer(inputs).complete(plan), inputs);
    for (const Value& layer : *v.find("layers")->as_array()) {
      for (const Value& op : *layer.find("operators")->as_array()) {
        const double forward = number_of(op, "forward_flops");
        if (forward > 0) of[*op.find("name")->as_string()] = number_of(op, "backward_flops") / forward;
      }
    }
    return of;
  };
  for (const auto& [name, share] : shares()) EXPECT_EQ(share, 2) << name;
  ASSERT_EQ(read_train("lora:16:linear_fc1", plan.training.tuning), "");
  auto tuned = shares();
  EXPECT_EQ(tuned["down"], 1);
  EXPECT_EQ(tuned["attention"], 2);
}

TEST(ReportRoofline, ALayerProfileHasNoOperators) {
  EXPECT_TRUE(roofline_value(test::example_plan({{0, 1, 2}}, 2, 2), test::example_inputs()).is_null());
}

}  // namespace
}  // namespace nest::report
