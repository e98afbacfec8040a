#include "nest/strategies/boundary.hpp"

#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

TEST(Boundary, SplitAsTheLayersAre) {
  const Bytes whole{4096};
  EXPECT_EQ(boundary_bytes(whole, {}).value, 4096);
  EXPECT_EQ(boundary_bytes(whole, {.tensor = 8}).value, 4096);
  EXPECT_EQ(boundary_bytes(whole, {.tensor = 8, .sequence_parallel = true}).value, 512);
  EXPECT_EQ(boundary_bytes(whole, {.tensor = 8, .sequence_parallel = true, .context = 2}).value, 256);
  EXPECT_EQ(boundary_bytes(whole, {.context = 3}).value, 1366);  // rounded up
}

TEST(Boundary, IsWhatTheLayerMakes) {
  const Model m = small_model("mixtral-8x7b");
  const Strategy s{.tensor = 2, .sequence_parallel = true, .context = 2, .expert = 8, .expert_tensor = 1};
  for (const Edge& edge : m.edges)
    EXPECT_EQ(boundary_bytes(edge, s), shard_layer(m.type_of(edge.from), s).layer.output_bytes());
}

}  // namespace
}  // namespace nest::strategies
