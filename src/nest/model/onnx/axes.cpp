#include "nest/model/onnx/axes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "nest/base/error.hpp"

namespace nest::model {
namespace {

// Operators that leave the features of what they read in their place.
bool keeps_features(const FlowOp& op) {
  return op.kind == FlowKind::norm || op.kind == FlowKind::rotary || op.kind == FlowKind::pass ||
         op.kind == FlowKind::gate || op.kind == FlowKind::add || op.kind == FlowKind::softmax;
}

}  // namespace

FlowAxes::FlowAxes(const Flow& flow, const OnnxShapes& other)
    : flow_(flow),
      other_(other),
      width_(flow.shapes().size(), 0),
      positions_(flow.shapes().size()),
      features_(flow.shapes().size()),
      named_(flow.shapes().size(), false) {
  for (const FlowOp& op : flow_.ops) measure(op);
  for (const FlowOp& op : flow_.ops) {
    if (op.kind == FlowKind::attention) name_heads(op);
  }
  for (const FlowOp& op : flow_.ops) pass_on(op);
  for (const FlowOp& op : flow_.ops) {
    if (op.kind == FlowKind::product) name_inner(op);
  }
}

std::int64_t FlowAxes::elements(OnnxValueId value, bool second) const {
  if (second && value < other_.size() && other_[value].shape) return other_[value].elements();
  return flow_.elements(value);
}

double FlowAxes::amount(OnnxValueId value, bool second) const {
  return static_cast<double>(elements(value, second));
}

double FlowAxes::contract(const FlowOp& op, bool second) const {
  const std::optional<std::int64_t> longer = second ? sums_of(flow_, op, other_) : std::nullopt;
  return static_cast<double>(longer.value_or(op.contract));
}

void FlowAxes::set(OnnxValueId value, std::int64_t width) {
  width_[value] = std::max<std::int64_t>(1, width);
  const std::int64_t row = flow_.batch * width_[value];
  positions_[value] = {std::max<std::int64_t>(1, elements(value, false) / row),
                       std::max<std::int64_t>(1, elements(value, true) / row)};
  features_[value] = {{Axis::latent, width_[value]}};
}

std::int64_t FlowAxes::width_at(OnnxValueId value, FlowPositions p) const {
  const std::int64_t first = elements(value, false);
  const std::int64_t second = elements(value, true);
  const std::int64_t row = flow_.batch * p.first;
  const std::int64_t other = flow_.batch * p.second;
  const bool even = first % row == 0 && second % other == 0 && first / row == second / other;
  return even ? first / row : 0;
}

void FlowAxes::measure(const FlowOp& op) {
  if (op.out.empty()) return;
  const OnnxValueId made = op.out[0];
  // Where a shape has no elements, nothing is trained on it.
  for (const OnnxValueId v : op.out) {
    if (flow_.elements(v) == 0)
      throw InputError(flow_.graph().file, "operator '" + op.op + "'", "it makes a value without elements");
  }
  switch (op.kind) {
    case FlowKind::source: {
      const OnnxShape& shape = flow_.shape(made);
      return set(made, shape.size() == 4 ? shape[1] : shape.empty() ? 1 : shape.back());
    }
    case FlowKind::lookup:
      return set(made, op.weights[0].dims[1]);
    case FlowKind::product: {
      std::int64_t all = 0;
      for (const OnnxValueId v : op.out) all += flow_.elements(v);
      const auto features = static_cast<double>(op.weights[0].dims[1]);
      for (const OnnxValueId v : op.out) {
        const double share = static_cast<double>(flow_.elements(v)) / static_cast<double>(all);
        set(v, std::llround(features * share));
      }
      return;
    }
    case FlowKind::convolution:
      return set(made, op.weights[0].dims[0]);
    case FlowKind::attention: {
      const FlowAttention& a = op.attention;
      if (a.value_dim < 1 || a.key_dim < 1 || flow_.elements(made) % (a.heads * a.value_dim) != 0 ||
          op.in.size() != 3) {
        throw InputError(flow_.graph().file, "operator '" + op.op + "'",
                         "its heads do not divide what it reads and makes");
      }
      return set(made, a.heads * a.value_dim);
    }
    case FlowKind::join:
      return measure_join(op);
    default:
      break;
  }
  if (op.in.empty()) return set(made, flow_.shape(made).empty() ? 1 : flow_.shape(made).back());
  const OnnxValueId largest = *std::ranges::max_element(
      op.in, [&](OnnxValueId a, OnnxValueId b) { return flow_.elements(a) < flow_.elements(b); });
  for (const OnnxValueId v : op.out) {
    const std::int64_t width = width_at(v, positions_[largest]);
    set(v, width > 0 ? width : width_[largest]);
  }
  if (op.kind != FlowKind::cut && op.kind != FlowKind::reduce) return;
  // One position of many may leave a number of elements that would fit either way: the axes tell.
  const OnnxShape& before = flow_.shape(op.read[0]);
  const std::int64_t positions = positions_[op.in[0]].first;
  const bool last_stays =
      !before.empty() && !flow_.shape(made).empty() && before.back() == flow_.shape(made).back();
  if (positions > 1 && before.size() == 3 && before[1] == positions && last_stays &&
      elements(made, false) < elements(op.in[0], false)) {
    for (const OnnxValueId v : op.out) set(v, width_[op.in[0]]);
  }
}

// Side by side as features where the last axis grows (the second of four in images), else as positions.
void FlowAxes::measure_join(const FlowOp& op) {
  const OnnxValueId made = op.out[0];
  if (op.in.empty()) return set(made, flow_.shape(made).empty() ? 1 : flow_.shape(made).back());
  const OnnxShape& shape = flow_.shape(made);
  const OnnxShape& first = flow_.shape(op.read[0]);
  const bool features = !shape.empty() && shape.size() == first.size() && shape.back() != first.back();
  const bool channels =
      shape.size() == 4 && first.size() == 4 && shape[1] != first[1] && width_[op.in[0]] == first[1];
  if (!features && !channels) return set(made, width_[op.in[0]]);
  const std::int64_t width = width_at(made, positions_[op.in[0]]);
  set(made, width > 0 ? width : width_[op.in[0]]);
}

void FlowAxes::name_heads(const FlowOp& op) {
  const FlowAttention& a = op.attention;
  trace(op.in[0], {{Axis::heads, a.heads}, {Axis::head_dim, a.key_dim}});
  trace(op.in[1], {{Axis::kv_heads, a.kv_heads}, {Axis::head_dim, a.key_dim}});
  trace(op.in[2], {{Axis::kv_heads, a.kv_heads}, {Axis::head_dim, a.value_dim}});
  features_[op.out[0]] = {{Axis::heads, a.heads}, {Axis::head_dim, a.value_dim}};
  named_[op.out[0]] = true;
}

// Back to the product that made it. Where its parts have been joined, each has heads, or is there once for all of them.
void FlowAxes::trace(OnnxValueId from, const Shape& shape_of_all) {
  std::vector<std::pair<OnnxValueId, Shape>> left{{from, shape_of_all}};
  while (!left.empty()) {
    const auto [value, shape] = std::move(left.back());
    left.pop_back();
    if (width_[value] != nest::model::elements(shape) || named_[value]) continue;
    features_[value] = shape;
    named_[value] = true;
    const FlowOp* maker = flow_.maker(value);
    if (maker == nullptr || maker->in.empty()) continue;
    if (maker->kind == FlowKind::join) {
      for (std::size_t i = maker->in.size(); i-- > 0;) {
        const std::int64_t width = width_[maker->in[i]];
        const bool repeated = flow_.elements(maker->read[i]) != flow_.elements(maker->in[i]);
        if (repeated || width % shape[0].size != 0)
          left.push_back({maker->in[i], {{Axis::head_dim, width}}});
        else
          left.push_back({maker->in[i], {shape[0], {Axis::head_dim, width / shape[0].size}}});
      }
    } else if (keeps_features(*maker) && maker->kind != FlowKind::add) {
      left.push_back({maker->in[0], shape});
    }
  }
}

void FlowAxes::pass_on(const FlowOp& op) {
  if (!keeps_features(op) || op.in.empty() || named_[op.out[0]]) return;
  if (!named_[op.in[0]] || width_[op.in[0]] != width_[op.out[0]] || op.kind == FlowKind::add) return;
  features_[op.out[0]] = features_[op.in[0]];
  named_[op.out[0]] = true;
}

// Whatever lies element by element between products, and is used by nothing else, is the inside of a feed-forward.
void FlowAxes::name_inner(const FlowOp& product) {
  std::set<OnnxValueId> inside;
  std::vector<OnnxValueId> left{product.in[0]};
  const std::int64_t width = width_[product.in[0]];
  if (width != product.contract) return;
  bool any_pass = false;
  while (!left.empty()) {
    const OnnxValueId v = left.back();
    left.pop_back();
    if (!inside.insert(v).second) continue;
    const FlowOp* maker = flow_.maker(v);
    if (maker == nullptr || named_[v] || width_[v] != width || flow_.is_output(v)) return;
    if (maker->kind == FlowKind::product) continue;
    if (maker->kind != FlowKind::pass && maker->kind != FlowKind::gate) return;
    any_pass = true;
    left.insert(left.end(), maker->in.begin(), maker->in.end());
  }
  for (const OnnxValueId v : inside) {
    for (const std::uint32_t user : flow_.users(v)) {
      const FlowOp& op = flow_.ops[user];
      const bool within = op.kind == FlowKind::product || (!op.out.empty() && inside.contains(op.out[0]));
      if (!within) return;
    }
  }
  if (!any_pass) return;
  for (const OnnxValueId v : inside) {
    features_[v] = {{Axis::ffn, width}};
    named_[v] = true;
  }
}

void FlowAxes::name_hidden(std::int64_t hidden) {
  for (OnnxValueId v = 0; v < features_.size(); ++v) {
    if (!named_[v] && width_[v] == hidden) features_[v] = {{Axis::hidden, hidden}};
  }
}

void FlowAxes::name_vocabulary(OnnxValueId logits, Axis axis) {
  features_[logits] = {{axis, width_[logits]}};
  named_[logits] = true;
}

}  // namespace nest::model
