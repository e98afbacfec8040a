#include "nest/strategies/sharded_layer.hpp"

#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

// Mixtral: h = 4096, 32 heads and 8 KV heads of 128, 8 experts of 14336. Tensor 4 with experts whole over x
// = 1.
TEST(ShardedLayer, SumsOfOneDevice) {
  const Model m = small_model("mixtral-8x7b");
  const ShardedLayer s = shard_layer(
      block_with(m, "router"), {.tensor = 4, .sequence_parallel = true, .expert = 4, .expert_tensor = 1});
  const std::int64_t attention = 2 * 4096 * 4096 + 2 * 4096 * 1024;
  const std::int64_t whole_on_each = 2 * 4096 + 4096 * 8;  // norms, router
  EXPECT_EQ(s.dense_parameters(), attention / 4 + whole_on_each);
  EXPECT_EQ(s.replicated_parameters(), whole_on_each);
  EXPECT_EQ(s.partial_gradient_parameters(), whole_on_each);
  EXPECT_EQ(s.expert_parameters(), 2 * 3 * 4096 * 14336);
  EXPECT_EQ(s.shared_parameters(), 0);
  EXPECT_DOUBLE_EQ(s.factor_of("no such operator", false), 1);
}

TEST(ShardedLayer, TiedHeadsAreShared) {
  const Model m = small_model("llama3.2-1b");
  const ShardedLayer head = shard_layer(m.types.back(), {.tensor = 2});
  EXPECT_EQ(head.shared_parameters(), 2048 * 128256 / 2);
  EXPECT_EQ(head.dense_parameters(), 2048);  // the norm
}

}  // namespace
}  // namespace nest::strategies
