#include "nest/estimate/kernels/kernel_kind.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nest::estimate {
namespace {

using enum KernelKind;

constexpr std::array<KernelKindRow, kKernelKinds> kRows{{
    {matmul_forward, "matmul/forward", KernelFamily::matmul},
    {matmul_input, "matmul/input", KernelFamily::matmul},
    {matmul_weight, "matmul/weight", KernelFamily::matmul},
    {fp8_matmul, "fp8_matmul/tensor", KernelFamily::matmul},
    {fp8_row_matmul, "fp8_matmul/row", KernelFamily::matmul},
    {grouped_forward, "grouped_matmul/forward", KernelFamily::grouped_matmul},
    {grouped_input, "grouped_matmul/input", KernelFamily::grouped_matmul},
    {grouped_weight, "grouped_matmul/weight", KernelFamily::grouped_matmul},
    {attention_forward, "attention/forward", KernelFamily::attention},
    {attention_backward, "attention/backward", KernelFamily::attention},
    {rms_norm_forward, "rms_norm/forward", KernelFamily::stream},
    {rms_norm_backward, "rms_norm/backward", KernelFamily::stream},
    {layer_norm_forward, "layer_norm/forward", KernelFamily::stream},
    {layer_norm_backward, "layer_norm/backward", KernelFamily::stream},
    {swiglu_forward, "swiglu/forward", KernelFamily::stream},
    {swiglu_backward, "swiglu/backward", KernelFamily::stream},
    {geglu_forward, "geglu/forward", KernelFamily::stream},
    {geglu_backward, "geglu/backward", KernelFamily::stream},
    {gelu_forward, "gelu/forward", KernelFamily::stream},
    {gelu_backward, "gelu/backward", KernelFamily::stream},
    {relu_forward, "relu/forward", KernelFamily::stream},
    {relu_backward, "relu/backward", KernelFamily::stream},
    {tanh_forward, "tanh/forward", KernelFamily::stream},
    {tanh_backward, "tanh/backward", KernelFamily::stream},
    {scale_forward, "scale/forward", KernelFamily::stream},
    {scale_backward, "scale/backward", KernelFamily::stream},
    {add, "add/forward", KernelFamily::stream},
    {rotary_forward, "rotary/forward", KernelFamily::stream},
    {rotary_backward, "rotary/backward", KernelFamily::stream},
    {embedding_forward, "embedding/forward", KernelFamily::stream},
    {embedding_backward, "embedding/backward", KernelFamily::stream},
    {loss_forward, "loss/forward", KernelFamily::stream},
    {loss_backward, "loss/backward", KernelFamily::stream},
    {router_forward, "router/forward", KernelFamily::stream},
    {router_backward, "router/backward", KernelFamily::stream},
    {dispatch_forward, "dispatch/forward", KernelFamily::stream},
    {dispatch_backward, "dispatch/backward", KernelFamily::stream},
    {combine_forward, "combine/forward", KernelFamily::stream},
    {combine_backward, "combine/backward", KernelFamily::stream},
    {copy, "copy/plain", KernelFamily::stream},
    {fill, "fill/plain", KernelFamily::stream},
    {cast_down, "cast/down", KernelFamily::stream},
    {cast_up, "cast/up", KernelFamily::stream},
    {accumulate, "accumulate/plain", KernelFamily::stream},
    {adam_fused_bf16, "optimizer/fused", KernelFamily::stream},
    {adam_fused_fp32, "optimizer/fused/fp32", KernelFamily::stream},
    {adam_foreach_bf16, "optimizer/foreach", KernelFamily::stream},
    {adam_foreach_fp32, "optimizer/foreach/fp32", KernelFamily::stream},
    {norm_bf16, "grad_norm", KernelFamily::stream},
    {norm_fp32, "grad_norm/fp32", KernelFamily::stream},
    {bias_gradient, "bias_gradient", KernelFamily::stream},  // not profiled, nor the next ones
    {fp8_block_matmul, "fp8_matmul/block", KernelFamily::matmul},
    {fp4_matmul, "fp4_matmul", KernelFamily::matmul},
    {batched_matmul, "batched_matmul", KernelFamily::matmul},
    {softmax_forward, "softmax/forward", KernelFamily::stream},
    {softmax_backward, "softmax/backward", KernelFamily::stream},
    {dropout_forward, "dropout/forward", KernelFamily::stream},
    {dropout_backward, "dropout/backward", KernelFamily::stream},
    {fused, "fused", KernelFamily::stream},
    {convolution_forward, "convolution/forward", KernelFamily::scan},
    {convolution_backward, "convolution/backward", KernelFamily::scan},
    {state_space_forward, "state_space/forward", KernelFamily::scan},
    {state_space_backward, "state_space/backward", KernelFamily::scan},
    {selective_scan_forward, "selective_scan/forward", KernelFamily::scan},
    {selective_scan_backward, "selective_scan/backward", KernelFamily::scan},
    {delta_rule_forward, "delta_rule/forward", KernelFamily::scan},
    {delta_rule_backward, "delta_rule/backward", KernelFamily::scan},
    {channel_delta_rule_forward, "channel_delta_rule/forward", KernelFamily::scan},
    {channel_delta_rule_backward, "channel_delta_rule/backward", KernelFamily::scan},
    {linear_attention_forward, "linear_attention/forward", KernelFamily::scan},
    {linear_attention_backward, "linear_attention/backward", KernelFamily::scan},
    {choose_keys, "choose_keys/forward", KernelFamily::scan},
    {other_scan_forward, "other_scan/forward", KernelFamily::scan},
    {other_scan_backward, "other_scan/backward", KernelFamily::scan},
}};

constexpr double kBusyColumns = 32 * 132;
constexpr double kTwoStageRows = 65536;
constexpr double kTwoStageColumns = kBusyColumns / 2;

float log_of(double x) {
  return static_cast<float>(std::log2(std::max(1.0, x)));
}

// The amount of data of a stream kernel, and the size that shapes it beside that.
std::pair<double, double> stream_shape(const KernelCall& call) {
  const auto& s = call.sizes;
  const auto size = [&](std::size_t i) { return static_cast<double>(s[i]); };
  const double amount = stream_elements(call).main;
  switch (call.kind) {
    case rms_norm_forward:
    case rms_norm_backward:
    case layer_norm_forward:
    case layer_norm_backward:
      return {size(0), size(1)};
    case rotary_forward:
    case rotary_backward:
      return {amount, size(1) * size(4)};
    case embedding_forward:
    case embedding_backward:
      return {amount, size(0)};
    case loss_forward:
    case loss_backward:
    case router_forward:
    case router_backward:
    case dispatch_forward:
    case dispatch_backward:
    case combine_forward:
    case combine_backward:
      return {amount, size(1)};
    default:
      return {amount, 1};  // the width does not matter
  }
}

}  // namespace

