// What public kernels of scans read, write and compute, by the sizes that people name. Operators of models know their
// own bytes and FLOPs; a test compares both.
//
//   scan_call(KernelKind::delta_rule_forward, {.batch = 1, .positions = 8192, .heads = 32, .key_heads = 16,
//                                              .key_dim = 128, .value_dim = 128})
//       -> 8,192 positions, 204 MB, 51.5 GFLOP
#pragma once

#include <cstdint>

#include "nest/estimate/kernels/kernel_kind.hpp"

namespace nest::estimate {

// Those that a kernel does not have are 0.
struct ScanSizes {
  std::int64_t batch = 1;
  std::int64_t positions = 1;
  std::int64_t heads = 1;      // channels of a convolution or a selective scan
  std::int64_t key_heads = 0;  // groups of a state space
  std::int64_t key_dim = 0;    // a state space's and a selective scan's states, a convolution's taps
  std::int64_t value_dim = 0;
};

[[nodiscard]] KernelCall scan_call(KernelKind kind, const ScanSizes& sizes);

// The best of `keys` scores for each of `queries`, however many are chosen.
[[nodiscard]] KernelCall choice_call(std::int64_t queries, std::int64_t keys);

}  // namespace nest::estimate
