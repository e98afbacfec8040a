#include "nest/cluster/reduce/candidates.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/reduce/paths.hpp"
#include "nest/cluster/reduce/test_networks.hpp"

namespace nest::cluster {
namespace {

using testing_networks::empty;
using testing_networks::link;
using Sizes = std::vector<std::int32_t>;

PairTable table_of(std::int32_t devices, double (*rate)(std::int32_t, std::int32_t)) {
  PairTable table(devices);
  for (std::int32_t a = 0; a < devices; ++a) {
    for (std::int32_t b = 0; b < a; ++b) table.at(a, b) = {rate(a, b), 1e-6};
  }
  return table;
}

TEST(Candidates, BottleneckFindsNestedDomainsAndTheirOrder) {
  // Odd devices belong together, and even ones; pairs of them (0 and 2, 1 and 3) are nearer still.
  const PairTable table = table_of(8, [](std::int32_t a, std::int32_t b) {
    if (a % 2 != b % 2) return 1e9;
    return a / 4 == b / 4 ? 100e9 : 10e9;
  });
  const auto c = by_bottleneck(table, 1.15);
  ASSERT_TRUE(c);
  ASSERT_EQ(c->levels.size(), 3U);
  EXPECT_EQ(c->order, (Sizes{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(c->levels[0].fan_out.sizes, (Sizes{2, 2, 2, 2}));
  EXPECT_EQ(c->levels[2].fan_out.sizes, (Sizes{2}));
}

TEST(Candidates, BottleneckGivesUnevenDomains) {
  const PairTable table =
      table_of(7, [](std::int32_t a, std::int32_t b) { return (a < 3) == (b < 3) ? 10e9 : 1e9; });
  const auto c = by_bottleneck(table, 1.15);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->levels[0].fan_out.sizes, (Sizes{3, 4}));
}

TEST(Candidates, NoiseBelowTheGapDoesNotSplit) {
  const PairTable table =
      table_of(6, [](std::int32_t a, std::int32_t b) { return 10e9 * (1 + 0.01 * ((7 * a + b) % 6)); });
  const auto c = by_bottleneck(table, 1.15);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->levels.size(), 1U);
}

TEST(Candidates, ADimensionBecomesARingALineOrAPair) {
  const Candidate c = by_dimension({{4, 3, 2}, {true, false, false}, true}, 24);
  ASSERT_EQ(c.levels.size(), 3U);
  EXPECT_EQ(c.levels[0].kind, LevelKind::ring);
  EXPECT_EQ(c.levels[1].kind, LevelKind::mesh);
  EXPECT_EQ(c.levels[2].kind, LevelKind::switched);
}

TEST(Candidates, LinksBetweenAllPairsAreAFullConnection) {
  NetworkGraph g = empty(4, 0);
  for (std::int32_t a = 0; a < 4; ++a) {
    for (std::int32_t b = 0; b < a; ++b) link(g, b, a, 64e9, 1e-6);
  }
  const PairTable table = pair_figures(g);
  Candidate all = flat(4);
  recognise_full_connection(g, table, all);
  EXPECT_EQ(all.levels[0].kind, LevelKind::fully_connected);
  g.links.pop_back();
  Candidate some = flat(4);
  recognise_full_connection(g, table, some);
  EXPECT_EQ(some.levels[0].kind, LevelKind::switched);
}

}  // namespace
}  // namespace nest::cluster
