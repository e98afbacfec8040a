#include "nest/network/domains/arc_sweep.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace nest::network {
namespace {

TEST(ArcSweep, CutsWhereAnArcBeginsOrEnds) {
  std::vector<GroupArc> arcs{{.owner = 0, .from = 0, .to = 4, .count = 1, .child = 0},
                             {.owner = 0, .from = 2, .to = 6, .count = 1, .child = 1}};
  ArcSweep sweep;
  sweep.sweep(arcs);
  ASSERT_EQ(sweep.pieces().size(), 3U);
  EXPECT_EQ(sweep.pieces()[1].from, 2);
  EXPECT_EQ(sweep.pieces()[1].to, 4);
  EXPECT_EQ(sweep.arcs(sweep.pieces()[1]).size(), 2U);
  EXPECT_EQ(sweep.arcs(sweep.pieces()[2]).front().child, 1);
}

TEST(ArcSweep, NothingMakesNoPiece) {
  std::vector<GroupArc> arcs;
  ArcSweep sweep;
  sweep.sweep(arcs);
  EXPECT_TRUE(sweep.pieces().empty());
}

// Group by group.
TEST(ArcSweep, EveryGroupIsInOnePieceWithAllItsChildren) {
  std::mt19937 random(20261203);
  ArcSweep sweep;
  for (int i = 0; i < 3000; ++i) {
    std::vector<GroupArc> arcs;
    std::map<std::pair<int, int>, std::vector<std::int32_t>> expected;
    const int count = static_cast<int>(random() % 7);
    for (std::int32_t c = 0; c < count; ++c) {
      GroupArc arc{.owner = static_cast<std::int32_t>(random() % 2), .count = 1, .child = c};
      arc.from = static_cast<std::int32_t>(random() % 6);
      arc.to = arc.from + 1 + static_cast<std::int32_t>(random() % 4);
      arcs.push_back(arc);
      for (std::int32_t g = arc.from; g < arc.to; ++g) expected[{arc.owner, g}].push_back(c);
    }
    sweep.sweep(arcs);
    std::map<std::pair<int, int>, std::vector<std::int32_t>> found;
    for (const ArcSweep::Piece& piece : sweep.pieces()) {
      for (std::int32_t g = piece.from; g < piece.to; ++g) {
        std::vector<std::int32_t>& children = found[{piece.owner, g}];
        ASSERT_TRUE(children.empty());
        for (const GroupArc& arc : sweep.arcs(piece)) children.push_back(arc.child);
      }
    }
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace nest::network
