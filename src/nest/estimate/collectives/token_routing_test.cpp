#include "nest/estimate/collectives/token_routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace nest::estimate {
namespace {

// By drawing: experts in order of random scores, groups by their best expert.
Reached drawn(const TokenRoute& route, std::int64_t devices, std::int64_t nodes, int tokens, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int64_t> order(static_cast<std::size_t>(route.experts));
  std::iota(order.begin(), order.end(), 0);
  Reached sum{0, 0};
  for (int t = 0; t < tokens; ++t) {
    std::shuffle(order.begin(), order.end(), random);
    std::set<std::int64_t> device, node, group;
    std::int64_t picked = 0;
    for (const std::int64_t expert : order) {
      if (picked == route.top_k) break;
      if (route.limit > 0) {
        const std::int64_t own = expert * route.groups / route.experts;
        if (!group.contains(own) && static_cast<std::int64_t>(group.size()) == route.limit) continue;
        group.insert(own);
      }
      device.insert(expert * devices / route.experts);
      node.insert(expert * nodes / route.experts);
      ++picked;
    }
    sum.devices += static_cast<double>(device.size()) / tokens;
    sum.nodes += static_cast<double>(node.size()) / tokens;
  }
  return sum;
}

TEST(TokenRouting, ClosedFormAndChainAsDrawn) {
  struct Case {
    TokenRoute route;
    std::int64_t devices;
    std::int64_t nodes;
  };
  const std::vector<Case> cases{{{.experts = 256, .top_k = 8}, 8, 1},
                                {{.experts = 128, .top_k = 8}, 32, 4},
                                {{.experts = 256, .top_k = 8, .groups = 8, .limit = 4}, 64, 8},
                                {{.experts = 256, .top_k = 8, .groups = 8, .limit = 4}, 32, 4},
                                {{.experts = 160, .top_k = 6, .groups = 8, .limit = 3}, 16, 2}};
  for (const Case& c : cases) {
    const Reached model = reached(c.route, c.devices, c.nodes);
    const Reached found = drawn(c.route, c.devices, c.nodes, 20'000, 7);
    EXPECT_NEAR(model.devices, found.devices, 0.01 * found.devices)
        << c.route.experts << " over " << c.devices;
    EXPECT_NEAR(model.nodes, found.nodes, 0.01 * found.nodes) << c.route.experts << " over " << c.nodes;
  }
}

TEST(TokenRouting, EndsOfTheRange) {
  EXPECT_NEAR(reached_blocks({.experts = 64, .top_k = 6}, 1), 1, 1e-12);
  EXPECT_NEAR(reached_blocks({.experts = 64, .top_k = 6}, 64), 6, 1e-9);  // one expert a device
  EXPECT_NEAR(reached_blocks({.experts = 8, .top_k = 8}, 4), 4, 1e-12);   // every expert
}

}  // namespace
}  // namespace nest::estimate
