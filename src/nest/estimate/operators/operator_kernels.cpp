#include "nest/estimate/operators/operator_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "nest/estimate/kernels/scan_work.hpp"
#include "nest/estimate/operators/operator_products.hpp"

namespace nest::estimate {
namespace {

using enum KernelKind;

// Small kernels around experts that take the host's time and hardly any of the device's: choosing experts and the
// balancing loss, counts for each expert and their exchange, orders of rows. A layer of Transformers with 128 experts
// issues about 120 operators forward (2026-11-17, H200, docs/launches.md), of which 64 are products, norms and passes.
struct Launches {
  int forward;
  int backward;
};
constexpr Launches kRouterLaunches{25, 15};
constexpr Launches kDispatchLaunches{25, 20};
constexpr Launches kCombineLaunches{15, 15};

std::int64_t last(const Shape& shape) {
  return shape.empty() ? 1 : shape.back().size;
}

std::int64_t size_at(const Shape& shape, std::size_t i) {
  return i < shape.size() ? shape[i].size : 1;
}

struct Pair {
  KernelKind forward;
  KernelKind backward;
  int forward_launches;
  int backward_launches;
};

// Operators that are one measured kernel forward and one backward.
bool pair_of(OperatorKind kind, Pair& pair) {
  switch (kind) {
    case OperatorKind::rms_norm:
      pair = {rms_norm_forward, rms_norm_backward, 1, 2};
      return true;
    case OperatorKind::layer_norm:
      pair = {layer_norm_forward, layer_norm_backward, 1, 2};
      return true;
    case OperatorKind::swiglu:
      pair = {swiglu_forward, swiglu_backward, 2, 3};
      return true;
    case OperatorKind::geglu:
      pair = {geglu_forward, geglu_backward, 2, 3};
      return true;
    case OperatorKind::gelu:
      pair = {gelu_forward, gelu_backward, 1, 1};
      return true;
    case OperatorKind::relu:
      pair = {relu_forward, relu_backward, 1, 1};
      return true;
    case OperatorKind::tanh:
      pair = {tanh_forward, tanh_backward, 1, 1};
      return true;
    case OperatorKind::scale:
      pair = {scale_forward, scale_backward, 1, 3};
      return true;
    default:
      return false;
  }
}

void add_both(std::vector<KernelUse>& out, const Pair& pair,
              const std::array<std::int64_t, kMostSizes>& sizes) {
  out.push_back({{pair.forward, sizes}, Pass::forward, 1, pair.forward_launches});
  out.push_back({{pair.backward, sizes}, Pass::backward_input, 1, pair.backward_launches});
}

// A norm that is written out. Counted from a 16-bit x: to 32 bits 6 bytes for each value, its square 8, the
// mean 4, times the scale 8, to 16 bits 6, times the weight 4; and back 84 in the same way. Such kernels reach
// two thirds of the bandwidth of one long pass: six shapes of Transformers 5.17's norm on an H200 (2026-11-16,
// driver 580.159.04, torch 2.11) take as long as passes over 55 and 122 bytes.
void add_plain_norm(std::vector<KernelUse>& out, std::int64_t values) {
  out.push_back({{fused, {55 * values}}, Pass::forward, 1, 8});
  out.push_back({{fused, {122 * values}}, Pass::backward_input, 1, 16});
}

// Of one device and one turn of its keys.
AttentionSizes sizes_of(const LayerType& layer, const Operator& op) {
  const Shape& q = layer.tensor(op.inputs[0]).shape;
  const Shape& k = layer.tensor(op.inputs[1]).shape;
  const Shape& v = layer.tensor(op.inputs[2]).shape;
  return {size_at(q, 0), size_at(q, 1), size_at(q, 2), size_at(q, 3),
          size_at(k, 1), size_at(k, 2), size_at(v, 3)};
}

// Whether a window or a chunk is a mask over all keys: kernels then compute the whole square.
bool masked(const Operator& op, const AttentionSizes& s, const OperatorSettings& settings) {
  const std::int64_t seen = std::max(op.attention.window, op.attention.chunk);
  return settings.masked_time > 0 && seen > 0 && seen <= s.keys;
}

// What a device computes of its documents with one turn of its keys.
void set_documents(KernelCall& call, const AttentionSizes& s, const AttentionFacts& facts) {
  const Packing& packed = *facts.packed;
  const Packing::Blocks whole = packed.blocks(kAttentionBlock, facts.causal, facts.window);
  const double queries = static_cast<double>(s.queries) / static_cast<double>(packed.sequence());
  const double keys = static_cast<double>(s.keys) / static_cast<double>(packed.sequence());
  call.blocks = whole.blocks * queries * keys;
  call.block_rows = whole.rows * queries;
  call.longest_row = std::min(whole.longest, std::ceil(static_cast<double>(s.keys) / kAttentionBlock));
  call.document = std::min(packed.typical(), s.queries);
}

void add_flash(std::vector<KernelUse>& out, const Operator& op, const AttentionSizes& s,
               const OperatorSettings& settings) {
  const std::int64_t other = s.keys == s.queries ? 0 : s.keys;
  if (masked(op, s, settings))
    return add_both(out, {attention_forward, attention_backward, 1, 3},
                    {s.batch, s.queries, s.heads, s.kv_heads, s.key_dim, s.value_dim, 0, other});
  // A window as long as the keys hides none of them.
  const std::int64_t window = op.attention.window < s.keys ? op.attention.window : 0;
  const std::size_t before = out.size();
  add_both(
      out, {attention_forward, attention_backward, 1, 3},
      {s.batch, s.queries, s.heads, s.kv_heads, s.key_dim, s.value_dim, op.attention.causal ? 1 : 0, other});
  for (KernelUse& use : std::span(out).subspan(before)) {
    use.call.window = window;
    if (op.attention.packed) set_documents(use.call, s, op.attention);
  }
}

// q k^T, softmax with scale and mask in one pass, dropout, times v: the products compute the whole square,
// and a causal softmax does not read what it masks (Megatron's fused kernel). Heads are put side by side at
// the end.
void add_scores(std::vector<KernelUse>& out, const Operator& op, const AttentionSizes& s) {
  const std::int64_t count = s.batch * s.heads;
  const std::int64_t scores = count * s.queries * s.keys;
  const std::int64_t unmasked = op.attention.causal ? (scores + 1) / 2 : scores;
  const std::int64_t made = count * s.queries * s.value_dim;
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k, Pass pass) {
    out.push_back({{batched_matmul, {m, n, k, count}}, pass});
  };
  product(s.queries, s.keys, s.key_dim, Pass::forward);
  add_both(out, {softmax_forward, softmax_backward, 1, 1}, {scores, unmasked});
  if (op.attention.dropout) add_both(out, {dropout_forward, dropout_backward, 1, 1}, {scores});
  product(s.queries, s.value_dim, s.keys, Pass::forward);
  add_both(out, {copy, copy, 1, 1}, {made});
  product(s.queries, s.keys, s.value_dim, Pass::backward_input);
  product(s.keys, s.value_dim, s.queries, Pass::backward_input);
  product(s.queries, s.key_dim, s.keys, Pass::backward_input);
  product(s.keys, s.key_dim, s.queries, Pass::backward_input);
}

void add_attention(std::vector<KernelUse>& out, const LayerType& layer, const Operator& op,
                   const OperatorSettings& settings) {
  const AttentionSizes s = sizes_of(layer, op);
  const std::size_t before = out.size();
  if (op.attention.flash)
    add_flash(out, op, s, settings);
  else
    add_scores(out, op, s);
  // A ring of context ranks turns its keys and values: the same kernels run once for each, which the tensors
  // of one device do not show and the operator's FLOPs do.
  const Flops once = attention_flops(s, op.attention);
  const double turns = std::max(1.0, std::round(op.forward_flops.value / once.value));
  const double kernels = masked(op, s, settings) ? settings.masked_time : settings.attention_time;
  const double slower = (op.attention.flash ? kernels : 1) * op.attention.slowest;
  for (KernelUse& use : std::span(out).subspan(before)) use.repeats = turns * slower;
  if (op.attention.chosen > 0 && op.attention.chosen < s.keys)
    out.push_back({choice_call(s.batch * s.queries, s.keys), Pass::forward});
}

// Masks that a residual addition draws: within its own pass where such passes are fused, a pass back always.
void add_masks(std::vector<KernelUse>& out, const LayerType& layer, const Operator& op,
               const OperatorSettings& settings) {
  for (const TensorIndex mask : op.keeps) {
    const std::int64_t values = elements(layer.tensor(mask).shape);
    if (settings.fused_projections || settings.compiled)
      out.push_back({{fused, {values}}, Pass::forward, 1, 0});
    else
      out.push_back({{dropout_forward, {values}}, Pass::forward});
    out.push_back({{dropout_backward, {values}}, Pass::backward_input});
  }
}

Pair scan_pair(ScanKernel kernel) {
  switch (kernel) {
    case ScanKernel::convolution:
      return {convolution_forward, convolution_backward, 1, 2};
    case ScanKernel::state_space:
      return {state_space_forward, state_space_backward, 6, 11};
    case ScanKernel::selective_scan:
      return {selective_scan_forward, selective_scan_backward, 1, 1};
    case ScanKernel::delta_rule:
      return {delta_rule_forward, delta_rule_backward, 6, 9};
    case ScanKernel::channel_delta_rule:
      return {channel_delta_rule_forward, channel_delta_rule_backward, 7, 11};
    case ScanKernel::linear_attention:
      return {linear_attention_forward, linear_attention_backward, 2, 4};
    case ScanKernel::other:
      break;
  }
  return {other_scan_forward, other_scan_backward, 1, 2};
}

void add_scan(std::vector<KernelUse>& out, const LayerType& layer, const Operator& op) {
  const std::int64_t bytes = layer.bytes_read(op).value + layer.bytes_written(op).value;
  const std::int64_t positions = size_at(layer.tensor(op.inputs.front()).shape, 1);
  add_both(out, scan_pair(op.scan), {positions, bytes, std::llround(op.forward_flops.value)});
}

void add_others(std::vector<KernelUse>& out, const LayerType& layer, const Operator& op,
                const OperatorSettings& settings) {
  const Shape in = op.inputs.empty() ? Shape{} : layer.tensor(op.inputs.front()).shape;
  const Shape made = op.outputs.empty() ? Shape{} : layer.tensor(op.outputs.front()).shape;
  switch (op.kind) {
    case OperatorKind::attention:
      return add_attention(out, layer, op, settings);
    case OperatorKind::rotary: {
      const Shape k = layer.tensor(op.outputs.size() > 1 ? op.outputs[1] : op.outputs[0]).shape;
      const std::int64_t kv = op.outputs.size() > 1 ? size_at(k, 2) : 0;
      if (settings.fused_passes) {
        const std::int64_t bytes =
            4 * size_at(made, 0) * size_at(made, 1) * (size_at(made, 2) + kv) * size_at(made, 3);
        return add_both(out, {fused, fused, 1, 1}, {bytes});
      }
      add_both(out, {rotary_forward, rotary_backward, 10, 14},
               {size_at(made, 0), size_at(made, 1), size_at(made, 2), kv, size_at(made, 3)});
      return;
    }
    case OperatorKind::embedding: {
      const Shape table = layer.tensor(op.parameters.front()).shape;
      const std::array<std::int64_t, kMostSizes> sizes{size_at(table, 0), last(made), elements(in)};
      out.push_back({{embedding_forward, sizes}, Pass::forward});
      out.push_back({{embedding_backward, sizes}, Pass::backward_weight, 1, 6});
      return;
    }
    case OperatorKind::loss:
      add_both(out, {loss_forward, loss_backward, 4, 4}, {elements(in) / last(in), last(in)});
      return;
    case OperatorKind::router: {
      const std::int64_t chosen = op.outputs.size() > 1 ? last(layer.tensor(op.outputs[1]).shape) : 1;
      add_both(out, {router_forward, router_backward, kRouterLaunches.forward, kRouterLaunches.backward},
               {elements(in) / last(in), last(in), chosen});
      return;
    }
    case OperatorKind::dispatch:
    case OperatorKind::combine: {
      const bool sends = op.kind == OperatorKind::dispatch;
      const Launches& issued = sends ? kDispatchLaunches : kCombineLaunches;
      const std::int64_t width = last(made);
      const std::int64_t tokens = elements(sends ? in : made) / width;
      const std::int64_t copies = elements(sends ? made : in) / width;
      const std::int64_t top = std::max<std::int64_t>(1, copies / std::max<std::int64_t>(1, tokens));
      if (settings.fused_passes) {
        // To the experts: every copy is written once and its token read, and back the other way round; rows
        // that come back are multiplied by their weight, whose gradient reads them once more.
        const std::int64_t rows = width * (2 * copies + 2 * tokens);
        out.push_back({{fused, {rows}}, Pass::forward, 1, issued.forward});
        out.push_back(
            {{fused, {sends ? rows : rows + 2 * width * copies}}, Pass::backward_input, 1, issued.backward});
        return;
      }
      // Under expert parallelism rows that arrive are not a multiple of those that were there.
      add_both(out,
               {sends ? dispatch_forward : combine_forward, sends ? dispatch_backward : combine_backward,
                issued.forward, issued.backward},
               {std::max<std::int64_t>(1, copies / top), top, width});
      return;
    }
    case OperatorKind::position:
      out.push_back({{add, {elements(made) / last(made), last(made)}}, Pass::forward});
      out.push_back({{bias_gradient, {elements(made) / last(made), last(made)}}, Pass::backward_weight});
      return;
    case OperatorKind::add:
      out.push_back({{add, {elements(made) / last(made), last(made)}},
                     Pass::forward,
                     static_cast<double>(std::max<std::size_t>(op.inputs.size(), 2) - 1)});
      return add_masks(out, layer, op, settings);
    case OperatorKind::scan:
      return add_scan(out, layer, op);
    case OperatorKind::select:
    case OperatorKind::unfold:
    case OperatorKind::contrast:
      out.push_back({{copy, {elements(made)}}, Pass::forward});
      out.push_back({{copy, {elements(in)}}, Pass::backward_input});
      return;
    default:
      return;
  }
}

// A number that values are multiplied by, one pass each way.
void add_number(std::vector<KernelUse>& out, const LayerType& layer, const Operator& op) {
  const std::int64_t values = elements(layer.tensor(op.outputs.front()).shape);
  out.push_back({{copy, {values}}, Pass::forward});
  out.push_back({{copy, {values}}, Pass::backward_input});
}

// A backward pass runs as far as somebody waits for its gradients. Kernels that make gradients of inputs and of
// parameters in one count as those of inputs.
void leave_out(std::vector<KernelUse>& uses, const LayerType& layer, const Operator& op) {
  const bool passes = layer.passes_gradients(op);
  const bool trains = layer.trains(op);
  if (passes && (trains || op.parameters.empty())) return;
  const bool apart =
      std::ranges::any_of(uses, [](const KernelUse& use) { return use.pass == Pass::backward_weight; });
  std::erase_if(uses, [&](const KernelUse& use) {
    if (use.pass == Pass::backward_weight) return !trains;
    return use.pass == Pass::backward_input && !passes && (apart || !trains);
  });
}

std::vector<KernelUse> all_kernels(const LayerType& layer, const Operator& op,
                                   const OperatorSettings& settings) {
  std::vector<KernelUse> out;
  Pair pair{};
  if (op.kind == OperatorKind::matmul || op.kind == OperatorKind::grouped_matmul) {
    add_products(out, layer, op, settings);
  } else if (op.kind == OperatorKind::scale && op.inputs.size() == 1) {
    add_number(out, layer, op);
  } else if (pair_of(op.kind, pair)) {
    const Shape& shape = layer.tensor(op.outputs.front()).shape;
    const std::int64_t width = last(shape);
    const bool gated = op.kind == OperatorKind::swiglu || op.kind == OperatorKind::geglu;
    if (op.kind == OperatorKind::rms_norm && settings.plain_norms && !settings.compiled) {
      add_plain_norm(out, elements(shape));
      return out;
    }
    if (gated && settings.fused_passes) {
      // Both halves and the result; back the same, and the gradient besides.
      out.push_back({{fused, {6 * elements(shape)}}, Pass::forward});
      out.push_back({{fused, {10 * elements(shape)}}, Pass::backward_input});
      return out;
    }
    add_both(out, pair, {elements(shape) / width, width});
  } else {
    add_others(out, layer, op, settings);
  }
  return out;
}

}  // namespace

