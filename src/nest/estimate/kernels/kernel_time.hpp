// The time of one kernel on one accelerator, and where the number comes from: measured there, interpolated
// between measurements (the model times what it misses nearby), or the model alone.
//
//   KernelTimes times(find_accelerator("h200"));
//   times.seconds({KernelKind::matmul_forward, {8192, 8192, 8192}})   -> 1.62 ms, interpolated
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/estimate/kernels/kernel_model.hpp"
#include "nest/estimate/kernels/measured.hpp"

namespace nest::estimate {

enum class TimeSource { measured, interpolated, model, roofline };  // from the surest to the least sure

[[nodiscard]] std::string_view name_of(TimeSource source);

struct KernelTime {
  Seconds time;
  TimeSource source = TimeSource::model;
};

class KernelTimes {
 public:
  // `held_out`: leave out the rows that a profile keeps back, to judge estimates on them.
  explicit KernelTimes(const Accelerator& accelerator, bool held_out = false);
  ~KernelTimes();
  KernelTimes(KernelTimes&&) noexcept;
  KernelTimes& operator=(KernelTimes&&) noexcept;

  // Safe to call from several threads. Strategies and recomputations share most of their kernels: what was asked
  // once is kept.
  [[nodiscard]] KernelTime seconds(const KernelCall& call) const;

  // The profile behind interpolated times: the accelerator's own, or that of the same chip with other memory;
  // empty where there is none.
  [[nodiscard]] const std::string& profile() const { return profile_name_; }
  [[nodiscard]] const DeviceRates& rates() const { return rates_; }
  // What the processor takes to issue one small kernel.
  [[nodiscard]] Seconds launch() const { return launch_; }

 private:
  struct Index;
  struct Kept;

  [[nodiscard]] const Index& index_of(KernelKind kind) const;
  [[nodiscard]] KernelTime make(const KernelCall& call) const;

  DeviceRates rates_;
  DeviceRates profile_rates_;  // of the profiled device
  bool own_ = false;           // the profile is this accelerator's
  bool held_out_ = false;
  const MeasuredProfile* measured_ = nullptr;
  std::string profile_name_;
  Seconds launch_;
  std::unique_ptr<std::array<Index, kKernelKinds>> indices_;
  std::unique_ptr<Kept> kept_;
};

// One for all accelerators that run kernels alike, whatever their memory. The latest are kept: searches of one
// question ask for the same kernels one after the other.
[[nodiscard]] std::shared_ptr<const KernelTimes> shared_kernel_times(const Accelerator& accelerator);

inline constexpr int kNewestFlash = 3;

// Attention with a mask over the same attention without: kernels that take a mask are older. Seven shapes on
// an H200 (2026-11-16, driver 580.159.04, torch 2.11, scaled_dot_product_attention): 1.6 to 3.2 times.
inline constexpr double kMaskedAttention = 2;

// How many times as long a flash attention kernel of an older generation takes as the profile's: a run's
// software decides which one it had, whatever its accelerator could do. 1: FlashAttention 1 and its Triton
// port, 2: FlashAttention 2, 3: the newest that suit the accelerator.
//
//   flash_time(1, find_accelerator("a100-80"))   -> 2
[[nodiscard]] double flash_time(int generation, const Accelerator& accelerator);

}  // namespace nest::estimate
