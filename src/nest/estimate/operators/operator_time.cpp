#include "nest/estimate/operators/operator_time.hpp"

#include <algorithm>
#include <utility>

#include "nest/estimate/operators/operator_compiled.hpp"
#include "nest/strategies/expert.hpp"

namespace nest::estimate {
namespace {

// What the host takes to issue one operator of a forward pass and one kernel of a backward pass, modules, dispatch and
// autograd included, over the launch of an in-place addition (`launch` of the accelerator, 9.4 us on the profiled
// host): 33 and 26 us on it, by 68 measured layers and models from routers to whole Llamas, within 9 % in the median
// (docs/launches.md). Compiled passes issue as much for each kernel, but fewer kernels.
constexpr double kForwardIssue = 3.5;
constexpr double kBackwardIssue = 2.77;
// Operators that are issued after such a wait before the device has work for longer than the host needs.
constexpr double kSyncedLaunches = 15;
// On the device, between two kernels of a captured graph.
constexpr Seconds kGraphGap{0.33e-6};

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

// The host runs ahead: what it takes longer for in one pass it may have won in the other. So both passes together take
// as long as the device or the host, whichever is slower, and each pass waits for its share of the rest.
Seconds LayerTime::forward() const {
  return device.forward + waiting_share() * std::max(Seconds{}, forward_issue - device.forward);
}

Seconds LayerTime::backward() const {
  return device.backward() + waiting_share() * std::max(Seconds{}, backward_issue - device.backward());
}

double LayerTime::waiting_share() const {
  if (!launch_bound) return 0;
  const Seconds both = std::max(Seconds{}, forward_issue - device.forward) +
                       std::max(Seconds{}, backward_issue - device.backward());
  const Seconds waits = forward_issue + backward_issue - device.forward - device.backward();
  return both.value > 0 ? waits / both : 0;
}

// What the pair of passes takes longer with it.
Seconds LayerTime::again(const OperatorTime& repeated) const {
  if (device.forward_launches == 0) return repeated.forward;
  const double share = static_cast<double>(repeated.forward_launches) / device.forward_launches;
  const Seconds runs = device.forward + device.backward();
  const Seconds issued = forward_issue + backward_issue;
  return std::max(runs + repeated.forward, issued + share * forward_issue) - std::max(runs, issued);
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

double OperatorTimes::issued_share(const LayerType& layer) const {
  if (settings_.graphs == CudaGraphs::none) return 1;
  if (settings_.graphs == CudaGraphs::whole || !has_experts(layer)) return 0;
  // Experts, and what puts their rows in order, are launched one by one.
  int all = 0;
  int experts = 0;
  for (const Operator& op : layer.operators) {
    const OperatorTime own = time(layer, op);
    all += own.forward_launches;
    if (is_routed_expert(layer, op) && op.kind != OperatorKind::dispatch) experts += own.forward_launches;
  }
  return all > 0 ? static_cast<double>(experts) / all : 0;
}

LayerTime OperatorTimes::layer(const LayerType& layer) const {
  LayerTime out;
  for (const Operator& op : layer.operators) out.device += time(layer, op);
  out.device += sum(gradient_sums(layer, settings_));
  const double share = issued_share(layer);
  const Seconds launch = settings_.host_time * kernels_->launch();
  out.forward_issue = share * kForwardIssue * static_cast<double>(out.device.forward_launches) * launch;
  out.backward_issue = share * kBackwardIssue * static_cast<double>(out.device.backward_launches) * launch;
  if (launch.value > 0 && share < 1) {
    out.device.forward += (1 - share) * static_cast<double>(out.device.forward_launches) * kGraphGap;
    out.device.backward_input += (1 - share) * static_cast<double>(out.device.backward_launches) * kGraphGap;
  }
  // Rows for each expert are counted on the device and waited for on the host: after that, the device waits in turn.
  if (settings_.graphs != CudaGraphs::whole && has_experts(layer))
    out.device.forward += kSyncedLaunches * kForwardIssue * launch;
  out.launch_bound = out.forward_issue + out.backward_issue > out.device.forward + out.device.backward();
  return out;
}

}  // namespace nest::estimate
