#include "nest/estimate/operators/operator_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace nest::estimate {
namespace {

using enum KernelKind;

constexpr double kHalf = 2;  // bytes of a 16-bit value

bool is_bias(const Tensor& tensor) {
  return tensor.name.ends_with(".bias");
}

// One weight of a product with the sizes of the product.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t experts = 1;
  bool bias = false;
  bool frozen = false;           // no gradient of the weight is made
  std::int64_t packed_bits = 0;  // of one value of the weight as it is held, where those are fewer
  TensorIndex weight = 0;
};

std::vector<Product> products_of(const LayerType& layer, const Operator& op) {
  std::vector<Product> out;
  const std::int64_t in = elements(layer.tensor(op.inputs.front()).shape);
  for (const TensorIndex p : op.parameters) {
    const Tensor& tensor = layer.tensor(p);
    if (is_bias(tensor)) {
      if (!out.empty()) out.back().bias = true;
      continue;
    }
    if (out.size() >= op.outputs.size()) break;  // what the operator holds beside its weights
    const std::int64_t made = elements(layer.tensor(op.outputs[out.size()]).shape);
    const bool grouped = !tensor.shape.empty() && tensor.shape.front().axis == Axis::experts;
    const std::int64_t experts =
        grouped && op.kind == OperatorKind::grouped_matmul ? tensor.shape[0].size : 1;
    // in = m k, made = m n, weight = k n.
    const double weight = static_cast<double>(elements(tensor.shape)) / static_cast<double>(experts);
    const double square = static_cast<double>(in) * static_cast<double>(made) / std::max(1.0, weight);
    const std::int64_t m = std::max<std::int64_t>(1, std::llround(std::sqrt(square)));
    out.push_back({m, made / m, in / m, experts, false, tensor.frozen, tensor.packed_bits, p});
  }
  return out;
}

// Casting values to a low precision: for one use, or for two (along rows and along columns).
void add_cast(std::vector<KernelUse>& out, std::int64_t values, Pass pass, const OperatorSettings& settings,
              bool once = false) {
  const PrecisionFacts& facts = facts_of(settings.precision);
  const bool each = settings.cast_each_use || once;
  // Hand-written and compiled kernels find a tensor's largest value while they make it.
  const bool looks = facts.whole_scale && !settings.fused_passes && !settings.compiled;
  const double bytes = kHalf * (looks ? 2 : 1) + facts.operand_bytes * (each ? 1 : 2);
  out.push_back({{fused, {std::llround(bytes * static_cast<double>(values))}}, pass, 1, looks ? 2 : 1});
}

struct LowKernel {
  Precision precision;
  KernelKind kind;
  double DeviceRates::* rate;
};
// Nobody published products with the scales of mxfp8: those of blocks stand in.
constexpr std::array<LowKernel, 4> kLowKernels{
    {{Precision::fp8, fp8_matmul, &DeviceRates::fp8_rate},
     {Precision::fp8_block, fp8_block_matmul, &DeviceRates::fp8_block_rate},
     {Precision::mxfp8, fp8_block_matmul, &DeviceRates::fp8_block_rate},
     {Precision::nvfp4, fp4_matmul, &DeviceRates::fp4_rate}}};

// Of a precision that is low.
const LowKernel& low_kernel_of(Precision precision) {
  return *std::find_if(kLowKernels.begin(), kLowKernels.end(),
                       [&](const LowKernel& row) { return row.precision == precision; });
}

// Inputs and gradients, each for all its uses; or both operands of each of the three products.
void add_casts(std::vector<KernelUse>& out, const Product& p, const OperatorSettings& settings) {
  const std::int64_t in = p.m * p.k;
  const std::int64_t made = p.m * p.n;
  const std::int64_t weight = p.experts * p.n * p.k;
  // The gradient of the weight would be their second use.
  add_cast(out, in, Pass::forward, settings, p.frozen);
  add_cast(out, made, Pass::backward_input, settings, p.frozen);
  if (!settings.cast_each_use) return;
  add_cast(out, weight, Pass::forward, settings);
  add_cast(out, weight, Pass::backward_input, settings);
  add_cast(out, made, Pass::backward_weight, settings);
  add_cast(out, in, Pass::backward_weight, settings);
}

