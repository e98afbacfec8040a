#include "nest/price/run/run_cost.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::price {
namespace {

PlanInputs inputs(const std::string& cluster = "h100-spine-leaf") {
  Warnings warnings;
  return load_inputs("llama3.1-8b", cluster, "megatron", warnings);
}

const Training kTraining{.global_batch = 256, .sequence = 8192};

// 8,030,261,248 parameters, each with 2 bytes of weight, 4 of the master copy and 8 of Adam's moments.
TEST(RunCost, StatesOfTheModel) {
  EXPECT_EQ(state_bytes(inputs(), kTraining).value, 8'030'261'248 * (2 + 4 + 8));
}

TEST(RunCost, DeviceHoursAndMoney) {
  RunTerms terms;
  terms.prices = {{"", 2}};
  const RunCosts costs(terms, inputs(), kTraining);
  // 1e12 tokens at 1e6 a second: 1e6 s on 64 devices.
  const RunCost cost = costs.of({.devices = 64, .tokens_per_s = 1e6}, 1e12);
  EXPECT_DOUBLE_EQ(cost.days, 1e6 / 86'400);
  EXPECT_DOUBLE_EQ(cost.device_hours, 64 * 1e6 / 3600);
  EXPECT_DOUBLE_EQ(*cost.money, 2 * cost.device_hours);
  EXPECT_DOUBLE_EQ(*cost.energy_kwh, 0.7 * cost.device_hours);  // 700 W of the board
  EXPECT_DOUBLE_EQ(costs.of({.devices = 64, .tokens_per_s = 1e6, .uptime = 0.5}, 1e12).days, 2 * cost.days);
}

TEST(RunCost, ElectricityIsAdded) {
  RunTerms terms;
  terms.electricity = 0.1;
  terms.power = Watts{1000};
  const RunCosts costs(terms, inputs(), kTraining);
  const RunCost cost = costs.of({.devices = 10, .tokens_per_s = 1}, 3600);
  EXPECT_DOUBLE_EQ(*cost.energy_kwh, 10);
  EXPECT_DOUBLE_EQ(*cost.money, 1);
  terms.prices = {{"", 3}};
  EXPECT_DOUBLE_EQ(*RunCosts(terms, inputs(), kTraining).of({.devices = 10, .tokens_per_s = 1}, 3600).money,
                   31);
}

TEST(RunCost, PricesOfKinds) {
  RunTerms terms;
  terms.prices = {{"b200", 5}, {"h100-sxm", 2.5}};
  EXPECT_EQ(RunCosts(terms, inputs(), kTraining).price(), 2.5);
  EXPECT_EQ(RunCosts(terms, inputs("dgx-b200-superpod"), kTraining).price(), 5);
  terms.prices = {{"b200", 5}, {"", 1}};
  EXPECT_EQ(RunCosts(terms, inputs(), kTraining).price(), 1);
  terms.prices = {{"b200", 5}};
  EXPECT_THROW(RunCosts(terms, inputs(), kTraining), InputError);
}

TEST(RunCost, FailuresTakeTime) {
  RunTerms terms;
  terms.mtbf = Amount{50'000 * 3600.0, Amount::Of::device};
  const RunCosts costs(terms, inputs(), kTraining);
  const Goodput g = costs.goodput(1000);
  EXPECT_DOUBLE_EQ(g.failures.between.value, 50 * 3600);
  // 112 GB at 1000 x 125 MB/s
  EXPECT_NEAR(g.failures.checkpoint.value, 112.4 / 125, 1e-3);
  EXPECT_EQ(g.share, best_goodput(g.failures));
  EXPECT_LT(costs.goodput(10'000).share, g.share);
  const RunCost cost = costs.of({.devices = 1000, .tokens_per_s = 1e6}, 1e12);
  EXPECT_DOUBLE_EQ(cost.days, 1e6 / 86'400 / g.share);
  terms.mtbf = Amount{3600, Amount::Of::node};
  EXPECT_DOUBLE_EQ(RunCosts(terms, inputs(), kTraining).goodput(16).failures.between.value, 1800);
  terms.mtbf = Amount{3600, Amount::Of::all};
  EXPECT_DOUBLE_EQ(RunCosts(terms, inputs(), kTraining).goodput(16).failures.between.value, 3600);
}

TEST(RunCost, NothingFailsWhereNobodySaysSo) {
  EXPECT_EQ(RunCosts({}, inputs(), kTraining).goodput(131'072).share, 1);
}

}  // namespace
}  // namespace nest::price
