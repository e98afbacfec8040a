#include "nest/report/sweep/sweep_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nest/plan/test_example.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<SweepRow> rows(std::size_t count) {
  std::vector<SweepRow> list(count);
  for (std::size_t i = 0; i < count; ++i) {
    list[i].point = i;
    list[i].status = "optimal";
    list[i].tokens_per_s = 100 + 10 * static_cast<double>(i);
  }
  return list;
}

std::string chart(const std::vector<std::string>& axes, const std::vector<SweepRow>& list) {
  Sweep sweep{{test::example_inputs(), {}}, {}};
  for (const std::string& axis : axes) sweep.axes.push_back(read_sweep_axis(axis));
  return sweep_chart(sweep, list);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

constexpr const char* kWire = "class=\"wire\"";

TEST(SweepChart, AxesHaveUnits) {
  const std::string svg = chart({"cluster.levels.1.bandwidth=1GB/s,10GB/s,100GB/s"}, rows(3));
  EXPECT_THAT(svg, HasSubstr("cluster.levels.1.bandwidth (GB/s)"));
  EXPECT_THAT(svg, HasSubstr(">10<"));
  EXPECT_THAT(svg, HasSubstr("throughput (tokens/s)"));
  EXPECT_THAT(chart({"sequence=4096,8192"}, rows(2)), HasSubstr("sequence (tokens)"));
}

TEST(SweepChart, SizesAreLinesAndCategoriesPoints) {
  EXPECT_EQ(count(chart({"devices=1,2,4"}, rows(3)), kWire), 2U);
  EXPECT_EQ(count(chart({"cluster=a,b,c"}, rows(3)), kWire), 0U);
  EXPECT_EQ(count(chart({"zero=0,1,3"}, rows(3)), kWire), 0U);
  EXPECT_EQ(count(chart({"cluster=a,b,c"}, rows(3)), "<circle"), 3U + 2U);  // and the legend of their sizes
}

// 64 and 128 devices may cost the same: both are seen.
TEST(SweepChart, EqualPointsStandBesideEachOther) {
  std::vector<SweepRow> list = rows(6);
  for (SweepRow& row : list) row.tokens_per_s = 100;
  const std::string svg = chart({"cluster=a,b", "devices=2,4,8"}, list);
  std::set<std::string> places;
  std::size_t dots = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) {
    ++dots;
    places.insert(svg.substr(at, svg.find(" r=", at) - at));
  }
  EXPECT_EQ(places.size(), dots);
}

TEST(SweepChart, SizesOfPointsHaveALegendWhereThereAreTwo) {
  EXPECT_THAT(chart({"devices=1,2,4"}, rows(3)), Not(HasSubstr("Pareto front</text>")));  // more is faster
  std::vector<SweepRow> list = rows(3);
  list[1].tokens_per_s = 1;
  const std::string svg = chart({"devices=1,2,4"}, list);
  EXPECT_THAT(svg, HasSubstr("large: on the Pareto front"));
  EXPECT_THAT(svg, HasSubstr("small: beaten by another point"));
}

TEST(SweepChart, CostsHaveAPanelOfTheirOwn) {
  std::vector<SweepRow> list = rows(3);
  EXPECT_THAT(chart({"devices=1,2,4"}, list), Not(HasSubstr("cost")));
  list[1].cost = 1000;
  const std::string svg = chart({"devices=1,2,4"}, list);
  EXPECT_THAT(svg, HasSubstr("cost of a trillion tokens"));
  EXPECT_EQ(count(svg, "<circle"), 4U);
}

TEST(SweepChart, GuidesHaveNoDigitsThatSayNothing) {
  std::vector<SweepRow> list = rows(2);
  list[1].tokens_per_s = 2.1e6;
  const std::string svg = chart({"devices=1,2"}, list);
  EXPECT_THAT(svg, HasSubstr(">500k<"));
  EXPECT_THAT(svg, HasSubstr(">2M<"));
  EXPECT_THAT(svg, Not(HasSubstr("2.00M")));
}

TEST(SweepChart, WhereNothingFitsThereAreNoNumbers) {
  std::vector<SweepRow> list = rows(2);
  for (SweepRow& row : list) {
    row.status = "infeasible";
    row.tokens_per_s = 0;
  }
  const std::string svg = chart({"cluster=a,b"}, list);
  EXPECT_THAT(svg, HasSubstr("no plan fits at any of these points"));
  EXPECT_THAT(svg, Not(HasSubstr(">0<")));
  EXPECT_EQ(count(svg, ">\u00d7<"), 2U);
}

TEST(SweepChart, LongNamesAreCutShort) {
  const std::string name(200, 'x');
  const std::string svg = chart({"devices=1,2", "cluster=a," + name}, rows(4));
  EXPECT_THAT(svg, HasSubstr("cluster xxxx"));
  EXPECT_THAT(svg, HasSubstr("x\u2026<"));
  EXPECT_THAT(svg, Not(HasSubstr(">cluster " + name)));
}

}  // namespace
}  // namespace nest::report
