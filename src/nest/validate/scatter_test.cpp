#include "nest/validate/scatter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace nest::validate {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Scatter, PointsLegendAndBand) {
  const std::vector<ScatterPoint> points{{"one <run>", "h100-sxm", 10, 11}, {"two", "a100-80", 1, 0.8}};
  const std::string svg = scatter("Step time", "s", points);
  EXPECT_THAT(svg, HasSubstr("one &lt;run&gt;: measured 10, predicted 11 s (+10 %)"));
  EXPECT_THAT(svg, HasSubstr("two: measured 1, predicted 0.8 s (-20 %)"));
  EXPECT_THAT(svg, HasSubstr("h100-sxm (1)"));
  EXPECT_THAT(svg, HasSubstr("class=\"guide\""));
  EXPECT_THAT(svg, HasSubstr("measured, s"));
}

TEST(Scatter, ManyGroupsLookDifferent) {
  std::vector<ScatterPoint> points;
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'})
    points.push_back({"p", std::string(1, name), 1, 1});
  EXPECT_THAT(scatter("t", "s", points), HasSubstr("class=\"level0 square\""));
}

TEST(Scatter, LabelsHaveRoom) {
  const std::string group(60, 'g');
  const std::vector<ScatterPoint> points{{"p", group, 4e-5, 4e-5}, {"q", group, 0.7, 0.7}};
  const std::string svg = scatter("Collectives", "s", points);
  EXPECT_THAT(svg, Not(HasSubstr("e-05<")));
  EXPECT_THAT(svg, HasSubstr(">0.00005<"));
  // 70 and 520 for the square, 42 for the mark, and 64 letters of 6.8.
  EXPECT_THAT(svg, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1067.2\""));
  // Four and a half decades on 520 pixels: a label of seven letters has no room beside one at twice the value.
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"middle\">0.00005<"));
  EXPECT_THAT(svg, Not(HasSubstr("text-anchor=\"middle\">0.0001<")));
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"end\">0.0001<"));
}

TEST(Scatter, NothingToShowIsAnEmptyPlot) {
  const std::vector<ScatterPoint> points{{"zero", "h100-sxm", 0, 11}};
  EXPECT_THAT(scatter("t", "s", points), Not(HasSubstr("zero")));
}

}  // namespace
}  // namespace nest::validate
