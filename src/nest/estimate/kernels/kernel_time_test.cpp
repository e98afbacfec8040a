#include "nest/estimate/kernels/kernel_time.hpp"

#include "nest/base/error.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace nest::estimate {
namespace {

using enum KernelKind;

const KernelTimes& h200() {
  static const KernelTimes kTimes(find_accelerator("h200"));
  return kTimes;
}

TEST(KernelTimes, AMeasuredShapeGetsItsMeasurement) {
  const MeasuredPoint& p = shipped_profile("h200")->series("matmul/weight")->points.front();
  const KernelTime time = h200().seconds({matmul_weight, p.sizes});
  EXPECT_EQ(time.source, TimeSource::measured);
  EXPECT_EQ(time.time.value, p.seconds);
  // How parameters are cut into tensors does not matter.
  EXPECT_EQ(h200().seconds({adam_fused_fp32, {1'000'000'000}}).source, TimeSource::measured);
}

TEST(KernelTimes, NearMeasuredShapesTimesAreInterpolated) {
  const KernelTime time = h200().seconds({matmul_forward, {8000, 8200, 8100}});
  EXPECT_EQ(time.source, TimeSource::interpolated);
  EXPECT_NEAR(2.0 * 8000 * 8200 * 8100 / time.time.value / 1e12, 680, 60);
}

TEST(KernelTimes, FarFromAnyTheModelIsAlone) {
  const KernelCall huge{matmul_forward, {1 << 22, 1 << 20, 1 << 19}};
  const KernelTime time = h200().seconds(huge);
  EXPECT_EQ(time.source, TimeSource::model);
  EXPECT_DOUBLE_EQ(time.time.value, model_seconds(huge, fitted_constants(), h200().rates()));
  EXPECT_EQ(h200().seconds({bias_gradient, {1024, 1024}}).source, TimeSource::model);
}

TEST(KernelTimes, HeldOutRowsAreNotUsedWhereTheyJudge) {
  const KernelTimes judged(find_accelerator("h200"), true);
  for (const MeasuredPoint& p : shipped_profile("h200")->series("attention/forward")->points) {
    const TimeSource source = judged.seconds({attention_forward, p.sizes}).source;
    EXPECT_EQ(source == TimeSource::measured, !p.held_out);
  }
}

TEST(KernelTimes, TheSameChipWithOtherMemoryBorrowsTheProfile) {
  const KernelTimes h100(find_accelerator("h100-sxm"));
  EXPECT_EQ(h100.profile(), "h200");
  const KernelCall call{matmul_forward, {8192, 8192, 8192}};
  EXPECT_EQ(h100.seconds(call).source, TimeSource::model);
  EXPECT_NEAR(h100.seconds(call).time.value / h200().seconds(call).time.value, 1, 0.08);
  EXPECT_EQ(KernelTimes(find_accelerator("a100-80")).profile(), "");
}

TEST(KernelTimes, ThreadsAgree) {
  const KernelTimes times(find_accelerator("h200"));
  std::vector<double> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (double& result : results)
    threads.emplace_back([&] { result = times.seconds({matmul_input, {3000, 4000, 5000}}).time.value; });
  for (std::thread& thread : threads) thread.join();
  for (const double result : results) EXPECT_EQ(result, results.front());
}

TEST(TimeSource, Names) {
  EXPECT_EQ(name_of(TimeSource::measured), "measured");
  EXPECT_EQ(name_of(TimeSource::interpolated), "interpolated");
  EXPECT_EQ(name_of(TimeSource::model), "model");
}

TEST(KernelTimes, TheProfileIsTheOneThatTheAcceleratorNames) {
  Accelerator copy = find_accelerator("h200");
  copy.name = "somebody's";
  EXPECT_EQ(KernelTimes(copy).profile(), "h200");
  copy.launch = Seconds{3e-6};
  EXPECT_EQ(KernelTimes(copy).launch().value, 3e-6);
  copy.profile.clear();
  EXPECT_EQ(KernelTimes(copy).profile(), "");
  copy.profile = "abacus";
  EXPECT_THROW(KernelTimes{copy}, InputError);
  EXPECT_EQ(KernelTimes(find_accelerator("tpu-v4")).launch().value, 0);
  EXPECT_EQ(KernelTimes(find_accelerator("a100-80")).launch().value, 10e-6);
}

// Whoever asks again gets what was said before, also where others with other memory asked.
TEST(KernelTimes, AcceleratorsThatRunKernelsAlikeShareThem) {
  const Accelerator own = find_accelerator("h200");
  Accelerator larger = own;
  larger.memory = 2 * own.memory;
  Accelerator slower = own;
  slower.launch = Seconds{3e-6};
  const auto shared = shared_kernel_times(own);
  EXPECT_EQ(shared_kernel_times(larger), shared);
  EXPECT_NE(shared_kernel_times(slower), shared);
  EXPECT_EQ(shared_kernel_times(slower)->launch().value, 3e-6);
  for (const KernelCall& call :
       {KernelCall{matmul_forward, {8000, 8200, 8100}}, KernelCall{matmul_weight, {8000, 8200, 8100}},
        KernelCall{adam_fused_fp32, {123'456'789}}}) {
    const KernelTime fresh = KernelTimes(own).seconds(call);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(shared->seconds(call).time, fresh.time);
      EXPECT_EQ(shared->seconds(call).source, fresh.source);
    }
  }
}

TEST(FlashGeneration, OlderKernelsAreSlowerOnNewerAccelerators) {
  EXPECT_EQ(flash_time(3, find_accelerator("h100-sxm")), 1);
  EXPECT_EQ(flash_time(2, find_accelerator("a100-80")), 1);
  EXPECT_GT(flash_time(2, find_accelerator("h100-sxm")), 1);
  EXPECT_GT(flash_time(1, find_accelerator("h100-sxm")), flash_time(1, find_accelerator("a100-80")));
  EXPECT_EQ(flash_time(1, find_accelerator("tpu-v4")), 1);
}

}  // namespace
}  // namespace nest::estimate
