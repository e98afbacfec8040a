#include "nest/solve/tree/search_node.hpp"

#include <gtest/gtest.h>

namespace nest::solve {
namespace {

SearchNode node(double bound, std::int64_t devices, std::int64_t number) {
  SearchNode made;
  made.bound = Seconds{bound};
  made.devices = devices;
  made.number = number;
  return made;
}

std::vector<std::int64_t> order(Objective objective) {
  NodeQueue queue(TakenLater{objective});
  queue.push(node(2, 8, 0));
  queue.push(node(1, 16, 1));
  queue.push(node(3, 4, 2));
  queue.push(node(1, 16, 3));
  std::vector<std::int64_t> numbers;
  while (!queue.empty()) numbers.push_back(queue.pop().number);
  return numbers;
}

TEST(NodeQueue, TheLeastBoundComesFirstAndTiesInTheOrderOfMaking) {
  EXPECT_EQ(order(Objective::step_time), (std::vector<std::int64_t>{1, 3, 0, 2}));
}

TEST(NodeQueue, FewerDevicesComeFirstWhereTheyAreTheObjective) {
  EXPECT_EQ(order(Objective::devices), (std::vector<std::int64_t>{2, 0, 1, 3}));
}

TEST(NodeQueue, TheLeastCostComesFirst) {
  NodeQueue queue(TakenLater{Objective::cost});
  SearchNode fast = node(1, 64, 0);
  fast.weight = 64;
  SearchNode cheap = node(4, 8, 1);
  cheap.weight = 8;
  queue.push(fast);
  queue.push(cheap);
  EXPECT_EQ(queue.first().number, 1);
  EXPECT_EQ(queue.first().value(), Seconds{32});
}

TEST(NodeQueue, CanBeLookedThrough) {
  NodeQueue queue(TakenLater{});
  EXPECT_TRUE(queue.empty());
  queue.push(node(2, 1, 0));
  queue.push(node(1, 1, 1));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.all().size(), 2U);
  EXPECT_EQ(queue.first().number, 1);
}

TEST(SearchNode, PlacementsAndTablesAreDeep) {
  SearchNode made;
  EXPECT_FALSE(made.deep());
  made.kind = SearchNode::Kind::zero;
  EXPECT_FALSE(made.deep());
  made.kind = SearchNode::Kind::fill;
  EXPECT_TRUE(made.deep());
}

}  // namespace
}  // namespace nest::solve
