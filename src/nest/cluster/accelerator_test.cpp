#include "nest/cluster/accelerator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"

namespace nest::cluster {
namespace {

Accelerator read(const std::string& yaml) {
  const Document document = parse_document("x.yaml", yaml);
  Reader r(document);
  return read_accelerator(r, "accelerator");
}

std::string error_of(const std::string& yaml) {
  try {
    (void)read(yaml);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Accelerator, EveryNameOfTheRunTablesIsKnown) {
  for (const char* name :
       {"a100-40", "a100-80", "a800-80", "h100-sxm",  "h100-pcie", "h100-nvl", "h100-96-500w",
        "h800",    "h200",    "b200",    "b300",      "gb200",     "gb300",    "v100",
        "v100-16", "mi250x",  "mi300x",  "mi325x",    "mi355x",    "tpu-v4",   "tpu-v5e",
        "tpu-v5p", "tpu-v6e", "tpu7x",   "trainium1", "gaudi2",    "gaudi3",   "trainium2"}) {
    EXPECT_EQ(find_accelerator(name).name, name);
  }
}

TEST(Accelerator, EveryRowHasASourceADateAndSaneFigures) {
  std::set<std::string> names;
  for (const Accelerator& a : accelerators()) {
    SCOPED_TRACE(a.name);
    EXPECT_TRUE(names.insert(a.name).second);
    EXPECT_FALSE(a.source.empty());
    EXPECT_EQ(a.date, "2026-11");
    EXPECT_THAT(a.memory_source, testing::AnyOf("driver", "vendor"));
    EXPECT_GE(a.memory.value, std::int64_t{16} << 30);
    EXPECT_LE(a.memory.value, std::int64_t{288} << 30);
    EXPECT_GE(a.memory_bandwidth.value, 0.8e12);
    EXPECT_LE(a.memory_bandwidth.value, 8e12);
    EXPECT_TRUE(a.peak(MathType::bf16) || a.peak(MathType::fp16));
    if (a.peak(MathType::bf16) && a.peak(MathType::fp8)) {
      EXPECT_GE(a.peak(MathType::fp8)->value, a.peak(MathType::bf16)->value);
    }
  }
}

TEST(Accelerator, H100FiguresAreDenseAndAsTheDriverReports) {
  const Accelerator& h100 = find_accelerator("h100-sxm");
  EXPECT_EQ(h100.peak(MathType::bf16)->value, 989e12);
  EXPECT_EQ(h100.peak(MathType::fp8)->value, 1979e12);
  EXPECT_EQ(h100.memory.value, std::int64_t{81559} * 1024 * 1024);
  EXPECT_EQ(h100.memory_bandwidth.value, 3.35e12);
  EXPECT_EQ(h100.scale_up_bandwidth->value, 450e9);
  EXPECT_EQ(h100.nic_bandwidth->value, 50e9);
  EXPECT_EQ(h100.matmul_share(MathType::bf16).value, 0.833);
  // Training leaves 0.693 of the peak, as on the H200 that was profiled.
  EXPECT_NEAR(0.833 * h100.power_share(MathType::bf16).value, 0.693, 1e-3);
  EXPECT_EQ(h100.power_share(MathType::fp8_block).value, h100.power_share(MathType::fp8).value);
  EXPECT_FALSE(h100.matmul_share(MathType::bf16).is_default);
}

TEST(Accelerator, UnknownSharesAreTheStatedDefaultAndSaySo) {
  const Share share = find_accelerator("v100").matmul_share(MathType::fp16);
  EXPECT_EQ(share.value, 0.70);
  EXPECT_TRUE(share.is_default);
  EXPECT_FALSE(find_accelerator("v100").peak(MathType::bf16));
}

TEST(Accelerator, ABaseWithChangesKeepsTheRest) {
  const Accelerator a = read("accelerator: {base: tpu-v4, memory: 64 GiB}");
  EXPECT_EQ(a.name, "tpu-v4");
  EXPECT_EQ(a.memory.value, std::int64_t{64} << 30);
  EXPECT_EQ(a.memory_source, "given");
  EXPECT_EQ(a.peak(MathType::bf16)->value, 275e12);
}

TEST(Accelerator, AnOwnOneNeedsNameMemoryBandwidthAndPeak) {
  const Accelerator a = read(
      "accelerator: {name: x, memory: 80 GB, memory_bandwidth: 3.35 TB/s, peak: {bf16: 989 TFLOP/s}, "
      "matmul_fraction: 0.5}");
  EXPECT_EQ(a.memory.value, 80'000'000'000);
  EXPECT_EQ(a.matmul_share(MathType::bf16).value, 0.5);
  EXPECT_EQ(
      error_of("accelerator: {name: x, memory: 80 GB}"),
      "x.yaml: line 1, accelerator: the key 'peak' is missing; it holds a compute rate for each arithmetic");
}

TEST(Accelerator, WhatAPriceDependsOnIsAFieldWithADefault) {
  const Accelerator blank = read(
      "accelerator: {name: h100-like, memory: 80 GB, memory_bandwidth: 3 TB/s, peak: {bf16: 989 TFLOP/s}}");
  EXPECT_EQ(blank.multiprocessor_count(), 132);
  EXPECT_EQ(blank.launch, std::nullopt);
  EXPECT_EQ(blank.flash_time[0], 1);
  EXPECT_EQ(blank.profile, "");
  EXPECT_EQ(blank.scale_up, ScaleUp{});
  const Accelerator own = read(
      "accelerator: {base: h100-sxm, name: x, multiprocessors: 64, launch: 3 us, flash_time: {2: 1.5}, "
      "profile: mine, scale_up: {fabric: nvlink5, domain: 36}, aws_fabric: efa-p6, software: mine}");
  EXPECT_EQ(own.multiprocessor_count(), 64);
  EXPECT_EQ(own.launch->value, 3e-6);
  EXPECT_EQ(own.flash_time[0], 3.3);  // the base's
  EXPECT_EQ(own.flash_time[1], 1.5);
  EXPECT_EQ(own.profile, "mine");
  EXPECT_EQ(own.scale_up.fabric, "nvlink5");
  EXPECT_TRUE(own.scale_up.reduction);  // the base's
  EXPECT_EQ(own.scale_up.domain, 36);
  EXPECT_EQ(own.aws_fabric, "efa-p6");
  EXPECT_EQ(own.software, "mine");
  EXPECT_EQ(blank.software, "");
  EXPECT_EQ(read("accelerator: {base: gaudi3, name: x}").software, "synapse");
  EXPECT_EQ(error_of("accelerator: {base: tpu-v4, flash_time: {3: 1}}"),
            "x.yaml: line 1, accelerator.flash_time[3]: generation 1 or 2 is expected");
  EXPECT_EQ(error_of("accelerator: {base: tpu-v4, scale_up: {fabrik: ici}}"),
            "x.yaml: line 1, accelerator.scale_up: unknown key 'fabrik'; did you mean 'fabric'?");
}

// Where nothing is stated, a host is assumed; both ways at once are slower than one alone.
TEST(Accelerator, AHostIsStatedOrAssumed) {
  const HostShare measured = find_accelerator("h200").host();
  EXPECT_EQ(measured.link.value, 55.1e9);
  EXPECT_NEAR(measured.both.value, 0.916 * 55.1e9, 1);
  EXPECT_EQ(measured.memory.value, 256'000'000'000);
  EXPECT_EQ(measured.update, 4.14e9);
  EXPECT_FALSE(measured.default_link || measured.default_memory || measured.default_update);
  EXPECT_EQ(find_accelerator("gb200").host().link.value, 225e9);
  const HostShare assumed = find_accelerator("trainium1").host();
  EXPECT_EQ(assumed.link.value, 27.5e9);
  EXPECT_TRUE(assumed.default_link && assumed.default_memory && assumed.default_update);
  const HostShare own =
      read("accelerator: {base: h200, host_link: 100 GB/s, host_memory: 1 TB, host_update: 2e9}").host();
  EXPECT_EQ(own.link.value, 100e9);
  EXPECT_EQ(own.memory.value, 1'000'000'000'000);
  EXPECT_EQ(own.update, 2e9);
  EXPECT_EQ(error_of("accelerator: {base: h200, host_link: 0}"),
            "x.yaml: line 1, accelerator.host_link: the bandwidth must be above 0");
  EXPECT_EQ(error_of("accelerator: {base: h200, host_memory: 0}"),
            "x.yaml: line 1, accelerator.host_memory: the memory must be above 0");
  EXPECT_EQ(error_of("accelerator: {base: h200, host_update: 0}"),
            "x.yaml: line 1, accelerator.host_update: the number of parameters in a second must be above 0");
}

TEST(Accelerator, WrongOnesAreAnsweredWithAGuess) {
  EXPECT_EQ(error_of("accelerator: h100-smx"),
            "x.yaml: line 1, accelerator: unknown accelerator 'h100-smx'; did you mean 'h100-sxm'?");
  EXPECT_EQ(error_of("accelerator: {base: tpu-v4, memroy: 64 GiB}"),
            "x.yaml: line 1, accelerator: unknown key 'memroy'; did you mean 'memory'?");
  EXPECT_EQ(error_of("accelerator: {base: tpu-v4, peak: {bf17: 1 TFLOP/s}}"),
            "x.yaml: line 1, accelerator.peak.bf17: unknown arithmetic 'bf17'; did you mean 'bf16'?");
  EXPECT_EQ(error_of("accelerator: {base: tpu-v4, matmul_fraction: 1.2}"),
            "x.yaml: line 1, accelerator.matmul_fraction: a share of the peak is above 0 and at most 1");
  EXPECT_EQ(error_of("accelerator: {base: tpu-v4, memory: 64 Gib}"),
            "x.yaml: line 1, accelerator.memory: '64 Gib' is not a size in bytes; did you mean 'GiB'?");
  EXPECT_THROW((void)find_accelerator("abacus"), InputError);
}

}  // namespace
}  // namespace nest::cluster
