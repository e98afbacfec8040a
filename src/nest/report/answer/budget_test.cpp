#include "nest/report/answer/budget.hpp"

#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"
#include "support/message_of.hpp"

namespace nest::report {
namespace {

// Stage 1, the fullest, takes 5 GB of 80; a step of 8 sequences of 512 tokens takes 1 s; MFU 40 %.
Plan plan() {
  return test::answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0.1});
}

TEST(Budget, SaysWhatTakesHowMuchOfIt) {
  const auto check = [](std::string_view text) {
    const auto checks = check_budgets(read_budgets(text), plan());
    return checks.at(0);
  };
  EXPECT_TRUE(check("memory=6.25%").within);
  EXPECT_EQ(check("memory=6.2%").sentence,
            "stage 1 takes 6.2 % of a device's memory (4.66 GiB of 74.5 GiB), but the budget is 6.2 %");
  EXPECT_FALSE(check("memory=6.2%").within);
  EXPECT_TRUE(check("memory=5GB").within);
  EXPECT_EQ(check("memory=4GiB").sentence,
            "stage 1 takes 4.66 GiB of 74.5 GiB of a device's memory, but the budget is 4 GiB");
  EXPECT_EQ(check("step=2s").sentence, "a step takes 1 s, and the budget is 2 s");
  EXPECT_FALSE(check("step=999ms").within);
  EXPECT_EQ(check("tokens-per-s=5000").sentence,
            "the run trains on 4,096 tokens a second, but the budget is at least 5,000");
  EXPECT_TRUE(check("tokens-per-s=4096").within);
  EXPECT_TRUE(check("mfu=40%").within);
  EXPECT_EQ(check("mfu=41%").sentence, "the MFU is 40.0 %, but the budget is at least 41.0 %");
}

TEST(Budget, SeveralAreAllLookedAt) {
  const auto checks = check_budgets(read_budgets("memory=95%,step=0.5"), plan());
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_FALSE(all_within(checks));
  EXPECT_TRUE(all_within(std::span(checks).first(1)));
  // A run that does not fit is within no budget.
  ASSERT_EQ(read_budgets("step=1").size(), 2U);
  EXPECT_EQ(read_budgets("step=1")[1].kind, BudgetKind::memory_share);
  EXPECT_EQ(read_budgets("step=1")[1].limit, 1);
  EXPECT_EQ(
      to_json_line(*to_value(std::span(checks).first(1)).find("budgets")),
      R"([{"what": "memory_share", "limit": 0.95, "value": 0.0625, "within": true, "sentence": )"
      R"("stage 1 takes 6.2 % of a device's memory (4.66 GiB of 74.5 GiB), and the budget is 95.0 %"}])");
}

TEST(Budget, OtherTextsAreRefused) {
  const auto message = [](std::string_view text) { return message_of([&] { (void)read_budgets(text); }); };
  EXPECT_EQ(message("memroy=95%"),
            "budget: 'memroy' is nothing that a budget can be set for; did you mean 'memory'?");
  EXPECT_EQ(message("memory"), "budget: 'memory' is no budget; try memory=95% or memory=70GiB");
  EXPECT_EQ(message("memory=0.95"), "budget: 'memory=0.95' is no budget; try memory=95% or memory=70GiB");
  EXPECT_EQ(message("mfu=0.4"), "budget: 'mfu=0.4' is no budget; try mfu=40%");
  EXPECT_EQ(message("step=-1"), "budget: 'step=-1' is no budget; try step=9.5s");
  EXPECT_EQ(message("memory=95%,"), "budget: '' is nothing that a budget can be set for");
}

}  // namespace
}  // namespace nest::report
