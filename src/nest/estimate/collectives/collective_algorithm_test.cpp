#include "nest/estimate/collectives/collective_algorithm.hpp"

#include <gtest/gtest.h>

namespace nest::estimate {
namespace {

GroupLevel members(std::int32_t n, std::int32_t log) {
  return {.members = n, .ring_steps = n - 1, .log_steps = log};
}

void expect(Algorithm a, CollectiveKind k, const GroupLevel& g, double steps, double volume) {
  const AlgorithmCost s = algorithm_cost(a, k, g);
  EXPECT_DOUBLE_EQ(s.steps, steps) << to_string(a);
  EXPECT_DOUBLE_EQ(s.volume, volume) << to_string(a);
}

TEST(AlgorithmCost, AllReduce) {
  const GroupLevel g = members(8, 3);
  expect(Algorithm::ring, CollectiveKind::all_reduce, g, 14, 14.0 / 8);
  expect(Algorithm::halving_doubling, CollectiveKind::all_reduce, g, 6, 14.0 / 8);
  expect(Algorithm::tree, CollectiveKind::all_reduce, g, 6, 2);
  expect(Algorithm::tree, CollectiveKind::all_reduce, members(2, 1), 2, 1);
  expect(Algorithm::direct, CollectiveKind::all_reduce, g, 2, 14.0 / 8);
  expect(Algorithm::in_network, CollectiveKind::all_reduce, g, 2, 1);
}

TEST(AlgorithmCost, HalfAnAllReduce) {
  const GroupLevel g = members(8, 3);
  for (const CollectiveKind k : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    expect(Algorithm::ring, k, g, 7, 7.0 / 8);
    expect(Algorithm::halving_doubling, k, g, 3, 7.0 / 8);
    expect(Algorithm::direct, k, g, 1, 7.0 / 8);
    expect(Algorithm::in_network, k, g, 1, 7.0 / 8);
  }
}

TEST(AlgorithmCost, Broadcast) {
  const GroupLevel g = members(8, 3);
  expect(Algorithm::ring, CollectiveKind::broadcast, g, 7, 1);
  expect(Algorithm::tree, CollectiveKind::broadcast, g, 3, 3);
  expect(Algorithm::halving_doubling, CollectiveKind::broadcast, g, 6, 14.0 / 8);
  expect(Algorithm::direct, CollectiveKind::broadcast, g, 2, 14.0 / 8);
  expect(Algorithm::in_network, CollectiveKind::broadcast, g, 1, 1);
}

TEST(AlgorithmAllowed, ByKindOfLevel) {
  const auto ar = CollectiveKind::all_reduce;
  EXPECT_TRUE(algorithm_allowed(Algorithm::halving_doubling, ar, LevelKind::switched, false));
  EXPECT_FALSE(algorithm_allowed(Algorithm::halving_doubling, ar, LevelKind::torus, false));
  EXPECT_TRUE(algorithm_allowed(Algorithm::ring, ar, LevelKind::mesh, false));
  EXPECT_FALSE(algorithm_allowed(Algorithm::ring, ar, LevelKind::fully_connected, false));
  EXPECT_TRUE(algorithm_allowed(Algorithm::direct, ar, LevelKind::fully_connected, false));
  EXPECT_FALSE(algorithm_allowed(Algorithm::tree, CollectiveKind::all_gather, LevelKind::switched, false));
  EXPECT_FALSE(algorithm_allowed(Algorithm::in_network, ar, LevelKind::switched, false));
  EXPECT_TRUE(algorithm_allowed(Algorithm::in_network, ar, LevelKind::switched, true));
}

}  // namespace
}  // namespace nest::estimate