std::vector<KernelUse> kernels_of(const LayerType& layer, const Operator& op,
                                  const OperatorSettings& settings) {
  std::vector<KernelUse> out = all_kernels(layer, op, settings);
  leave_out(out, layer, op);
  return out;
}

std::vector<KernelUse> gradient_sums(const LayerType& layer, const OperatorSettings& settings) {
  std::vector<std::size_t> users(layer.tensors.size(), 0);
  for (const Operator& op : layer.operators) {
    const bool separate = op.kind == OperatorKind::matmul && !settings.fused_projections;
    for (const TensorIndex i : op.inputs)
      users[i] += separate ? std::max<std::size_t>(1, op.outputs.size()) : 1;
  }
  std::vector<KernelUse> out;
  for (std::size_t i = 0; i < users.size(); ++i) {
    const Tensor& tensor = layer.tensors[i];
    if (users[i] < 2 || tensor.frozen || tensor.role == Role::parameter || tensor.role == Role::shared)
      continue;
    if (tensor.dtype == DType::int64 || tensor.dtype == DType::int32) continue;
    const auto repeats = static_cast<double>(users[i] - 1);
    out.push_back({{add, {elements(tensor.shape) / last(tensor.shape), last(tensor.shape)}},
                   Pass::backward_input,
                   repeats,
                   static_cast<int>(users[i] - 1)});
  }
  return out;
}

}  // namespace nest::estimate
