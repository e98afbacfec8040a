#include "nest/solve/ask/portfolio.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/plan/test_example.hpp"

namespace nest::solve {
namespace {

PlanQuestion question() {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.2-1b", "h100-spine-leaf", "megatron", warnings);
  inputs.cluster = with_devices(inputs.cluster, 32);
  PlanQuestion q{std::move(inputs), {.global_batch = 256, .sequence = 4096}, {}, {}};
  q.options.threads = 1;
  return q;
}

const SizingTask kTask{.tokens = 1e12, .days = 10};

TEST(Portfolio, OnePlanForEachNumberOfNodes) {
  PlanQuestion q = question();
  const Sizing sized = size_cluster(q, kTask);
  ASSERT_TRUE(sized.answer) << sized.reason;
  const std::int64_t nodes = sized.answer->rented / 8;
  ASSERT_GE(nodes, 2);
  std::vector<std::int64_t> asked;
  const Portfolio plans =
      find_portfolio(q, *sized.answer, kTask, 1, [&](std::int64_t devices) { asked.push_back(devices); });
  ASSERT_EQ(plans.steps.size(), 2U);
  EXPECT_EQ(plans.steps[0].nodes, nodes);
  EXPECT_EQ(plans.steps[0].moved.total.value, 0);
  EXPECT_EQ(plans.steps[1].nodes, nodes - 1);
  ASSERT_TRUE(plans.steps[1].sized);
  EXPECT_LE(plans.steps[1].sized->devices, 8 * (nodes - 1));
  EXPECT_LE(plans.steps[1].moved.total, plans.steps[1].moved.state);
  EXPECT_LE(plans.steps[1].moved.most, plans.steps[1].moved.total);
  EXPECT_FALSE(plans.tokens_per_s) << "nothing is said of failures";
  EXPECT_EQ(asked.back(), 8 * (nodes - 1));
}

// The month by hand: shares of the time times what each plan trains with them.
TEST(Portfolio, AMonth) {
  PlanQuestion q = question();
  q.asked.run.mtbf = Amount{1000 * 3600.0, Amount::Of::node};
  q.asked.run.repair = Seconds{48 * 3600};
  const Sizing sized = size_cluster(q, kTask);
  ASSERT_TRUE(sized.answer) << sized.reason;
  const Portfolio plans = find_portfolio(q, *sized.answer, kTask, 1);
  ASSERT_TRUE(plans.tokens_per_s);
  double expected = 0;
  for (const PortfolioStep& step : plans.steps)
    expected += step.share * step.sized->plan.predicted->tokens_per_s * step.sized->goodput.share;
  EXPECT_DOUBLE_EQ(*plans.tokens_per_s, expected);
  EXPECT_GT(*plans.tokens_per_s, *plans.waiting_tokens_per_s);
  const auto shares = down_shares({sized.answer->rented / 8, Seconds{1000 * 3600.0}, Seconds{48 * 3600}}, 1);
  EXPECT_NEAR(plans.steps[1].share, shares[1], 1e-12);
}

TEST(Portfolio, NotMoreNodesThanThereAre) {
  PlanQuestion q = question();
  const Sizing sized = size_cluster(q, kTask);
  ASSERT_TRUE(sized.answer);
  EXPECT_THROW((void)find_portfolio(q, *sized.answer, kTask, sized.answer->rented / 8), InputError);
}

}  // namespace
}  // namespace nest::solve
