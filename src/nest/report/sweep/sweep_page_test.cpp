#include "nest/report/sweep/sweep_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Sweep example() {
  Asked asked;
  asked.global_batch = 8;
  asked.optimizer = Optimizer::sgd;
  return {{test::example_inputs(), asked},
          {read_sweep_axis("cluster.levels.1.bandwidth=1GB/s,10GB/s,100GB/s"), read_sweep_axis("zero=0,1")}};
}

std::vector<SweepRow> rows() {
  std::vector<SweepRow> list;
  for (std::size_t i = 0; i < 6; ++i) {
    SweepRow row;
    row.point = i;
    row.status = i == 5 ? "infeasible" : "optimal";
    row.reason = i == 5 ? "<b>too large</b>" : "";
    if (i < 5) row.tokens_per_s = 100 + 10 * static_cast<double>(i);
    row.plan = i < 5 ? "p2 d2 b1" : "";
    list.push_back(row);
  }
  return list;
}

TEST(SweepPage, ShowsEveryPointAndEscapesTexts) {
  const std::string page = sweep_page(example(), rows(), "nest sweep --vary 'a=<1'");
  EXPECT_THAT(page, HasSubstr("a=&lt;1"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;too large"));
  EXPECT_THAT(page, Not(HasSubstr("<b>too large")));
  EXPECT_THAT(page, Not(HasSubstr("http://www.w3.org/1999/xlink")));
  std::size_t dots = 0;
  for (std::size_t at = page.find("<circle"); at != std::string::npos; at = page.find("<circle", at + 1))
    ++dots;
  EXPECT_EQ(dots, 5U + 4U);  // five points, and the legend of two series and two sizes
  EXPECT_THAT(page, HasSubstr("\u00d7"));
}

TEST(SweepPage, TextHasARowForEachPoint) {
  const std::string text = sweep_text(example(), rows());
  EXPECT_THAT(text, HasSubstr("100GB/s"));
  EXPECT_THAT(text, HasSubstr("infeasible: <b>too large</b>"));
  EXPECT_THAT(text, HasSubstr("devices"));
  EXPECT_THAT(text, Not(HasSubstr("cost")));
}

TEST(SweepPage, CostsAndGoodputWhereTheyAreKnown) {
  std::vector<SweepRow> list = rows();
  list[0].cost = 12'345;
  list[0].goodput = 0.875;
  const std::string text = sweep_text(example(), list);
  EXPECT_THAT(text, HasSubstr("cost of 1 T"));
  EXPECT_THAT(text, HasSubstr("12,345"));
  EXPECT_THAT(text, HasSubstr("87.5 %"));
  EXPECT_THAT(sweep_page(example(), list, ""), HasSubstr("12,345"));
}

TEST(SweepPage, ColumnsHaveTheNamesOfLevels) {
  const std::string level = example().base.inputs.cluster.levels()[1].name;
  const std::string text = sweep_text(example(), rows());
  EXPECT_THAT(text, HasSubstr(level + ".bandwidth"));
  EXPECT_THAT(text, Not(HasSubstr("  1.bandwidth")));
  Sweep both = example();
  both.base.several_clusters = true;  // whose levels have names of their own
  EXPECT_THAT(sweep_text(both, rows()), HasSubstr("1.bandwidth"));
}

// Devices that are asked for and devices that are used may differ.
TEST(SweepPage, DevicesThatAreUsed) {
  Sweep sweep = example();
  sweep.axes = {read_sweep_axis("devices=2,4")};
  EXPECT_THAT(sweep_text(sweep, {rows()[0], rows()[1]}), HasSubstr("used"));
}

}  // namespace
}  // namespace nest::report
