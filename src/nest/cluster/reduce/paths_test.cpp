#include "nest/cluster/reduce/paths.hpp"

#include <gtest/gtest.h>

#include <random>

#include "nest/cluster/reduce/test_networks.hpp"
#include "support/stride.hpp"

namespace nest::cluster {
namespace {

using testing_networks::empty;
using testing_networks::grid;
using testing_networks::link;

// Widest rate by Floyd and Warshall, then least latency over links at least as wide, for every pair on its
// own.
PairTable naive(const NetworkGraph& g) {
  const auto n = static_cast<std::size_t>(g.nodes());
  std::vector<std::vector<double>> width(n, std::vector<double>(n, 0));
  for (const Link& l : g.links) {
    width[static_cast<std::size_t>(l.a)][static_cast<std::size_t>(l.b)] = l.bandwidth.value;
    width[static_cast<std::size_t>(l.b)][static_cast<std::size_t>(l.a)] = l.bandwidth.value;
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        width[i][j] = std::max(width[i][j], std::min(width[i][k], width[k][j]));
    }
  }
  PairTable out(g.devices);
  for (std::int32_t a = 0; a < g.devices; ++a) {
    for (std::int32_t b = 0; b < a; ++b) {
      const double rate = width[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
      std::vector<double> far(n, 1e9);
      far[static_cast<std::size_t>(a)] = 0;
      for (std::size_t round = 0; round < n; ++round) {
        for (const Link& l : g.links) {
          if (l.bandwidth.value < rate) continue;
          double& x = far[static_cast<std::size_t>(l.a)];
          double& y = far[static_cast<std::size_t>(l.b)];
          x = std::min(x, y + l.latency.value);
          y = std::min(y, x + l.latency.value);
        }
      }
      out.at(a, b) = {rate, far[static_cast<std::size_t>(b)]};
    }
  }
  return out;
}

void expect_equal(const PairTable& a, const PairTable& b) {
  ASSERT_EQ(a.pairs(), b.pairs());
  for (std::size_t i = 0; i < a.pairs(); ++i) {
    EXPECT_EQ(a.all()[i].bandwidth, b.all()[i].bandwidth);
    EXPECT_NEAR(a.all()[i].latency, b.all()[i].latency, 1e-12);
  }
}

TEST(Paths, TheWidestPathWinsOverTheShortest) {
  // d0 - d1 directly at 10, or through the switch at 50 and three times the latency.
  NetworkGraph g = empty(2, 1);
  link(g, 0, 1, 10e9, 1e-6);
  link(g, 0, 2, 50e9, 1.5e-6);
  link(g, 1, 2, 50e9, 1.5e-6);
  const PairTable t = pair_figures(g);
  EXPECT_EQ(t.at(0, 1).bandwidth, 50e9);
  EXPECT_DOUBLE_EQ(t.at(1, 0).latency, 3e-6);
}

TEST(Paths, AmongPathsAsWideTheQuickestCounts) {
  NetworkGraph g = empty(2, 2);
  link(g, 0, 2, 50e9, 1e-6);
  link(g, 1, 2, 50e9, 1e-6);
  link(g, 0, 3, 50e9, 3e-6);
  link(g, 1, 3, 90e9, 3e-6);
  EXPECT_DOUBLE_EQ(pair_figures(g).at(0, 1).latency, 2e-6);
}

TEST(Paths, OnATorusLatencyIsHops) {
  const PairTable t = pair_figures(grid({4, 4}, true, 50e9, 1e-6));
  EXPECT_NEAR(t.at(0, 10).latency, 4e-6, 1e-15);  // (2, 2)
  EXPECT_NEAR(t.at(0, 15).latency, 2e-6, 1e-15);  // (3, 3), both round the corner
  EXPECT_EQ(t.at(0, 10).bandwidth, 50e9);
}

TEST(Paths, RandomNetworksAgreeWithTheNaiveAnswer) {
  for (unsigned seed = 1; seed <= 40; seed += test::stride()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto devices = static_cast<std::int32_t>(2 + random() % 8);
    const auto switches = static_cast<std::int32_t>(random() % 4);
    NetworkGraph g = empty(devices, switches);
    const auto any = [&](std::int32_t n) {
      return static_cast<std::int32_t>(random() % static_cast<unsigned>(n));
    };
    for (std::int32_t node = 1; node < g.nodes(); ++node) link(g, node, any(node), 1 + any(4), 1 + any(5));
    for (std::int32_t extra = any(10); extra > 0; --extra) {
      const std::int32_t a = any(g.nodes());
      const std::int32_t b = any(g.nodes());
      if (a != b) link(g, a, b, 1 + any(4), 1 + any(5));
    }
    g.links = merge_parallel(std::move(g.links));
    expect_equal(pair_figures(g), naive(g));
  }
}

}  // namespace
}  // namespace nest::cluster
