#include "nest/recipe/precision.hpp"

#include <gtest/gtest.h>

#include "nest/base/rooms.hpp"

namespace nest::recipe {
namespace {

TEST(Precisions, RowsStandInTheOrderOfTheirValues) {
  for (std::size_t i = 0; i < precisions().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(precisions()[i].precision), i);
    EXPECT_EQ(find_precision(precisions()[i].name), precisions()[i].precision);
  }
  EXPECT_FALSE(find_precision("int4"));
  EXPECT_EQ(precision_words(), "bf16, fp16, fp8, fp8-block, mxfp8 or nvfp4");
}

TEST(Precisions, ScalesCount) {
  EXPECT_EQ(facts_of(Precision::bf16).operand_bytes, 2);
  EXPECT_EQ(facts_of(Precision::fp8).operand_bytes, 1);
  EXPECT_EQ(facts_of(Precision::mxfp8).operand_bytes, 33.0 / 32);  // 32 values of 8 bits, one scale of 8
  EXPECT_EQ(facts_of(Precision::nvfp4).operand_bytes, 9.0 / 16);   // 16 values of 4 bits, one scale of 8
  for (const PrecisionFacts& f : precisions()) {
    EXPECT_EQ(f.low, f.operand_bytes < 2) << f.name;
  }
}

}  // namespace
}  // namespace nest::recipe
