#include "nest/base/drawing/graphviz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/message_of.hpp"

namespace nest::base {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string drawing(const std::string& dot) {
  return message_of([&] { static_cast<void>(render_dot(dot)); });
}

TEST(RenderDot, DrawsAGraph) {
  const std::string svg = render_dot("digraph { a -> b }");
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("<title>a&#45;&gt;b</title>"));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
}

// Both pipes fill up: a naive "write all, then read all" would wait for ever.
TEST(RenderDot, DrawsMoreThanAPipeHolds) {
  std::string dot = "graph { layout=neato; node [pos=\"0,0\"]; ";
  for (int i = 0; i < 3000; ++i)
    dot += "n" + std::to_string(i) + " [pos=\"" + std::to_string(i) + ",0!\" label=\"a longer label\"];";
  const std::string svg = render_dot(dot + "}");
  EXPECT_GT(svg.size(), 500'000U);
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
}

TEST(RenderDot, RefusesWhatIsNoGraphAndPrintsNothing) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(drawing("digraph { a -> "), "Graphviz could not draw this graph");
  // The child ends at the first byte while most of the text is still on the way.
  EXPECT_EQ(drawing(std::string(1 << 20, '}')), "Graphviz could not draw this graph");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(RenderDot, NamesThePackageWhereDotIsMissing) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const std::string message = drawing("graph {}");
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(message,
            "the drawing needs Graphviz's program 'dot', which is not installed; install it with: apt-get "
            "install graphviz");
}

TEST(DotQuote, EscapesQuotesAndBackslashes) {
  EXPECT_EQ(dot_quote("node 0"), "\"node 0\"");
  EXPECT_EQ(dot_quote("a\"b\\n"), "\"a\\\"b\\\\n\"");
}

}  // namespace
}  // namespace nest::base
