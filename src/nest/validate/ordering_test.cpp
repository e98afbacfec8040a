#include "nest/validate/ordering.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nest::validate {
namespace {

TEST(Ordering, PairsWithinASweepThatDifferEnough) {
  const std::vector<OrderedItem> items{
      {"a", 1.00, 2.0}, {"a", 1.02, 1.9}, {"a", 1.50, 3.0},  // the first two are equal within 3 %
      {"b", 2.00, 5.0}, {"b", 1.00, 6.0},                    // wrongly ordered: twice the measured best
      {"c", 7.00, 1.0},                                      // alone
  };
  const OrderSummary order = order_of(items);
  EXPECT_EQ(order.pairs, 3);
  EXPECT_EQ(order.right, 2);
  EXPECT_EQ(order.sweeps, 2);
  EXPECT_NEAR(order.regret, (0.02 + 1) / 2, 1e-12);
  EXPECT_NEAR(order.worst_regret, 1, 1e-12);
}

TEST(Ordering, EqualPredictionsAreNotRight) {
  const std::vector<OrderedItem> items{{"a", 1, 1}, {"a", 2, 1}};
  EXPECT_EQ(order_of(items).right, 0);
}

}  // namespace
}  // namespace nest::validate
