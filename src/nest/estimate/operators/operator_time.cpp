#include "nest/estimate/operators/operator_time.hpp"

#include <algorithm>
#include <utility>

#include "nest/estimate/operators/operator_compiled.hpp"

namespace nest::estimate {
namespace {

// What PyTorch adds around a bare launch: modules, dispatch, autograd. From the issue_s of measured layers,
// in launches of an in-place addition.
constexpr double kIssuePerLaunch = 3.5;

}  // namespace

void OperatorTime::add(Pass pass, const KernelTime& time, double repeats, int launches) {
  const Seconds total = time.time * repeats;
  switch (pass) {
    case Pass::forward:
      forward += total;
      forward_launches += launches;
      break;
    case Pass::backward_input:
      backward_input += total;
      backward_launches += launches;
      break;
    case Pass::backward_weight:
      backward_weight += total;
      backward_launches += launches;
      break;
  }
  source = std::max(source, time.source);
}

OperatorTime& OperatorTime::operator+=(const OperatorTime& other) {
  forward += other.forward;
  backward_input += other.backward_input;
  backward_weight += other.backward_weight;
  source = std::max(source, other.source);
  forward_launches += other.forward_launches;
  backward_launches += other.backward_launches;
  return *this;
}

Seconds LayerTime::forward() const {
  return launch_bound ? std::max(device.forward, forward_issue) : device.forward;
}

Seconds LayerTime::backward() const {
  return launch_bound ? std::max(device.backward(), backward_issue) : device.backward();
}

Seconds LayerTime::again(const OperatorTime& repeated) const {
  if (!launch_bound || device.forward_launches == 0) return repeated.forward;
  const double share = static_cast<double>(repeated.forward_launches) / device.forward_launches;
  return std::max(repeated.forward, share * forward_issue);
}

OperatorTimes::OperatorTimes(const Accelerator& accelerator, const OperatorSettings& settings, bool held_out)
    : OperatorTimes(std::make_shared<const KernelTimes>(accelerator, held_out), settings) {}

OperatorTimes::OperatorTimes(std::shared_ptr<const KernelTimes> kernels, const OperatorSettings& settings)
    : kernels_(std::move(kernels)), settings_(settings) {}

OperatorTime OperatorTimes::sum(std::vector<KernelUse> uses) const {
  if (settings_.compiled) fuse_streams(uses);
  OperatorTime out;
  for (const KernelUse& use : uses) out.add(use.pass, kernels_->seconds(use.call), use.repeats, use.launches);
  return out;
}

OperatorTime OperatorTimes::time(const LayerType& layer, const Operator& op) const {
  return sum(kernels_of(layer, op, settings_));
}

LayerTime OperatorTimes::layer(const LayerType& layer) const {
  LayerTime out;
  for (const Operator& op : layer.operators) out.device += time(layer, op);
  out.device += sum(gradient_sums(layer, settings_));
  const Seconds issue = kernels_->launch() * kIssuePerLaunch;
  out.forward_issue = issue * static_cast<double>(out.device.forward_launches);
  out.backward_issue = issue * static_cast<double>(out.device.backward_launches);
  out.launch_bound = out.forward_issue + out.backward_issue > out.device.forward + out.device.backward();
  return out;
}

}  // namespace nest::estimate
