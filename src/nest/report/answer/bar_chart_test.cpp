#include "nest/report/answer/bar_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::Not;

BarChart small_chart() {
  BarChart chart{.title = "Throughput", .y_label = "relative to manual", .x_label = "devices", .panels = {}};
  chart.panels.push_back({"bert <large>",
                          {{"64", {{"manual", 1.0, "", ""}, {"nest", 1.35, "", "nest: p1 d64"}}},
                           {"128", {{"manual", {}, "", "manual: does not fit"}, {"nest", 2.7, "", ""}}}}});
  return chart;
}

TEST(BarChart, BarsMarksLegendAndLabels) {
  const std::string svg = bar_chart(small_chart());
  EXPECT_THAT(svg, HasSubstr("bert &lt;large&gt;"));
  EXPECT_THAT(svg, HasSubstr("<title>manual: 1.00</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>nest: p1 d64</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>manual: does not fit</title>"));
  EXPECT_THAT(svg, HasSubstr(">\u00d7</text>"));
  EXPECT_THAT(svg, HasSubstr(">relative to manual</text>"));
  EXPECT_THAT(svg, HasSubstr(">devices</text>"));
  EXPECT_THAT(svg, HasSubstr(">2.70</text>"));
}

TEST(BarChart, ASeriesKeepsItsColourInEveryGroup) {
  BarChart chart = small_chart();
  chart.panels[0].groups[1].bars.erase(chart.panels[0].groups[1].bars.begin());  // nest stands alone
  const std::string svg = bar_chart(chart);
  const std::size_t at = svg.find("<title>nest: 2.70</title>");
  ASSERT_NE(at, std::string::npos);
  const std::size_t begin = svg.rfind("<rect", at);
  EXPECT_THAT(svg.substr(begin, at - begin), HasSubstr("class=\"level1 square\""));
}

TEST(BarChart, WhatIsNoNumberIsAMark) {
  BarChart chart = small_chart();
  chart.panels[0].groups[0].bars[0].value = std::numeric_limits<double>::infinity();
  chart.panels[0].groups[0].bars[1].value = -1;
  chart.panels[0].groups[0].bars[1].mark = "?";
  const std::string svg = bar_chart(chart);
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, HasSubstr(">?</text>"));
}

TEST(BarChart, ALogAxisHasPowersOfTen) {
  BarChart chart = small_chart();
  chart.log_axis = true;
  chart.panels[0].groups[0].bars[0].value = 250;
  chart.panels[0].groups[0].bars[1].value = 0;  // no place on such an axis
  const std::string svg = bar_chart(chart);
  EXPECT_THAT(svg, HasSubstr(">100</text>"));
  EXPECT_THAT(svg, HasSubstr(">\u00d7</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(BarChart, ManySeriesLookDifferentAndPanelsWrap) {
  BarChart chart{.title = "t", .y_label = "", .x_label = "", .panels = {}};
  BarCluster group{"64", {}};
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'})
    group.bars.push_back({std::string(1, name), 1.0, "", ""});
  chart.panels.assign(2, {"p", {group, group, group}});
  EXPECT_THAT(bar_chart(chart), HasSubstr("class=\"level0 light square\""));
}

TEST(BarChart, NothingToShowIsATitle) {
  EXPECT_THAT(bar_chart({.title = "empty", .y_label = "", .x_label = "", .panels = {}}), HasSubstr("empty"));
  EXPECT_THAT(bar_chart({.title = "t", .y_label = "", .x_label = "", .panels = {{"none", {}}}}),
              Not(HasSubstr("nan")));
}

TEST(BarChart, LabelsHaveThreeDigits) {
  EXPECT_EQ(bar_label(0), "0");
  EXPECT_EQ(bar_label(0.549), "0.55");
  EXPECT_EQ(bar_label(0.00123), "0.00123");
  EXPECT_EQ(bar_label(1), "1.00");
  EXPECT_EQ(bar_label(9.996), "10.0");
  EXPECT_EQ(bar_label(99.96), "100");
  EXPECT_EQ(bar_label(1234), "1234");
  EXPECT_EQ(bar_label(12345), "12.3k");
  EXPECT_EQ(bar_label(2.5e7), "25.0M");
}

TEST(BarChart, GuidesHaveNoDigitsThatSayNothing) {
  EXPECT_EQ(tick_label(0), "0");
  EXPECT_EQ(tick_label(0.2), "0.2");
  EXPECT_EQ(tick_label(20), "20");
  EXPECT_EQ(tick_label(5000), "5000");
  EXPECT_EQ(tick_label(60'000), "60k");
  EXPECT_EQ(tick_label(2e6), "2M");
  EXPECT_EQ(tick_label(2.5e6), "2.5M");
  EXPECT_EQ(tick_label(5e9), "5G");
}

}  // namespace
}  // namespace nest::report
