#include "nest/estimate/operators/operator_compiled.hpp"

#include <gtest/gtest.h>

namespace nest::estimate {
namespace {

TEST(FuseStreams, CountsTheBytesOfOnePass) {
  std::vector<KernelUse> uses{{{KernelKind::swiglu_forward, {10, 20}}, Pass::forward},
                              {{KernelKind::add, {10, 20}}, Pass::backward_input},
                              {{KernelKind::matmul_forward, {8, 8, 8}}, Pass::forward}};
  fuse_streams(uses);
  EXPECT_EQ(uses[0].call, (KernelCall{KernelKind::fused, {200 * 6}}));
  EXPECT_EQ(uses[1].call, (KernelCall{KernelKind::fused, {200 * 2}}));
  EXPECT_EQ(uses[2].call.kind, KernelKind::matmul_forward);
}

}  // namespace
}  // namespace nest::estimate
