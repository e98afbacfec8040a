#include "nest/estimate/kernels/scan_work.hpp"

namespace nest::estimate {
namespace {

constexpr std::int64_t kValue = 2;   // bytes
constexpr std::int64_t kPiece = 64;  // positions that a delta rule takes together
constexpr std::int64_t kLinearPiece = 256;

struct Work {
  std::int64_t values = 0;  // read and written for each position
  std::int64_t flops = 0;
};

// As data/families count them.
Work work_of(KernelKind kind, const ScanSizes& s) {
  const std::int64_t h = s.heads;
  const std::int64_t k = s.key_dim;
  const std::int64_t v = s.value_dim;
  const std::int64_t keys = s.key_heads * k;
  switch (kind) {
    case KernelKind::convolution_forward:
    case KernelKind::convolution_backward:
      return {2 * h, 2 * h * k};
    case KernelKind::selective_scan_forward:
    case KernelKind::selective_scan_backward:
      return {3 * h + 2 * k, 4 * h * k};
    case KernelKind::state_space_forward:
    case KernelKind::state_space_backward:
      return {2 * h * v + 2 * keys + h, 4 * h * v * k};
    case KernelKind::linear_attention_forward:
    case KernelKind::linear_attention_backward:
      return {2 * keys + 2 * h * v, 4 * h * k * (k + kLinearPiece)};
    case KernelKind::channel_delta_rule_forward:
    case KernelKind::channel_delta_rule_backward:
      return {3 * keys + 2 * h * v + h, 6 * h * k * v + 2 * kPiece * h * (2 * k + v)};
    default:  // delta rules
      return {2 * keys + 2 * h * v + 2 * h, 6 * h * k * v + 2 * kPiece * h * (2 * k + v)};
  }
}

}  // namespace

KernelCall scan_call(KernelKind kind, const ScanSizes& sizes) {
  const Work work = work_of(kind, sizes);
  const std::int64_t positions = sizes.batch * sizes.positions;
  return {kind, {sizes.positions, kValue * positions * work.values, positions * work.flops}};
}

KernelCall choice_call(std::int64_t queries, std::int64_t keys) {
  return {KernelKind::choose_keys, {queries, kValue * queries * keys, 0}};
}

}  // namespace nest::estimate
