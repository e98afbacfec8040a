#include "nest/network/domains/sibling_spec.hpp"

#include <gtest/gtest.h>

#include <map>

namespace nest::network {
namespace {

using Counts = std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>;  // by owner and group

Counts counts(const SiblingSpec& spec, const SegmentRun& run, const GroupBase& base) {
  std::vector<GroupArc> arcs;
  add_arcs(spec, run, base, 0, arcs);
  Counts out;
  for (const GroupArc& arc : arcs) {
    for (std::int32_t g = arc.from; g < arc.to; ++g) out[{arc.owner, g}] += arc.count;
  }
  return out;
}

TEST(SiblingSpec, SpreadGroupsRepeatAfterARing) {
  const SiblingSpec spec{.kind = SiblingKind::spread, .ring = 4};
  EXPECT_EQ(counts(spec, {2, 3, 6}, {}), (Counts{{{2, 0}, 2}, {{2, 1}, 1}, {{2, 2}, 1}, {{2, 3}, 2}}));
  EXPECT_EQ(counts(spec, {2, 3, 2}, {2, 3}), (Counts{{{0, 0}, 1}, {{0, 1}, 1}}));
}

TEST(SiblingSpec, ChunksEndAfterARing) {
  const SiblingSpec spec{.kind = SiblingKind::chunks, .ring = 6, .classes = 2, .members = 3};
  EXPECT_EQ(counts(spec, {0, 4, 4}, {}), (Counts{{{0, 0}, 1}, {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 1}}));
}

TEST(SiblingSpec, ASlotHasGroupsWithBothItsNeighbours) {
  SiblingSpec spec{.kind = SiblingKind::pairs, .members = 2};
  spec.set_pairs({{0, 1}, {1, 2}}, 3);
  EXPECT_EQ(counts(spec, {1, 7, 1}, {}), (Counts{{{0, 7}, 1}, {{1, 7}, 1}}));
  EXPECT_EQ(counts(spec, {2, 7, 1}, {0, 5}), (Counts{{{1, 2}, 1}}));
}

// Segment by segment.
TEST(SiblingSpec, AgreesWithItsFormulas) {
  for (std::int64_t classes = 1; classes <= 3; ++classes) {
    for (std::int64_t members = 1; members <= 4; ++members) {
      const std::int64_t ring = classes * members;
      for (std::int64_t first = 0; first < 2 * ring; ++first) {
        for (std::int64_t count = 1; count < 3 * ring; ++count) {
          Counts spread;
          Counts chunks;
          for (std::int64_t i = first; i < first + count; ++i) {
            ++spread[{1, static_cast<std::int32_t>(i % ring)}];
            ++chunks[{1, static_cast<std::int32_t>(i / ring * classes + i % classes)}];
          }
          SiblingSpec spec{.kind = SiblingKind::spread, .ring = ring, .classes = classes, .members = members};
          ASSERT_EQ(counts(spec, {1, first, count}, {}), spread);
          spec.kind = SiblingKind::chunks;
          ASSERT_EQ(counts(spec, {1, first, count}, {}), chunks);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nest::network
