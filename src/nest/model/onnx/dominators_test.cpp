#include "nest/model/onnx/dominators.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace nest::model {
namespace {

constexpr std::size_t kRoot = Dominators::kRoot;

// Step by step, from both sides.
std::size_t plain_common(const Dominators& tree, std::size_t a, std::size_t b) {
  std::set<std::size_t> above{kRoot};
  for (std::size_t at = a; at != kRoot; at = tree.above(at)) above.insert(at);
  while (!above.contains(b)) b = tree.above(b);
  return b;
}

TEST(Dominators, AreThoseOfADiamond) {
  Dominators tree(4);
  tree.set(0, kRoot);
  tree.set(1, 0);
  tree.set(2, 0);
  tree.set(3, tree.common(1, 2));
  EXPECT_EQ(tree.above(3), 0U);
  EXPECT_EQ(tree.common(3, 0), 0U);
  EXPECT_EQ(tree.common(2, 2), 2U);
  EXPECT_EQ(tree.common(1, kRoot), kRoot);
}

TEST(Dominators, AreThoseOfASlowWalk) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    const auto below = [&](std::size_t n) {
      return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice);
    };
    constexpr std::size_t kOperators = 300;
    Dominators tree(kOperators);
    tree.set(0, kRoot);
    for (std::size_t i = 1; i < kOperators; ++i) {
      // Chains in half of the trees, bushes in the others.
      const std::size_t a = seed % 2 == 0 ? i - 1 : below(i);
      const std::size_t b = below(8) == 0 ? below(i) : a;
      ASSERT_EQ(tree.common(a, b), plain_common(tree, a, b)) << a << " " << b;
      tree.set(i, tree.common(a, b));
    }
  }
}

// Slow walks of such a chain would take 10^11 steps.
TEST(Dominators, TakeLongChains) {
  constexpr std::size_t kOperators = 600'000;
  Dominators tree(kOperators);
  tree.set(0, kRoot);
  for (std::size_t i = 1; i < kOperators; ++i) {
    tree.set(i, i - 1);
    ASSERT_EQ(tree.common(i, i / 2), i / 2);
  }
}

}  // namespace
}  // namespace nest::model