std::span<const KernelKindRow> kernel_kinds() {
  return kRows;
}

const KernelKindRow& row_of(KernelKind kind) {
  return kRows[static_cast<std::size_t>(kind)];
}

StreamElements stream_elements(const KernelCall& call) {
  std::array<double, kMostSizes> s{};
  for (std::size_t i = 0; i < kMostSizes; ++i) s[i] = static_cast<double>(call.sizes[i]);
  switch (call.kind) {
    case rms_norm_forward:
    case layer_norm_forward:
      return {s[0] * s[1], s[1]};  // at least one row's reduction is waited for
    case rms_norm_backward:
    case layer_norm_backward: {
      // The weight's gradient adds up columns, 32 in a block: narrow matrices leave multiprocessors idle, but
      // for those with so many rows that they are added up in two stages.
      const bool stages = s[0] > kTwoStageRows && s[1] < kTwoStageColumns;
      return {s[0] * s[1], stages ? 0 : s[0] * std::max(s[1], kBusyColumns)};
    }
    case rotary_forward:
    case rotary_backward:
      return {s[0] * s[1] * (s[2] + s[3]) * s[4], 0};
    case embedding_forward:
      return {s[1] * s[2], 0};
    case embedding_backward:
      return {s[1] * s[2], s[0] * s[1]};
    case loss_forward:
    case loss_backward:
      return {s[0] * s[1], 0};
    case router_forward:
    case router_backward:
      return {s[0] * s[1], s[0]};
    case dispatch_forward:
    case dispatch_backward:
    case combine_forward:
    case combine_backward:
      return {s[0] * s[1] * s[2], s[0] * s[2]};
    case copy:
    case fill:
    case cast_down:
    case cast_up:
    case accumulate:
    case adam_fused_bf16:
    case adam_fused_fp32:
    case adam_foreach_bf16:
    case adam_foreach_fp32:
    case norm_bf16:
    case norm_fp32:
    case dropout_forward:
    case dropout_backward:
    case fused:
      return {s[0], 0};
    case softmax_forward:
      return {s[0] + s[1], 0};  // writes all, reads what the mask leaves
    case softmax_backward:
      return {s[0] + 2 * s[1], 0};
    default:
      return {s[0] * s[1], 0};
  }
}

std::array<float, kCoordinates> coordinates(const KernelCall& call) {
  std::array<double, kMostSizes> s{};
  for (std::size_t i = 0; i < kMostSizes; ++i) s[i] = static_cast<double>(call.sizes[i]);
  switch (row_of(call.kind).family) {
    case KernelFamily::matmul:
    case KernelFamily::scan:
      return {log_of(s[0]), log_of(s[1]), log_of(s[2]), 0};
    case KernelFamily::grouped_matmul:
      return {log_of(s[0]), log_of(s[1]), log_of(s[2]), log_of(s[3])};
    case KernelFamily::attention: {
      const double keys = s[7] > 0 ? s[7] : s[1];
      // Masked and unmasked, and each head dimension, are worlds of their own.
      const auto mask = static_cast<float>(4 * s[6]);
      return {log_of(std::sqrt(s[1] * keys)), log_of(s[0] * s[2]), 4 * log_of(s[4] + s[5]) + mask,
              0.5F * log_of(s[2] / std::max(1.0, s[3]))};
    }
    case KernelFamily::stream: {
      const auto [first, second] = stream_shape(call);
      return {log_of(first), log_of(second), 0, 0};
    }
  }
  return {};
}

}  // namespace nest::estimate
