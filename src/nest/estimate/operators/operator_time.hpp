// The time of operators and of whole layers on one device, without collectives. Every number says where it
// comes from. Layers so small that the processor cannot issue their kernels as fast as the device runs them
// are told apart.
//
//   OperatorTimes times(find_accelerator("h200"));
//   times.layer(block).forward   -> 7.58 ms, interpolated; launch_bound false
#pragma once

#include <memory>

#include "nest/base/units.hpp"
#include "nest/estimate/kernels/kernel_time.hpp"
#include "nest/estimate/operators/operator_kernels.hpp"
#include "nest/model/graph/layer.hpp"

namespace nest::estimate {

struct OperatorTime {
  Seconds forward;
  Seconds backward_input;
  Seconds backward_weight;
  TimeSource source = TimeSource::measured;  // the least sure of its kernels
  int forward_launches = 0;
  int backward_launches = 0;

  [[nodiscard]] Seconds backward() const { return backward_input + backward_weight; }

  void add(Pass pass, const KernelTime& time, double repeats, int launches);
  OperatorTime& operator+=(const OperatorTime& other);
};

struct LayerTime {
  OperatorTime device;    // what the device takes
  Seconds forward_issue;  // what the processor takes to issue the kernels
  Seconds backward_issue;
  bool launch_bound = false;  // issuing takes longer than running

  // What a training step sees: the longer of both, over the whole layer.
  [[nodiscard]] Seconds forward() const;
  [[nodiscard]] Seconds backward() const;
  // The forward passes of some of the layer's operators run again, issued again where issuing takes longer.
  [[nodiscard]] Seconds again(const OperatorTime& repeated) const;
  // Of what the host takes longer for in a pass: what the other pass has not won.
  [[nodiscard]] double waiting_share() const;
};

class OperatorTimes {
 public:
  // `held_out`: see KernelTimes.
  explicit OperatorTimes(const Accelerator& accelerator, const OperatorSettings& settings = {},
                         bool held_out = false);
  // Kernel times may be shared: they do not depend on the settings.
  OperatorTimes(std::shared_ptr<const KernelTimes> kernels, const OperatorSettings& settings);

  [[nodiscard]] OperatorTime time(const LayerType& layer, const Operator& op) const;
  [[nodiscard]] LayerTime layer(const LayerType& layer) const;

  [[nodiscard]] const KernelTimes& kernels() const { return *kernels_; }
  [[nodiscard]] const std::shared_ptr<const KernelTimes>& shared_kernels() const { return kernels_; }
  [[nodiscard]] const OperatorSettings& settings() const { return settings_; }

 private:
  [[nodiscard]] OperatorTime sum(std::vector<KernelUse> uses) const;
  // Of a layer's launches, those that no graph holds.
  [[nodiscard]] double issued_share(const LayerType& layer) const;

  std::shared_ptr<const KernelTimes> kernels_;
  OperatorSettings settings_;
};

}  // namespace nest::estimate
