#include "nest/estimate/kernels/kernel_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nest::estimate {
namespace {

using enum KernelKind;

double seconds(const KernelCall& call, const char* accelerator = "h200") {
  return model_seconds(call, fitted_constants(), device_rates(find_accelerator(accelerator)));
}

TEST(DeviceRates, ComeFromTheDatasheetAndTheAchievableShare) {
  const DeviceRates h200 = device_rates(find_accelerator("h200"));
  // Isolated products times clocks under power, over what the constants take off: a large product reaches 0.693.
  EXPECT_NEAR(h200.rate / (989e12 * 0.803), 1, 1e-3);
  EXPECT_NEAR(h200.fp8_rate / (1979e12 * 0.709), 1, 1e-3);
  EXPECT_EQ(h200.fp4_rate, 0);
  EXPECT_GT(device_rates(find_accelerator("b200")).fp4_rate, device_rates(find_accelerator("b200")).fp8_rate);
  EXPECT_DOUBLE_EQ(h200.bandwidth, 4.8e12);
  EXPECT_EQ(h200.multiprocessors, 132);
  const DeviceRates v100 = device_rates(find_accelerator("v100"));
  EXPECT_NEAR(v100.rate / (125e12 * 0.7), 1, 1e-3);  // fp16: the device has no bf16
  EXPECT_EQ(v100.fp8_rate, 0);
  EXPECT_EQ(v100.multiprocessors, 80);
}

TEST(DeviceRates, H100HasTheComputeOfTheH200) {
  const double rate = device_rates(find_accelerator("h200")).rate;
  EXPECT_NEAR(device_rates(find_accelerator("h100-sxm")).rate / rate, 1, 1e-3);
  EXPECT_NEAR(device_rates(find_accelerator("h800")).rate / rate, 1, 1e-3);
  EXPECT_LT(device_rates(find_accelerator("h100-96-500w")).rate, device_rates(find_accelerator("h200")).rate);
}

// Tiles of 64 x 128 at 0.45 of the rate take longer than those of 128 x 128 that cover them.
TEST(KernelModel, TilesThatNeverWinMayBeLeftOut) {
  KernelConstants slow = fitted_constants();
  MatmulConstants& c = slow.matmul[static_cast<std::size_t>(matmul_forward)];
  c.medium_tile = 1;
  c.small_tile = 0.45;
  KernelConstants without = slow;
  without.matmul[static_cast<std::size_t>(matmul_forward)].small_tile = 0;
  const DeviceRates rates = device_rates(find_accelerator("h200"));
  for (std::int64_t m = 16; m <= 16384; m *= 2) {
    const KernelCall call{matmul_forward, {m, 3 * m / 2, 1024}};
    EXPECT_EQ(model_seconds(call, slow, rates), model_seconds(call, without, rates)) << m;
  }
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

// Timed on an H200 (torch 2.11, bf16, graph replay), in microseconds: q k^T and dO v^T, which write the
// scores; the mean of the four that read them; dropout forward and backward. Softmax up to 1024 keys only:
// beyond that torch has a slower kernel than the fused ones of frameworks.
TEST(KernelModel, AttentionWithoutAFlashKernelAsMeasured) {
  struct Row {
    std::int64_t heads, tokens, dim;
    double writes, reads, dropout, dropout_back, softmax;
  };
  const std::vector<Row> rows{
      {12, 2048, 128, 37.2, 32.1, 86.7, 59.7, 0},     {96, 2048, 128, 278.5, 239.3, 662.6, 460.8, 0},
      {16, 4096, 128, 184.6, 154.3, 444.2, 309.3, 0}, {8, 8192, 128, 357.4, 305.2, 880.6, 616.0, 0},
      {64, 2048, 64, 165.0, 143.9, 445.5, 309.4, 0},  {64, 1024, 64, 45.6, 41.7, 114.9, 79.2, 104.5},
      {128, 512, 64, 27.3, 23.4, 59.0, 40.6, 52.8}};
  const DeviceRates rates = device_rates(find_accelerator("h200"));
  const auto us = [&](const KernelCall& call) {
    return 1e6 * model_seconds(call, fitted_constants(), rates);
  };
  for (const Row& r : rows) {
    const std::int64_t scores = r.heads * r.tokens * r.tokens;
    EXPECT_NEAR(us({KernelKind::batched_matmul, {r.tokens, r.tokens, r.dim, r.heads}}) / r.writes, 1, 0.16);
    EXPECT_NEAR(us({KernelKind::batched_matmul, {r.tokens, r.dim, r.tokens, r.heads}}) / r.reads, 1, 0.08);
    EXPECT_NEAR(us({KernelKind::dropout_forward, {scores}}) / r.dropout, 1, 0.05);
    EXPECT_NEAR(us({KernelKind::dropout_backward, {scores}}) / r.dropout_back, 1, 0.03);
    if (r.softmax > 0) {
      EXPECT_NEAR(us({KernelKind::softmax_forward, {scores, scores}}) / r.softmax, 1, 0.05);
    }
  }
}

}  // namespace
}  // namespace nest::estimate
