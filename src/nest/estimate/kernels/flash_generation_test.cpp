#include "nest/estimate/kernels/flash_generation.hpp"

#include <gtest/gtest.h>

#include "nest/estimate/operators/operator_time.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::estimate {
namespace {

TEST(FlashGeneration, OlderKernelsAreSlowerOnNewerAccelerators) {
  EXPECT_EQ(flash_time(3, find_accelerator("h100-sxm")), 1);
  EXPECT_EQ(flash_time(2, find_accelerator("a100-80")), 1);
  EXPECT_GT(flash_time(2, find_accelerator("h100-sxm")), 1);
  EXPECT_GT(flash_time(1, find_accelerator("h100-sxm")), flash_time(1, find_accelerator("a100-80")));
  EXPECT_EQ(flash_time(1, find_accelerator("tpu-v4")), 1);
}

// Only attention gets slower, and by the factor.
TEST(FlashGeneration, MultipliesAttentionAlone) {
  const Model model = build_model(zoo_model("llama3.1-8b"), {.sequence = 8192});
  const LayerType& block = model.type_of(LayerId{1});
  const OperatorTimes newest(find_accelerator("h100-sxm"));
  const OperatorTimes old(newest.shared_kernels(), {.attention_time = 1.6});
  for (const Operator& op : block.operators) {
    const double factor = op.kind == OperatorKind::attention ? 1.6 : 1;
    EXPECT_NEAR(old.time(block, op).forward.value, factor * newest.time(block, op).forward.value, 1e-12)
        << op.name;
  }
}

}  // namespace
}  // namespace nest::estimate
