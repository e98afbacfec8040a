#include "nest/estimate/kernels/precision_math.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::estimate {
namespace {

TEST(PrecisionMath, EveryPrecisionHasItsArithmetic) {
  const Accelerator& b200 = find_accelerator("b200");
  EXPECT_EQ(peak_of(b200, Precision::bf16).value, 2.25e15);
  EXPECT_EQ(peak_of(b200, Precision::fp8).value, 4.5e15);
  EXPECT_EQ(peak_of(b200, Precision::fp8_block).value, 4.5e15);
  EXPECT_EQ(peak_of(b200, Precision::mxfp8).value, 4.5e15);
  EXPECT_EQ(peak_of(b200, Precision::nvfp4).value, 9e15);
  EXPECT_EQ(peak_of(find_accelerator("h100-sxm"), Precision::nvfp4).value, 0);
  EXPECT_EQ(peak_of(find_accelerator("v100"), Precision::bf16).value, 125e12);  // its fp16 stands in
}

TEST(PrecisionMath, WhatIsLackingIsSaid) {
  const Cluster a100 = catalog_cluster("dgx-a100-superpod");
  EXPECT_EQ(lacking_math(a100, Precision::mxfp8), "has no 8-bit matrix products");
  EXPECT_EQ(lacking_math(a100, Precision::nvfp4), "has no 4-bit matrix products");
  EXPECT_EQ(lacking_math(a100, Precision::fp16), "");
  EXPECT_EQ(lacking_math(catalog_cluster("gb200-nvl72"), Precision::nvfp4), "");
}

}  // namespace
}  // namespace nest::estimate
