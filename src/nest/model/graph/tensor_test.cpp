#include "nest/model/graph/tensor.hpp"

#include <gtest/gtest.h>

namespace nest::model {
namespace {

TEST(Tensor, CountsAndSpells) {
  const Tensor t{
      "q", {{Axis::batch, 2}, {Axis::sequence, 10}, {Axis::heads, 4}, {Axis::head_dim, 8}}, DType::fp32};
  EXPECT_EQ(elements(t.shape), 640);
  EXPECT_EQ(t.bytes().value, 2560);
  EXPECT_EQ(spell(t.shape), "[2 batch, 10 sequence, 4 heads, 8 head_dim]");
  EXPECT_EQ(elements({}), 1);
}

TEST(Tensor, EveryAxisAndDtypeHasAName) {
  for (int i = 0; i <= static_cast<int>(Axis::other); ++i)
    EXPECT_FALSE(name_of(static_cast<Axis>(i)).empty());
  EXPECT_EQ(name_of(DType::int64), "int64");
  EXPECT_EQ(size_of(DType::bf16), 2);
}

}  // namespace
}  // namespace nest::model
