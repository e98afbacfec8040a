#include "nest/solve/table/class_numbers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

namespace nest::solve {
namespace {

TEST(ClassNumbers, KindsOrderAndBoundariesCount) {
  ClassNumbers numbers;
  const auto one = numbers.extended(ClassNumbers::kEmpty, 1);
  const auto two_one = numbers.extended(one, 2);
  const auto one_two = numbers.extended(numbers.extended(ClassNumbers::kEmpty, 2), 1);
  EXPECT_EQ(numbers.extended(ClassNumbers::kEmpty, 1), one);
  EXPECT_NE(two_one, one_two);
  EXPECT_EQ(numbers.of(two_one, Bytes{8}, Bytes{0}, Bytes{0}), 0);
  EXPECT_EQ(numbers.of(one_two, Bytes{8}, Bytes{0}, Bytes{0}), 1);
  EXPECT_EQ(numbers.of(two_one, Bytes{8}, Bytes{4}, Bytes{4}), 2);
  EXPECT_EQ(numbers.of(two_one, Bytes{4}, Bytes{0}, Bytes{0}), 3);
  EXPECT_EQ(numbers.of(two_one, Bytes{8}, Bytes{4}, Bytes{0}), 4);  // nobody trains what comes before
  EXPECT_EQ(numbers.of(two_one, Bytes{8}, Bytes{0}, Bytes{0}), 0);
}

TEST(ClassNumbers, AgreeWithAMapOfWholeSequences) {
  std::mt19937 random(1);
  ClassNumbers numbers;
  std::map<std::tuple<std::vector<int>, int, int, int>, std::int32_t> known;
  for (int i = 0; i < 2000; ++i) {
    std::vector<int> kinds;
    ClassNumbers::Sequence sequence = ClassNumbers::kEmpty;
    const std::size_t length = 1 + random() % 5;
    while (kinds.size() < length) {
      const int kind = static_cast<int>(random() % 3);
      kinds.push_back(kind);
      sequence = numbers.extended(sequence, static_cast<std::uint16_t>(kind));
    }
    const int before = static_cast<int>(random() % 2);
    const int after = static_cast<int>(random() % 2);
    const int returning = static_cast<int>(random() % 2);
    const auto next = static_cast<std::int32_t>(known.size());
    const auto at = known.try_emplace({kinds, before, after, returning}, next).first;
    EXPECT_EQ(numbers.of(sequence, Bytes{before}, Bytes{after}, Bytes{returning}), at->second);
  }
}

// Of equal layers there are as many sequences as lengths.
TEST(ClassNumbers, EqualLayersTakeLittleMemory) {
  ClassNumbers numbers;
  for (int from = 0; from < 1000; ++from) {
    ClassNumbers::Sequence sequence = ClassNumbers::kEmpty;
    for (int layer = from; layer < 1000; ++layer) sequence = numbers.extended(sequence, 7);
  }
  EXPECT_LT(numbers.memory(), Bytes{50'000});
}

}  // namespace
}  // namespace nest::solve
