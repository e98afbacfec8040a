// The kernels that operators are made of: one row per kind, with the series of a measured profile that has
// its times, what its sizes are, and which form of model it follows. Adding a kind is one row in
// kernel_kind.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nest/estimate/kernels/measured.hpp"

namespace nest::estimate {

enum class KernelKind {
  matmul_forward,  // y[m,n] = x W^T
  matmul_input,    // dx[m,k] = dy W
  matmul_weight,   // dW[n,k] = dy^T x
  fp8_matmul,      // 8-bit operands, one scale a tensor
  fp8_row_matmul,  // one scale a row
  grouped_forward,
  grouped_input,
  grouped_weight,
  attention_forward,
  attention_backward,
  rms_norm_forward,
  rms_norm_backward,
  layer_norm_forward,
  layer_norm_backward,
  swiglu_forward,
  swiglu_backward,
  geglu_forward,
  geglu_backward,
  gelu_forward,
  gelu_backward,
  relu_forward,
  relu_backward,
  tanh_forward,
  tanh_backward,
  scale_forward,
  scale_backward,
  add,
  rotary_forward,
  rotary_backward,
  embedding_forward,
  embedding_backward,
  loss_forward,
  loss_backward,
  router_forward,
  router_backward,
  dispatch_forward,
  dispatch_backward,
  combine_forward,
  combine_backward,
  copy,
  fill,
  cast_down,
  cast_up,
  accumulate,
  adam_fused_bf16,
  adam_fused_fp32,
  adam_foreach_bf16,
  adam_foreach_fp32,
  norm_bf16,
  norm_fp32,
  bias_gradient,     // rows of dy added up
  fp8_block_matmul,  // 8-bit values with a scale for each block of them
  fp4_matmul,        // 4-bit values with a scale for each 16
  batched_matmul,    // many products of one size, as of attention's heads
  softmax_forward,   // with scale and mask, in one pass over scores
  softmax_backward,
  dropout_forward,
  dropout_backward,
  fused,                // one pass that a compiler made, over bytes
  convolution_forward,  // along the sequence, as all that follow
  convolution_backward,
  state_space_forward,
  state_space_backward,
  selective_scan_forward,
  selective_scan_backward,
  delta_rule_forward,
  delta_rule_backward,
  channel_delta_rule_forward,
  channel_delta_rule_backward,
  linear_attention_forward,
  linear_attention_backward,
  choose_keys,  // the best scores of each query
  other_scan_forward,
  other_scan_backward,
};
inline constexpr std::size_t kKernelKinds = static_cast<std::size_t>(KernelKind::other_scan_backward) + 1;

enum class KernelFamily { matmul, grouped_matmul, attention, stream, scan };

struct KernelKindRow {
  KernelKind kind;
  std::string_view series;  // of a measured profile
  KernelFamily family;
};

[[nodiscard]] std::span<const KernelKindRow> kernel_kinds();
// Whether profiles have its series.
[[nodiscard]] constexpr bool in_profiles(KernelKind kind) {
  return kind < KernelKind::bias_gradient;
}
// Nobody measured kernels like it: its time is a roofline.
[[nodiscard]] constexpr bool is_roofline(KernelKind kind) {
  return kind >= KernelKind::other_scan_forward;
}
[[nodiscard]] const KernelKindRow& row_of(KernelKind kind);

// One kernel on given sizes, in the order of the profile's columns:
//   matmul m n k; grouped_matmul experts tokens n k uneven; attention batch sequence heads kv_heads qk_dim
//   v_dim causal, and keys where there are more or fewer than queries; norms and element-wise rows hidden;
//   rotary batch sequence heads kv_heads head_dim; embedding vocab hidden tokens; loss tokens vocab; router
//   tokens experts top_k; dispatch, combine tokens top_k hidden; copy .. accumulate elements; adam, norm
//   parameters tensors; bias_gradient rows columns; batched_matmul m n k count; softmax scores unmasked;
//   dropout elements; fused bytes; scans positions bytes flops, where positions are those that wait for each other
//   (all queries where keys are chosen).
struct KernelCall {
  KernelKind kind = KernelKind::matmul_forward;
  std::array<std::int64_t, kMostSizes> sizes{};
  std::int64_t window = 0;  // of attention: keys that one query sees at most; 0 = all
  // Of attention inside documents: what all of them take, for one sequence and head (Packing::Blocks), and how long the
  // document of a token is. 0: one document.
  double blocks = 0;
  double block_rows = 0;
  double longest_row = 0;
  std::int64_t document = 0;

  bool operator==(const KernelCall&) const = default;
};

// What a stream kernel moves: its main elements (values read and written once per element), and others that
// the main ones do not tell (rows of a norm, a table's whole gradient, tokens before they are copied).
struct StreamElements {
  double main = 0;
  double other = 0;
};
[[nodiscard]] StreamElements stream_elements(const KernelCall& call);

// Where a kernel lies among others of its kind: logarithms of what its time depends on. Close by means alike.
inline constexpr std::size_t kCoordinates = 4;
[[nodiscard]] std::array<float, kCoordinates> coordinates(const KernelCall& call);

}  // namespace nest::estimate