void add_grouped(std::vector<KernelUse>& out, const Product& p, bool low, const OperatorSettings& settings) {
  const std::array<std::int64_t, kMostSizes> sizes{p.experts, p.m, p.n, p.k};
  const double share = low ? settings.grouped_share : 1;
  out.push_back({{grouped_forward, sizes}, Pass::forward, share});
  out.push_back({{grouped_input, sizes}, Pass::backward_input, share});
  out.push_back({{grouped_weight, sizes}, Pass::backward_weight, share});
}

// A weight that is held in few bits is written out in 16 before each product that reads it.
void add_unpacking(std::vector<KernelUse>& out, const Product& p) {
  const auto values = static_cast<double>(p.experts * p.n * p.k);
  const auto bytes = std::llround(values * (static_cast<double>(p.packed_bits) / 8 + kHalf));
  out.push_back({{fused, {bytes}}, Pass::forward});
  out.push_back({{fused, {bytes}}, Pass::backward_input});
}

void add_product(std::vector<KernelUse>& out, const Product& p, bool low, const OperatorSettings& settings) {
  if (p.packed_bits > 0) add_unpacking(out, p);
  if (low) add_casts(out, p, settings);
  if (p.experts > 1) return add_grouped(out, p, low, settings);
  if (low) {
    const KernelKind kind = low_kernel_of(settings.precision).kind;
    out.push_back({{kind, {p.m, p.n, p.k}}, Pass::forward});
    out.push_back({{kind, {p.m, p.k, p.n}}, Pass::backward_input});
    out.push_back({{kind, {p.n, p.k, p.m}}, Pass::backward_weight});
  } else {
    out.push_back({{matmul_forward, {p.m, p.n, p.k}}, Pass::forward});
    out.push_back({{matmul_input, {p.m, p.n, p.k}}, Pass::backward_input});
    out.push_back({{matmul_weight, {p.m, p.n, p.k}}, Pass::backward_weight});
  }
  if (p.bias) out.push_back({{bias_gradient, {p.m, p.n}}, Pass::backward_weight});
}

// What is left of the gain of low precision in grouped products: on an H200, 8-bit ones are 1.55 times as fast as
// 16-bit ones (median of six shapes of 8 to 32 experts; 2026-11-15, driver 580.159.04, torch 2.11,
// torch._scaled_grouped_mm against torch._grouped_mm), and large plain ones 2.03 times.
constexpr double kGroupedGain = 1.55 / 2.03;

double reached(double rate, KernelKind kind) {
  return rate * fitted_constants().matmul[static_cast<std::size_t>(kind)].rate_share;
}

}  // namespace

double grouped_share(const DeviceRates& rates, Precision precision) {
  if (!is_low(precision)) return 1;
  const LowKernel& product = low_kernel_of(precision);
  const double low = reached(rates.*product.rate, product.kind);
  return low > 0 ? std::min(1.0, reached(rates.rate, matmul_forward) / (kGroupedGain * low)) : 1;
}

void add_products(std::vector<KernelUse>& out, const LayerType& layer, const Operator& op,
                  const OperatorSettings& settings) {
  std::vector<Product> products = products_of(layer, op);
  if (settings.fused_projections && products.size() > 1) {
    Product whole = products.front();
    for (std::size_t i = 1; i < products.size(); ++i) {
      whole.n += products[i].n;
      whole.bias = whole.bias || products[i].bias;
    }
    // The parts' gradients are put side by side before the product.
    out.push_back({{copy, {whole.m * whole.n}}, Pass::backward_input});
    products = {whole};
  }
  const bool low = is_low(settings.precision) && layer.low_product(op);
  for (const Product& p : products) add_product(out, p, low, settings);
}

std::vector<WeightMatrix> muon_matrices(const LayerType& layer) {
  std::vector<WeightMatrix> out;
  if (!layer.is_block()) return out;
  for (const Operator& op : layer.operators) {
    if (op.kind != OperatorKind::matmul && op.kind != OperatorKind::grouped_matmul) continue;
    for (const Product& p : products_of(layer, op)) {
      const bool known =
          std::ranges::any_of(out, [&](const WeightMatrix& m) { return m.tensor == p.weight; });
      // A weight that another layer trains is that layer's.
      if (!known && !p.frozen && layer.tensor(p.weight).role == Role::parameter)
        out.push_back({p.weight, p.k, p.n, p.experts});
    }
  }
  return out;
}

}  // namespace nest::estimate
