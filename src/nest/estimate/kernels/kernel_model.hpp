// The model of a kernel's time, where nothing was measured: tiles and waves over the multiprocessors, the
// rate and the memory bandwidth that real kernels reach, and fixed overhead. Its constants are fitted to a
// measured profile; other accelerators take the same constants with their own rates (docs/cost-model.md,
// Operators).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "nest/base/embedded.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/estimate/kernels/kernel_kind.hpp"

namespace nest::estimate {

inline constexpr double kAttentionBlock = 128;  // queries and keys of one block of attention

struct MatmulConstants {
  double rate_share = 1;       // of the achievable rate, when all multiprocessors work on large tiles
  double wave_loss = 0.1;      // share of an incomplete last wave that is waited for
  double tile_s = 2e-6;        // filling and draining one tile
  double bandwidth_share = 1;  // of the memory bandwidth
  double overhead_s = 2e-6;
  double medium_tile = 0.95;  // rate of 128 x 128 tiles over that of 128 x 256; 0: there are none
  double narrow_tile = 0.8;   // 64 x 256
  double small_tile = 0.65;   // 64 x 128
  double least_tile = 0.5;    // 64 x 64
  double roof = 2.5;          // how sharply compute and memory overlap: the exponent of their norm
  double split = 1;           // cost of adding up partial sums, over writing and reading them once
  double uneven = 1;          // grouped: time with uneven expert loads over even ones
};

struct AttentionConstants {
  double rate_share = 0.85;
  double small_head = 0.75;  // rate with head dimension 64 over that with 128
  double wide_head = 1;      // with 192
  double block = 0.5;        // fixed work of one block of queries, in blocks of keys
  double diagonal = 1;       // extra work where the mask cuts a block, in blocks of keys
  double tail = 3;           // exponent of the norm of the mean load and the longest block
  double bytes = 4;          // for each element of q, k, v and output: what passes around the kernel move
  double overhead_s = 8e-6;
};

struct StreamConstants {
  double overhead_s = 2e-6;
  double bytes = 4;        // moved per main element, divided by the share of the bandwidth that is reached
  double other_bytes = 0;  // the same for the other elements
};

// A scan along the sequence, in three parts that follow each other: what each position waits for the one before it,
// and bytes and FLOPs over the memory bandwidth and the rate of 16-bit products.
struct ScanConstants {
  double overhead_s = 1e-5;
  double position_s = 1e-9;
  double bytes = 2;
  double flops = 2;
};

// What a constant is called in the file, where it lies, and in which range a fit looks for it.
template <class T>
struct ConstantField {
  std::string_view name;
  double T::* member;
  double least;
  double most;
  bool may_lack = false;  // 0 where the file does not have it
};
// What a kernel's time depends on: those of experts' products differ, and few streams have other elements.
[[nodiscard]] std::span<const ConstantField<MatmulConstants>> matmul_fields(KernelFamily family);
[[nodiscard]] std::span<const ConstantField<AttentionConstants>> attention_fields();
[[nodiscard]] std::span<const ConstantField<StreamConstants>> stream_fields(KernelKind kind);
[[nodiscard]] std::span<const ConstantField<ScanConstants>> scan_fields();

// Whether tiles with this rate are ever the best. They are not where tiles that cover them take no longer.
[[nodiscard]] bool tile_helps(double MatmulConstants::* rate, const MatmulConstants& constants);

// One entry for each kind, of which the kind's family says which is used.
struct KernelConstants {
  std::array<MatmulConstants, kKernelKinds> matmul;
  std::array<AttentionConstants, kKernelKinds> attention;
  std::array<StreamConstants, kKernelKinds> stream;
  std::array<ScanConstants, kKernelKinds> scan;
};

// What the constants are multiplied with, of one accelerator.
struct DeviceRates {
  double rate = 0;      // FLOP/s of large 16-bit matrix products: peak times achievable share
  double fp8_rate = 0;  // 0 where the device has none
  double fp8_block_rate = 0;
  double fp4_rate = 0;
  double tile_s = -1;    // of a product's tile, where the device has its own; below 0: the constants'
  double bandwidth = 0;  // of memory, bytes/s, as the constants' shares count it
  double multiprocessors = 132;

  bool operator==(const DeviceRates&) const = default;
};
[[nodiscard]] DeviceRates device_rates(const Accelerator& accelerator);

// From data/profiles/h200.fit.yaml and h200.scans.fit.yaml.
[[nodiscard]] const KernelConstants& fitted_constants();

[[nodiscard]] double model_seconds(const KernelCall& call, const KernelConstants& constants,
                                   const DeviceRates& rates);

// data/profiles/*.fit.yaml, compiled in.
[[nodiscard]] std::span<const EmbeddedFile> kernel_fit_files();

}  // namespace nest::estimate
