#include "nest/estimate/kernels/scan_work.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/estimate/kernels/kernel_time.hpp"
#include "nest/estimate/operators/operator_kernels.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::estimate {
namespace {

// What the first operator of this name in a model of the zoo runs forward.
KernelCall call_in(const std::string& model, const std::string& name, std::int64_t sequence) {
  const Model built = build_model(zoo_model(model), {.micro_batch = 1, .sequence = sequence});
  for (const LayerType& type : built.types) {
    for (const Operator& op : type.operators) {
      if (op.name == name) return kernels_of(type, op, {}).front().call;
    }
  }
  ADD_FAILURE() << model << " has no operator " << name;
  return {};
}

void expect_alike(const KernelCall& model, const KernelCall& public_kernel) {
  EXPECT_EQ(model.kind, public_kernel.kind);
  EXPECT_EQ(model.sizes[0], public_kernel.sizes[0]);
  // Parameters of a head or channel, which the sizes leave out, are few.
  EXPECT_NEAR(static_cast<double>(model.sizes[1]) / static_cast<double>(public_kernel.sizes[1]), 1, 0.02);
  EXPECT_EQ(model.sizes[2], public_kernel.sizes[2]);
}

TEST(ScanWork, IsThatOfTheModelsOperators) {
  using enum KernelKind;
  // Qwen3-Next: 32 value heads and 16 key heads of 128, convolutions of 4 taps over their 8,192 channels.
  expect_alike(
      call_in("qwen3-next-80b-a3b", "delta_scan", 8192),
      scan_call(delta_rule_forward,
                {.positions = 8192, .heads = 32, .key_heads = 16, .key_dim = 128, .value_dim = 128}));
  expect_alike(call_in("qwen3-next-80b-a3b", "delta_convolution", 8192),
               scan_call(convolution_forward, {.positions = 8192, .heads = 8192, .key_dim = 4}));
  // Nemotron-H 56B: 256 heads of 64 in 8 groups with 256 states.
  expect_alike(call_in("nemotron-h-56b", "ssm_scan", 8192),
               scan_call(state_space_forward,
                         {.positions = 8192, .heads = 256, .key_heads = 8, .key_dim = 256, .value_dim = 64}));
  // Kimi Linear: 32 heads of 128.
  expect_alike(
      call_in("kimi-linear-48b-a3b", "delta_rule", 4096),
      scan_call(channel_delta_rule_forward,
                {.positions = 4096, .heads = 32, .key_heads = 32, .key_dim = 128, .value_dim = 128}));
  // Jamba 1.5 Large: 16,384 channels with 16 states.
  expect_alike(call_in("jamba-1.5-large", "scan", 4096),
               scan_call(selective_scan_forward, {.positions = 4096, .heads = 16384, .key_dim = 16}));
}

TEST(ScanWork, AChoiceOfKeysReadsAllScores) {
  EXPECT_EQ(choice_call(4096, 8192).sizes[1], 4096 * 8192 * 2);
}

// Three of the measured points of data/profiles/h200.scans.json, forward and backward.
TEST(ScanWork, TimesAreNearTheMeasuredOnes) {
  using enum KernelKind;
  const KernelTimes times(find_accelerator("h200"));
  const auto ms = [&](KernelKind kind, const ScanSizes& sizes) {
    const KernelTime time = times.seconds(scan_call(kind, sizes));
    EXPECT_EQ(time.source, TimeSource::model);
    return time.time.value * 1e3;
  };
  const ScanSizes delta{.positions = 8192, .heads = 32, .key_heads = 16, .key_dim = 128, .value_dim = 128};
  EXPECT_NEAR(ms(delta_rule_forward, delta) / 0.545, 1, 0.06);
  EXPECT_NEAR(ms(delta_rule_backward, delta) / 1.687, 1, 0.06);
  const ScanSizes space{.positions = 8192, .heads = 256, .key_heads = 8, .key_dim = 256, .value_dim = 64};
  EXPECT_NEAR(ms(state_space_forward, space) / 1.567, 1, 0.06);
  EXPECT_NEAR(ms(state_space_backward, space) / 5.198, 1, 0.06);
  const ScanSizes channels{.batch = 2, .positions = 8192, .heads = 16384, .key_dim = 16};
  EXPECT_NEAR(ms(selective_scan_forward, channels) / 5.457, 1, 0.12);
  EXPECT_NEAR(ms(selective_scan_backward, channels) / 18.283, 1, 0.06);
}

TEST(ScanWork, WhatNobodyMeasuredIsARoofline) {
  const KernelTimes times(find_accelerator("h200"));
  EXPECT_EQ(times.seconds({KernelKind::other_scan_forward, {1, 1'000'000, 0}}).source, TimeSource::roofline);
  EXPECT_EQ(name_of(TimeSource::roofline), "roofline");
}

}  // namespace
}  // namespace nest::estimate
