#include "nest/base/drawing/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nest::base {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Svg, IsOnePictureWithItsOwnStyle) {
  const std::string svg = Svg(400, 120.5, "h100 & co").str();
  EXPECT_THAT(svg,
              StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"120.5\" "
                         "viewBox=\"0 0 400 120.5\" role=\"img\">\n<title>h100 &amp; co</title>\n<style>\n"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(svg, EndsWith("</style>\n</svg>\n"));
}

TEST(Svg, DrawsBoxesLinesAndTexts) {
  Svg svg(10, 10, "t");
  svg.box({1, 2.25, 3.10, 4}, "level0", "node: 8 <devices>");
  svg.box({0, 0, 100, 20.006}, "quiet");
  svg.dot(3, 4, 1.5, "level1", "a run");
  svg.line(0, 1, 2.999, -3);
  svg.text(5, 6, "a \"b\"", Svg::Anchor::middle, "small");
  svg.text(7, 8, "c");
  EXPECT_THAT(svg.str(),
              EndsWith("<rect class=\"level0\" x=\"1\" y=\"2.25\" width=\"3.1\" height=\"4\"><title>node: 8 "
                       "&lt;devices&gt;"
                       "</title></rect>\n"
                       "<rect class=\"quiet\" x=\"0\" y=\"0\" width=\"100\" height=\"20.01\"/>\n"
                       "<circle class=\"level1\" cx=\"3\" cy=\"4\" r=\"1.5\"><title>a run</title></circle>\n"
                       "<line class=\"wire\" x1=\"0\" y1=\"1\" x2=\"3\" y2=\"-3\"/>\n"
                       "<text class=\"small\" x=\"5\" y=\"6\" text-anchor=\"middle\">a &quot;b&quot;</text>\n"
                       "<text class=\"label\" x=\"7\" y=\"8\" text-anchor=\"start\">c</text>\n"
                       "</svg>\n"));
}

TEST(EscapeXml, LeavesNoMarkupAndNoControlCharacters) {
  EXPECT_EQ(escape_xml("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(escape_xml(std::string("a\n\x01\0z", 5)), "a   z");  // XML 1.0 cannot hold them
  EXPECT_EQ(escape_xml("\xc3\xa9"), "\xc3\xa9");
}

}  // namespace
}  // namespace nest::base
