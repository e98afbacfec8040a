#include "nest/estimate/kernels/optimizer_time.hpp"

#include <algorithm>

#include "nest/estimate/kernels/kernel_model.hpp"

namespace nest::estimate {
namespace {

constexpr std::int64_t kHalf = 2;  // bytes of a gradient as the passes of a layer make it

// A measured kernel that works like the one asked for, and what it moves per element when nothing is lost:
// the share of the bandwidth that it reaches goes over to other numbers of bytes.
struct Like {
  KernelKind kind;
  double bytes;
};
constexpr Like kAdam{KernelKind::adam_fused_fp32, 28};      // reads 4 values of 4 bytes, writes 3
constexpr Like kHalfAdam{KernelKind::adam_fused_bf16, 14};  // the same of 2 bytes
constexpr Like kCast{KernelKind::cast_down, 6};
constexpr Like kFill{KernelKind::fill, 2};
constexpr Like kNorm{KernelKind::norm_fp32, 4};
constexpr Like kHalfNorm{KernelKind::norm_bf16, 2};
constexpr Like kPass{KernelKind::fused, 1};

Seconds time_of(const Like& like, std::int64_t parameters, std::int64_t bytes, const DeviceRates& rates) {
  if (parameters <= 0 || bytes <= 0) return {};
  const StreamConstants& c = fitted_constants().stream[static_cast<std::size_t>(like.kind)];
  const double moved = static_cast<double>(parameters) * static_cast<double>(bytes);
  return Seconds{c.overhead_s + c.bytes / like.bytes * moved / rates.bandwidth};
}

// Bytes of a weight as the optimizer updates it.
std::int64_t updated_weight(const Recipe& recipe) {
  return recipe.master_weights ? size_of(StateDType::fp32) : size_of(recipe.parameter_dtype);
}

Seconds zeroing_time(std::int64_t gradients, const Recipe& recipe, const DeviceRates& rates) {
  return recipe.zeroed_gradients ? time_of(kFill, gradients, size_of(recipe.gradient_dtype), rates)
                                 : Seconds{};
}

}  // namespace

std::int64_t accumulated_bytes(const Recipe& recipe) {
  const std::int64_t gradient = size_of(recipe.gradient_dtype);
  switch (recipe.accumulation) {
    case GradientAccumulation::copied:
      break;
    case GradientAccumulation::wider:
      return gradient == kHalf ? 0 : 2 * gradient - kHalf;
    case GradientAccumulation::fused:
      return 2 * gradient - kHalf;
  }
  return kHalf + size_of(recipe.reduce_dtype);
}

std::int64_t updated_bytes(const Recipe& recipe) {
  const std::int64_t states = recipe.optimizer != Optimizer::sgd ? 2 : recipe.momentum ? 1 : 0;
  const std::int64_t held = updated_weight(recipe) + states * size_of(recipe.optimizer_dtype);
  return size_of(recipe.gradient_dtype) + 2 * held;
}

std::int64_t copied_bytes(const Recipe& recipe) {
  return recipe.master_weights ? size_of(StateDType::fp32) + size_of(recipe.parameter_dtype) : 0;
}

Seconds gradient_accumulation(std::int64_t parameters, const Recipe& recipe, const Accelerator& accelerator) {
  const double rate = accelerator.memory_bandwidth.value * accelerator.memory_share().value;
  return Seconds{static_cast<double>(parameters) *
                 recipe.accumulation_bytes.value_or(static_cast<double>(accumulated_bytes(recipe))) / rate};
}

Seconds optimizer_time(std::int64_t parameters, const Recipe& recipe, const Accelerator& accelerator,
                       std::optional<std::int64_t> gradients) {
  return optimizer_time(parameters, recipe, device_rates(accelerator), gradients.value_or(parameters));
}

Seconds optimizer_time(std::int64_t parameters, const Recipe& recipe, const DeviceRates& rates,
                       std::int64_t gradients) {
  if (!recipe.optimizer_time) return {};
  const Like& adam = updated_weight(recipe) == kHalf ? kHalfAdam : kAdam;
  Seconds sum =
      time_of(recipe.optimizer != Optimizer::sgd ? adam : kPass, parameters, updated_bytes(recipe), rates);
  sum += time_of(kCast, parameters, copied_bytes(recipe), rates);
  return sum + zeroing_time(gradients, recipe, rates);
}

Seconds HostUpdate::total(std::int64_t buckets) const {
  const Seconds longest = std::max({out, update, back});
  return longest + (out + update + back - longest) / static_cast<double>(buckets) + zeroing;
}

HostUpdate host_update(std::int64_t parameters, const Recipe& recipe, const HostShare& host,
                       const DeviceRates& rates, std::int64_t gradients) {
  if (!recipe.optimizer_time) return {};
  const auto all = static_cast<double>(parameters);
  const auto copied = [&](StateDType dtype) {
    return Seconds{all * static_cast<double>(size_of(dtype)) / host.both.value};
  };
  return {.out = copied(recipe.gradient_dtype),
          .update = Seconds{all / host.update},
          .back = copied(recipe.parameter_dtype),
          .zeroing = zeroing_time(gradients, recipe, rates)};
}

std::int64_t matrix_bytes(const Recipe& recipe) {
  return size_of(recipe.gradient_dtype) + 2 * (updated_weight(recipe) + size_of(recipe.optimizer_dtype)) +
         2 * kHalf;
}

Seconds matrix_update_time(std::int64_t parameters, const Recipe& recipe, const DeviceRates& rates) {
  if (!recipe.optimizer_time) return {};
  return time_of(kPass, parameters, matrix_bytes(recipe), rates) +
         time_of(kCast, parameters, copied_bytes(recipe), rates);
}

Seconds norm_time(std::int64_t parameters, const Recipe& recipe, const Accelerator& accelerator) {
  return norm_time(parameters, recipe, device_rates(accelerator));
}

Seconds norm_time(std::int64_t parameters, const Recipe& recipe, const DeviceRates& rates) {
  if (!recipe.optimizer_time) return {};
  const std::int64_t gradient = size_of(recipe.gradient_dtype);
  Seconds sum = time_of(gradient == kHalf ? kHalfNorm : kNorm, parameters, gradient, rates);
  if (recipe.scaled_gradients) sum += time_of(kPass, parameters, 2 * gradient, rates);
  return sum;
}

}  // namespace nest::estimate
