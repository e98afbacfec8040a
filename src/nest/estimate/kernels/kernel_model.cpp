#include "nest/estimate/kernels/kernel_model.hpp"

#include <algorithm>
#include <cmath>

#include "nest/recipe/precision.hpp"

namespace nest::estimate {
namespace {

constexpr double kElement = 2;       // bytes of a 16-bit value
constexpr double kPartialSum = 4;    // bytes of a value of a split product
constexpr double kLongestSplit = 4;  // waves up to which products are split along their inner side
constexpr double kLeastInner = 256;  // of one part of a split product
constexpr double kBlock = kAttentionBlock;
constexpr double kBackwardWork = 2.5;  // five products in place of two
// Widths of heads, keys and values together: the one that rates are of, and the widest.
constexpr double kWidth = 256;
constexpr double kWideWidth = 320;

struct Tile {
  double rows;
  double columns;
  double MatmulConstants::* rate;  // nullptr: 1
};

constexpr std::array<Tile, 8> kTiles{{{128, 256, nullptr},
                                      {256, 128, nullptr},
                                      {128, 128, &MatmulConstants::medium_tile},
                                      {64, 256, &MatmulConstants::narrow_tile},
                                      {256, 64, &MatmulConstants::narrow_tile},
                                      {64, 128, &MatmulConstants::small_tile},
                                      {128, 64, &MatmulConstants::small_tile},
                                      {64, 64, &MatmulConstants::least_tile}}};
constexpr std::array<double, 6> kSplits{1, 2, 3, 4, 6, 8};

double rate_of(const Tile& tile, const MatmulConstants& c) {
  return tile.rate ? c.*tile.rate : 1;
}

// A norm between max (large p) and sum (p = 1): two resources that overlap, though not perfectly.
double overlapped(double a, double b, double p) {
  const double high = std::max(a, b);
  if (high <= 0) return 0;
  return high * std::pow(1 + std::pow(std::min(a, b) / high, p), 1 / p);
}

// An output of rows x columns, `count` of them, each a sum over `inner`.
struct Product {
  double count;
  double rows;
  double columns;
  double inner;
};

double compute_seconds(const Product& p, const MatmulConstants& c, double rate, const DeviceRates& device,
                       bool splits) {
  const double unit_rate = rate * c.rate_share / device.multiprocessors;
  const double tile_s = device.tile_s >= 0 ? device.tile_s : c.tile_s;
  double best = 0;
  for (const Tile& tile : kTiles) {
    const double share = rate_of(tile, c);
    if (share <= 0) continue;
    const double tiles = p.count * std::ceil(p.rows / tile.rows) * std::ceil(p.columns / tile.columns);
    const double work = 2 * tile.rows * tile.columns * p.inner / (unit_rate * share);
    for (const double parts : kSplits) {
      const double waves = tiles * parts / device.multiprocessors;
      if (parts > 1 && (!splits || waves > kLongestSplit || p.inner / parts < kLeastInner)) break;
      const double waited = c.wave_loss * std::ceil(waves) + (1 - c.wave_loss) * std::max(1.0, waves);
      double time = waited * (work / parts + tile_s);
      if (parts > 1) {
        time += c.split * kPartialSum * p.count * p.rows * p.columns * (parts + 1) /
                (device.bandwidth * c.bandwidth_share);
      }
      if (best == 0 || time < best) best = time;
    }
  }
  return best;
}

// Rate and bytes of an operand of products with 8-bit and 4-bit operands; 0 and 16 bits for others.
struct LowProduct {
  double rate = 0;
  double bytes = kElement;
};
LowProduct low_product(KernelKind kind, const DeviceRates& device) {
  switch (kind) {
    case KernelKind::fp8_matmul:
    case KernelKind::fp8_row_matmul:
      return {device.fp8_rate, 1};
    case KernelKind::fp8_block_matmul:
      return {device.fp8_block_rate, 1};
    case KernelKind::fp4_matmul:
      return {device.fp4_rate, facts_of(Precision::nvfp4).operand_bytes};
    default:
      return {};
  }
}

double matmul_seconds(const KernelCall& call, const MatmulConstants& c, const DeviceRates& device) {
  const auto m = static_cast<double>(call.sizes[0]);
  const auto n = static_cast<double>(call.sizes[1]);
  const auto k = static_cast<double>(call.sizes[2]);
  const LowProduct low = low_product(call.kind, device);
  const bool batched = call.kind == KernelKind::batched_matmul;
  Product p{batched ? static_cast<double>(call.sizes[3]) : 1, m, n, k};
  if (call.kind == KernelKind::matmul_input) p = {1, m, k, n};
  if (call.kind == KernelKind::matmul_weight) p = {1, n, k, m};
  const double rate = low.rate > 0 ? low.rate : device.rate;
  const double operand = low.bytes;
  const double bytes = p.count * (kElement * p.rows * p.columns + operand * (p.rows + p.columns) * p.inner);
  const double compute = compute_seconds(p, c, rate, device, !batched);
  return c.overhead_s + overlapped(compute, bytes / (device.bandwidth * c.bandwidth_share), c.roof);
}

double grouped_seconds(const KernelCall& call, const MatmulConstants& c, const DeviceRates& device) {
  const auto experts = static_cast<double>(std::max<std::int64_t>(1, call.sizes[0]));
  const auto tokens = static_cast<double>(call.sizes[1]);
  const auto n = static_cast<double>(call.sizes[2]);
  const auto k = static_cast<double>(call.sizes[3]);
  const double rows = tokens / experts;
  Product p{experts, rows, n, k};
  if (call.kind == KernelKind::grouped_input) p = {experts, rows, k, n};
  if (call.kind == KernelKind::grouped_weight) p = {experts, n, k, rows};
  const double bytes = kElement * (tokens * (n + k) + experts * n * k);
  const double compute = compute_seconds(p, c, device.rate, device, false);
  const double time = overlapped(compute, bytes / (device.bandwidth * c.bandwidth_share), c.roof);
  return c.overhead_s + time * (call.sizes[4] != 0 ? c.uneven : 1);
}

double attention_seconds(const KernelCall& call, const AttentionConstants& c, const DeviceRates& device) {
  const auto& s = call.sizes;
  const auto batch = static_cast<double>(s[0]);
  const auto queries = static_cast<double>(s[1]);
  const auto heads = static_cast<double>(s[2]);
  const auto kv_heads = static_cast<double>(s[3]);
  const auto width = static_cast<double>(s[4] + s[5]);
  const bool causal = s[6] != 0;
  const auto keys = static_cast<double>(s[7] > 0 ? s[7] : s[1]);
  const bool backward = call.kind == KernelKind::attention_backward;

  double rows = std::ceil(queries / kBlock);
  double longest = std::ceil(keys / kBlock);
  double blocks = rows * longest;
  if (call.blocks > 0) {
    rows = call.block_rows;
    longest = call.longest_row;
    blocks = call.blocks + (causal ? rows * (c.diagonal - 1) : 0);
  } else if (causal) {
    // The last queries see all keys; the mask cuts the blocks on the diagonal.
    const double missing = std::min(queries, keys) / kBlock;
    blocks = rows * longest - missing * (missing - 1) / 2 + rows * (c.diagonal - 1);
  }
  if (call.window > 0 && call.blocks == 0) {
    longest = std::min(longest, std::ceil(static_cast<double>(call.window) / kBlock) + 1);
    blocks = std::min(blocks, rows * longest);
  }
  // Between the measured head dimensions the efficiency goes with the logarithm of the width.
  const double place = std::log2(width / kWidth);
  const double wide = std::log2(kWideWidth / kWidth);
  const double head = place <= 0 ? std::pow(c.small_head, std::min(1.0, -place))
                                 : std::pow(c.wide_head, std::min(1.0, place / wide));
  const double unit = 2 * kBlock * kBlock * width * (backward ? kBackwardWork : 1) /
                      (device.rate * c.rate_share * head / device.multiprocessors);
  const double mean = batch * heads * (blocks + c.block * rows) / device.multiprocessors;
  const double elements = batch * (queries * heads + keys * kv_heads) * width;
  return c.overhead_s + unit * overlapped(mean, longest + c.block, c.tail) +
         c.bytes * elements / device.bandwidth;
}

double stream_seconds(const KernelCall& call, const StreamConstants& c, const DeviceRates& device) {
  const StreamElements e = stream_elements(call);
  return c.overhead_s + (c.bytes * e.main + c.other_bytes * e.other) / device.bandwidth;
}

double scan_seconds(const KernelCall& call, const ScanConstants& c, const DeviceRates& device) {
  const auto positions = static_cast<double>(call.sizes[0]);
  const auto bytes = static_cast<double>(call.sizes[1]);
  const auto flops = static_cast<double>(call.sizes[2]);
  return c.overhead_s + c.position_s * positions + c.bytes * bytes / device.bandwidth +
         c.flops * flops / device.rate;
}

}  // namespace

bool tile_helps(double MatmulConstants::* rate, const MatmulConstants& c) {
  const auto beats = [&](const Tile& large, const Tile& small) {
    const bool covers =
        large.rows >= small.rows && large.columns >= small.columns && large.rate != small.rate;
    return covers && rate_of(large, c) > 0 &&
           large.rows * large.columns / rate_of(large, c) <= small.rows * small.columns / rate_of(small, c);
  };
  return std::any_of(kTiles.begin(), kTiles.end(), [&](const Tile& tile) {
    return tile.rate == rate && rate_of(tile, c) > 0 &&
           std::none_of(kTiles.begin(), kTiles.end(), [&](const Tile& t) { return beats(t, tile); });
  });
}

double model_seconds(const KernelCall& call, const KernelConstants& constants, const DeviceRates& rates) {
  const auto i = static_cast<std::size_t>(call.kind);
  switch (row_of(call.kind).family) {
    case KernelFamily::matmul:
      return matmul_seconds(call, constants.matmul[i], rates);
    case KernelFamily::grouped_matmul:
      return grouped_seconds(call, constants.matmul[i], rates);
    case KernelFamily::attention:
      return attention_seconds(call, constants.attention[i], rates);
    case KernelFamily::stream:
      return stream_seconds(call, constants.stream[i], rates);
    case KernelFamily::scan:
      return scan_seconds(call, constants.scan[i], rates);
  }
  return 0;
}

}  // namespace nest::estimate
