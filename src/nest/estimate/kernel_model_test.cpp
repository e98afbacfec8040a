#include "nest/estimate/kernel_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nest {
namespace {

using enum KernelKind;

double seconds(const KernelCall& call, const char* accelerator = "h200") {
  return model_seconds(call, fitted_constants(), device_rates(find_accelerator(accelerator)));
}

TEST(DeviceRates, ComeFromTheDatasheetAndTheAchievableShare) {
  const DeviceRates h200 = device_rates(find_accelerator("h200"));
  EXPECT_DOUBLE_EQ(h200.rate, 989e12 * 0.803);
  EXPECT_DOUBLE_EQ(h200.fp8_rate, 1979e12 * 0.709);
  EXPECT_DOUBLE_EQ(h200.bandwidth, 4.8e12);
  EXPECT_EQ(h200.multiprocessors, 132);
  const DeviceRates v100 = device_rates(find_accelerator("v100"));
  EXPECT_DOUBLE_EQ(v100.rate, 125e12 * 0.7);  // fp16: the device has no bf16
  EXPECT_EQ(v100.fp8_rate, 0);
  EXPECT_EQ(v100.multiprocessors, 80);
}

TEST(DeviceRates, H100HasTheComputeOfTheH200) {
  EXPECT_EQ(device_rates(find_accelerator("h100-sxm")).rate, device_rates(find_accelerator("h200")).rate);
  EXPECT_EQ(device_rates(find_accelerator("h800")).rate, device_rates(find_accelerator("h200")).rate);
  EXPECT_LT(device_rates(find_accelerator("h100-96-500w")).rate, device_rates(find_accelerator("h200")).rate);
}

TEST(KernelModel, EveryKindOfEveryAcceleratorHasATime) {
  for (const Accelerator& accelerator : accelerators()) {
    const DeviceRates rates = device_rates(accelerator);
    EXPECT_GT(rates.rate, 0) << accelerator.name;
    for (const KernelKindRow& row : kernel_kinds()) {
      const double time = model_seconds({row.kind, {8, 1024, 16, 8, 128, 128, 1}}, fitted_constants(), rates);
      EXPECT_TRUE(std::isfinite(time) && time > 0) << accelerator.name << " " << row.series;
    }
  }
}

TEST(KernelModel, LargeProductsReachTheSustainedRate) {
  const double flops = 2.0 * 16384 * 16384 * 16384;
  for (const KernelKind kind : {matmul_forward, matmul_input, matmul_weight}) {
    const double rate = flops / seconds({kind, {16384, 16384, 16384}});
    EXPECT_GT(rate, 640e12);
    EXPECT_LT(rate, 720e12);
  }
}

TEST(KernelModel, SmallProductsAreBoundByMemoryAndOverhead) {
  // 8 rows: the weight must be read, 2 * 8192 * 8192 bytes.
  const double time = seconds({matmul_forward, {8, 8192, 8192}});
  EXPECT_GT(time, 2.0 * 8192 * 8192 / 4.8e12);
  EXPECT_LT(time, 3 * 2.0 * 8192 * 8192 / 4.8e12);
}

TEST(KernelModel, TimeGrowsWithEachSize) {
  const std::vector<KernelCall> calls{
      {matmul_forward, {2048, 4096, 4096}},     {matmul_weight, {2048, 4096, 4096}},
      {grouped_forward, {8, 4096, 4096, 4096}}, {attention_backward, {2, 2048, 16, 4, 128, 128, 1}},
      {rms_norm_forward, {4096, 4096}},         {loss_forward, {4096, 32000}}};
  for (const KernelCall& call : calls) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (call.sizes[i] == 0 || (call.kind == grouped_forward && i == 0)) continue;
      KernelCall larger = call;
      larger.sizes[i] *= 4;
      EXPECT_GT(seconds(larger), seconds(call)) << row_of(call.kind).series << " size " << i;
    }
  }
}

TEST(KernelModel, AMaskHalvesLongAttentionAndAWindowMakesItLinear) {
  const double full = seconds({attention_forward, {1, 32768, 32, 8, 128, 128, 0}});
  const double causal = seconds({attention_forward, {1, 32768, 32, 8, 128, 128, 1}});
  EXPECT_NEAR(causal / full, 0.5, 0.05);
  KernelCall window{attention_forward, {1, 32768, 32, 8, 128, 128, 1}, 4096};
  EXPECT_LT(seconds(window), 0.35 * causal);
}

TEST(KernelModel, MoreBandwidthHelpsStreamsAndNotLargeProducts) {
  EXPECT_NEAR(seconds({add, {65536, 8192}}, "h100-sxm") / seconds({add, {65536, 8192}}), 4.8 / 3.35, 0.02);
  EXPECT_NEAR(seconds({matmul_forward, {8192, 8192, 8192}}, "h100-sxm") /
                  seconds({matmul_forward, {8192, 8192, 8192}}),
              1, 0.03);
}

TEST(KernelModel, EightBitProductsTakeTheOtherRateWhereThereIsNone) {
  EXPECT_LT(seconds({fp8_matmul, {8192, 8192, 8192}}), 0.7 * seconds({matmul_forward, {8192, 8192, 8192}}));
  EXPECT_GT(seconds({fp8_matmul, {8192, 8192, 8192}}, "a100-80"),
            0.7 * seconds({matmul_forward, {8192, 8192, 8192}}, "a100-80"));
}

}  // namespace
}  // namespace nest
