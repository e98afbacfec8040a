#include "nest/model/graph/operator.hpp"

#include <gtest/gtest.h>

namespace nest::model {
namespace {

TEST(AttentionFlops, WholeCausalAndWindowed) {
  // 2 products * 2 FLOP * 64 values * pairs
  EXPECT_DOUBLE_EQ(
      attention_flops({.batch = 1, .queries = 1000, .heads = 1, .key_dim = 64, .keys = 1000, .value_dim = 64},
                      {})
          .value,
      4.0 * 64 * 1000 * 1000);
  EXPECT_DOUBLE_EQ(
      attention_flops({.batch = 1, .queries = 1000, .heads = 1, .key_dim = 64, .keys = 1000, .value_dim = 64},
                      {.causal = true})
          .value,
      4.0 * 64 * 1000 * 1000 / 2);
  // a triangle of 100 * 100 / 2 and a band of 900 * 100
  EXPECT_DOUBLE_EQ(
      attention_flops({.batch = 1, .queries = 1000, .heads = 1, .key_dim = 64, .keys = 1000, .value_dim = 64},
                      {.causal = true, .window = 100})
          .value,
      4.0 * 64 * (100.0 * 100 / 2 + 900 * 100));
}

TEST(AttentionFlops, AWindowWiderThanTheSequenceChangesNothing) {
  EXPECT_EQ(
      attention_flops({.batch = 2, .queries = 512, .heads = 8, .key_dim = 64, .keys = 512, .value_dim = 64},
                      {.causal = true, .window = 4096}),
      attention_flops({.batch = 2, .queries = 512, .heads = 8, .key_dim = 64, .keys = 512, .value_dim = 64},
                      {.causal = true}));
}

TEST(AttentionFlops, KeysAndValuesMayDifferInWidth) {
  EXPECT_DOUBLE_EQ(
      attention_flops({.batch = 3, .queries = 10, .heads = 128, .key_dim = 192, .keys = 20, .value_dim = 128},
                      {})
          .value,
      2.0 * 3 * 128 * 10 * 20 * (192 + 128));
}

TEST(OperatorKinds, RowsStandInTheOrderOfTheEnum) {
  for (int i = 0; i <= static_cast<int>(OperatorKind::collective); ++i) {
    const auto kind = static_cast<OperatorKind>(i);
    EXPECT_EQ(row_of(kind).kind, kind) << row_of(kind).name;
  }
}

}  // namespace
}  // namespace nest::model
