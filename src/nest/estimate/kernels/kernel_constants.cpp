// The constants of the model: their names, the file they come from, and what an accelerator multiplies them
// with.
#include <algorithm>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/estimate/kernels/kernel_model.hpp"

namespace nest::estimate {
namespace {

constexpr std::array<ConstantField<MatmulConstants>, 12> kMatmul{{
    {"rate_share", &MatmulConstants::rate_share, 0.2, 1.3},
    {"wave_loss", &MatmulConstants::wave_loss, 0.001, 1},
    {"tile_s", &MatmulConstants::tile_s, 1e-8, 2e-5},
    {"bandwidth_share", &MatmulConstants::bandwidth_share, 0.3, 1.3},
    {"overhead_s", &MatmulConstants::overhead_s, 1e-7, 1e-4},
    {"medium_tile", &MatmulConstants::medium_tile, 0.3, 1, true},
    {"narrow_tile", &MatmulConstants::narrow_tile, 0.3, 1, true},
    {"small_tile", &MatmulConstants::small_tile, 0.2, 1, true},
    {"least_tile", &MatmulConstants::least_tile, 0.1, 1, true},
    {"roof", &MatmulConstants::roof, 1, 12},
    {"split", &MatmulConstants::split, 0.05, 10},
    {"uneven", &MatmulConstants::uneven, 0.9, 2},
}};

// Products of experts are not split, and only they are uneven: these two are the last fields.
constexpr std::array<ConstantField<MatmulConstants>, 11> kGrouped = [] {
  std::array<ConstantField<MatmulConstants>, 11> out{};
  std::copy(kMatmul.begin(), kMatmul.end() - 2, out.begin());
  out.back() = kMatmul.back();
  return out;
}();

constexpr std::array<ConstantField<AttentionConstants>, 8> kAttention{{
    {"rate_share", &AttentionConstants::rate_share, 0.1, 1.3},
    {"small_head", &AttentionConstants::small_head, 0.2, 1.2},
    {"wide_head", &AttentionConstants::wide_head, 0.2, 1.5},
    {"block", &AttentionConstants::block, 0.01, 8},
    {"diagonal", &AttentionConstants::diagonal, 0.5, 4},
    {"tail", &AttentionConstants::tail, 1, 12},
    {"bytes", &AttentionConstants::bytes, 0.01, 60},
    {"overhead_s", &AttentionConstants::overhead_s, 1e-7, 1e-4},
}};

constexpr std::array<ConstantField<StreamConstants>, 3> kStream{{
    {"overhead_s", &StreamConstants::overhead_s, 1e-7, 1e-3},
    {"bytes", &StreamConstants::bytes, 0.1, 400},
    {"other_bytes", &StreamConstants::other_bytes, 0.001, 1e5},
}};

// A scan may have no part of one kind.
constexpr std::array<ConstantField<ScanConstants>, 4> kScan{{
    {"overhead_s", &ScanConstants::overhead_s, 1e-7, 4e-5, true},
    {"position_s", &ScanConstants::position_s, 1e-12, 1e-6, true},
    {"bytes", &ScanConstants::bytes, 0.01, 400, true},
    {"flops", &ScanConstants::flops, 0.01, 4000, true},
}};

template <class T>
void read_fields(Reader reader, std::span<const ConstantField<T>> fields, T& out) {
  for (const ConstantField<T>& field : fields) {
    const std::string name(field.name);
    if (field.may_lack && !reader.has(name)) {
      out.*field.member = 0;
      continue;
    }
    out.*field.member = reader.number(name);
    if (!(out.*field.member > 0)) reader.fail_at(name, "a number above 0 is expected");
  }
  reader.done();
}

// Kinds that no profile has: bytes over the share of the bandwidth that alike kernels reach.
constexpr StreamConstants kBiasGradient{.overhead_s = 3e-6, .bytes = 4};
constexpr StreamConstants kFused{.overhead_s = 2e-6, .bytes = 1.15};
// The passes and products of attention without a flash kernel, each timed by itself on an H200 (13 sizes of
// 1024 to 8192 tokens; docs/cost-model.md). Softmax per score read or written, dropout per score.
constexpr StreamConstants kSoftmaxForward{.overhead_s = 2e-6, .bytes = 3.75};
constexpr StreamConstants kSoftmaxBackward{.overhead_s = 2e-6, .bytes = 4.6};
constexpr StreamConstants kDropoutForward{.overhead_s = 2e-6, .bytes = 7.9};
constexpr StreamConstants kDropoutBackward{.overhead_s = 2e-6, .bytes = 5.5};
// Batched products are as others but for these: the next tile is fetched while one is computed, and what they
// move is spread over many small matrices.
constexpr double kBatchedTile = 6e-7;
constexpr double kBatchedBandwidth = 0.87;
// Products of 8-bit values with a scale for each block: fitted to 760 products on H100, H200, B200, B300, GB200
// and GB300 (aiconfigurator's tables for TensorRT-LLM) less the time of quantising that they include; a third held
// out is within 3.1 % in the median. docs/cost-model.md, Products in low precision. 4-bit products take the
// constants of 8-bit ones.
constexpr MatmulConstants kBlockProducts{.rate_share = 1,
                                         .wave_loss = 0.1466,
                                         .tile_s = 7.49e-7,
                                         .bandwidth_share = 0.9,
                                         .overhead_s = 2.1e-6,
                                         .medium_tile = 0.9584,
                                         .narrow_tile = 0.8,
                                         .small_tile = 0.7474,
                                         .least_tile = 0.5,
                                         .roof = 1.958,
                                         .split = 2};

// Scans without a public kernel: one pass over the bytes, and products at a third of the rate.
constexpr ScanConstants kRooflineForward{.overhead_s = 1e-5, .position_s = 0, .bytes = 1.15, .flops = 3};
constexpr ScanConstants kRooflineBackward{.overhead_s = 2e-5, .position_s = 0, .bytes = 2.3, .flops = 6};

// The constants of one file, over what others said.
void read_constants(const Document& document, KernelConstants& out) {
  Reader reader(document);
  static_cast<void>(reader.text("accelerator"));
  static_cast<void>(reader.text("source"));
  Reader constants = reader.object("constants");
  for (const KernelKindRow& row : kernel_kinds()) {
    const std::string name(row.series);
    if (!constants.has(name)) continue;
    const auto i = static_cast<std::size_t>(row.kind);
    switch (row.family) {
      case KernelFamily::matmul:
      case KernelFamily::grouped_matmul:
        read_fields<MatmulConstants>(constants.object(name), matmul_fields(row.family), out.matmul[i]);
        break;
      case KernelFamily::attention:
        read_fields<AttentionConstants>(constants.object(name), kAttention, out.attention[i]);
        break;
      case KernelFamily::stream:
        read_fields<StreamConstants>(constants.object(name), stream_fields(row.kind), out.stream[i]);
        break;
      case KernelFamily::scan:
        read_fields<ScanConstants>(constants.object(name), kScan, out.scan[i]);
        break;
    }
  }
  constants.done();
  reader.done();
}

KernelConstants all_constants() {
  KernelConstants out;
  const auto stream = [&](KernelKind kind) -> StreamConstants& {
    return out.stream[static_cast<std::size_t>(kind)];
  };
  stream(KernelKind::bias_gradient) = kBiasGradient;
  stream(KernelKind::softmax_forward) = kSoftmaxForward;
  stream(KernelKind::softmax_backward) = kSoftmaxBackward;
  stream(KernelKind::dropout_forward) = kDropoutForward;
  stream(KernelKind::dropout_backward) = kDropoutBackward;
  stream(KernelKind::fused) = kFused;
  out.scan[static_cast<std::size_t>(KernelKind::other_scan_forward)] = kRooflineForward;
  out.scan[static_cast<std::size_t>(KernelKind::other_scan_backward)] = kRooflineBackward;
  for (const EmbeddedFile& file : kernel_fit_files()) {
    const std::string name = "data/profiles/" + std::string(file.name) + ".yaml";
    read_constants(parse_document(name, std::string(file.text)), out);
  }
  MatmulConstants& batched = out.matmul[static_cast<std::size_t>(KernelKind::batched_matmul)];
  batched = out.matmul[static_cast<std::size_t>(KernelKind::matmul_forward)];
  batched.tile_s = kBatchedTile;
  batched.bandwidth_share = kBatchedBandwidth;
  out.matmul[static_cast<std::size_t>(KernelKind::fp8_block_matmul)] = kBlockProducts;
  out.matmul[static_cast<std::size_t>(KernelKind::fp4_matmul)] =
      out.matmul[static_cast<std::size_t>(KernelKind::fp8_matmul)];
  return out;
}

}  // namespace

std::span<const ConstantField<MatmulConstants>> matmul_fields(KernelFamily family) {
  if (family == KernelFamily::grouped_matmul) return kGrouped;
  return std::span(kMatmul).first(kMatmul.size() - 1);
}
std::span<const ConstantField<AttentionConstants>> attention_fields() {
  return kAttention;
}
std::span<const ConstantField<ScanConstants>> scan_fields() {
  return kScan;
}
std::span<const ConstantField<StreamConstants>> stream_fields(KernelKind kind) {
  std::array<std::int64_t, kMostSizes> ones{};
  ones.fill(1);
  const bool others = stream_elements({kind, ones}).other > 0;
  return std::span(kStream).first(others ? kStream.size() : kStream.size() - 1);
}

DeviceRates device_rates(const Accelerator& accelerator) {
  DeviceRates out;
  // The constants' rate_share is put into the rate, so that a large product reaches the accelerator's own share
  // of its peak, at the clocks that training leaves.
  const auto rate = [&](MathType type, KernelKind kind) {
    const auto peak = accelerator.peak(type);
    if (!peak) return 0.0;
    Share share = accelerator.matmul_share(type);
    // Where nobody measured a low precision's share, the chip's own of the next wider one is a better guess than
    // the stated default.
    if (share.is_default && type >= MathType::fp8) share = accelerator.matmul_share(MathType::fp8);
    if (share.is_default && type >= MathType::fp8) share = accelerator.matmul_share(MathType::bf16);
    const double reference = fitted_constants().matmul[static_cast<std::size_t>(kind)].rate_share;
    return peak->value * share.value * accelerator.power_share(type).value / reference;
  };
  out.rate = rate(MathType::bf16, KernelKind::matmul_forward);
  if (out.rate == 0) out.rate = rate(MathType::fp16, KernelKind::matmul_forward);
  if (out.rate == 0) out.rate = rate(MathType::fp32, KernelKind::matmul_forward);
  out.fp8_rate = rate(MathType::fp8, KernelKind::fp8_matmul);
  out.fp8_block_rate = rate(MathType::fp8_block, KernelKind::fp8_block_matmul);
  out.fp4_rate = rate(MathType::fp4, KernelKind::fp4_matmul);
  if (accelerator.tile) out.tile_s = accelerator.tile->value;
  // The constants were fitted against the whole bandwidth of a device whose share is the stated default.
  out.bandwidth = accelerator.memory_bandwidth.value * accelerator.memory_share().value /
                  accelerator_defaults().memory_fraction;
  out.multiprocessors = static_cast<double>(accelerator.multiprocessor_count());
  return out;
}

const KernelConstants& fitted_constants() {
  static const KernelConstants kConstants = all_constants();
  return kConstants;
}

}  // namespace nest::estimate
