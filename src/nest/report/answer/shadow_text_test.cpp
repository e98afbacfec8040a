#include "nest/report/answer/shadow_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;
using testing::HasSubstr;
using testing::Not;

const Plan kBest = answer_plan({3}, 8, Seconds{2}, Seconds{0});

ShadowPrices prices() {
  ShadowPrices out;
  out.unchanged = answer({kBest});
  out.rows.push_back({.change = "25 % more bandwidth at level 'node'",
                      .kind = ShadowKind::bandwidth,
                      .level = "node",
                      .amount = 25e9,
                      .status = PlanStatus::optimal,
                      .step = Seconds{2}});
  out.rows.push_back({.change = "8 GiB more memory",
                      .kind = ShadowKind::memory,
                      .amount = 8589934592.0,
                      .status = PlanStatus::optimal,
                      .step = Seconds{1.9},
                      .share = -0.05});
  return out;
}

TEST(ShadowText, WhatMoreWouldBuy) {
  EXPECT_EQ(shadow_text(prices(), kBest), R"(What more would buy (each from a search of its own)
The best plan of the same question takes 2 s a step, as this one does.
change                               best step
25 % more bandwidth at level 'node'        2 s  nothing
8 GiB more memory                        1.9 s  -5.0 %
More devices were not searched: a mesh, a torus or a ring cannot grow by one node.
)");
  ShadowPrices grown = prices();
  grown.rows.push_back({.change = "8 more devices", .kind = ShadowKind::devices});
  EXPECT_EQ(left_out_sentence(grown), "");
  EXPECT_THAT(shadow_text(grown, kBest), Not(HasSubstr("cannot grow")));
}

TEST(ShadowText, APlanThatIsNotTheBest) {
  const Plan slow = answer_plan({1, 2}, 4, Seconds{2}, Seconds{0.5});
  EXPECT_THAT(
      shadow_text(prices(), slow),
      HasSubstr("The best plan of the same question takes 2 s a step; this one takes 25.0 % longer."));
  const Plan fast = answer_plan({3}, 8, Seconds{1}, Seconds{0});
  EXPECT_THAT(shadow_text(prices(), fast), HasSubstr("this one is 50.0 % faster"));
  Plan large = fast;
  large.status = PlanStatus::infeasible;
  EXPECT_THAT(shadow_text(prices(), large), HasSubstr("takes 2 s a step; this one does not fit."));
}

TEST(ShadowText, WhatWasNotSearched) {
  ShadowPrices late = prices();
  late.rows[0].status = PlanStatus::limit;
  late.rows[1].status = PlanStatus::feasible;
  const std::string text = shadow_text(late, kBest);
  EXPECT_THAT(text, HasSubstr("-5.0 % (not proved)"));
  EXPECT_THAT(text,
              HasSubstr("Not searched in time (give it longer with --time-limit): 25 % more bandwidth at "
                        "level 'node'.\n"));
  late.unchanged = {};
  late.unchanged.status = PlanStatus::limit;
  EXPECT_THAT(shadow_text(late, kBest), HasSubstr("No plan was found in time to compare with"));
}

TEST(ShadowText, WhereNothingFitsAsItIs) {
  ShadowPrices unfit = prices();
  unfit.unchanged = {};
  unfit.rows[0].status = PlanStatus::infeasible;
  unfit.rows[1].plan = kBest;
  const std::string text = shadow_text(unfit, kBest);
  EXPECT_THAT(text, HasSubstr("no plan fits"));
  EXPECT_THAT(text, HasSubstr("a plan fits"));
}

TEST(ShadowText, AsJson) {
  ShadowPrices late = prices();
  late.rows[0].status = PlanStatus::limit;
  EXPECT_EQ(
      to_json_line(to_value(late)),
      R"([{"change": "25 % more bandwidth at level 'node'", "kind": "bandwidth", "level": "node", )"
      R"("added_bytes_per_s": 2.5e+10, "status": "limit"}, {"change": "8 GiB more memory", )"
      R"("kind": "memory", "added_bytes": 8589934592, "status": "optimal", "step_s": 1.9, "share": -0.05}])");
}

}  // namespace
}  // namespace nest::report
