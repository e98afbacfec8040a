#include "nest/model/onnx/lower.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/model/onnx/lower_names.hpp"

namespace nest::model {
namespace {

constexpr std::int64_t kWholeSequence = std::int64_t{1} << 40U;

}  // namespace

Lowering::Lowering(const Flow& flow, const FlowAxes& axes, const FlowLayer& layer, OnnxValueId memory,
                   FlowWeightUse& weights)
    : flow_(flow),
      axes_(axes),
      layer_(layer),
      weights_(weights),
      parts_(part_names(flow, axes, layer, memory)) {
  const auto come_in = [&](OnnxValueId v, const char* name) {
    if (v != kNoValue) values_[v] = {name, {{Axis::hidden, axes.width(v)}}, axes.positions(v)};
  };
  come_in(memory, "memory");
  come_in(layer.in, "x");
}

void Lowering::begin_with(OnnxValueId value) {
  values_[value] = {"x", {{Axis::hidden, axes_.width(value)}}, axes_.positions(value)};
}

std::vector<StepSpec> Lowering::steps(const std::set<std::size_t>& left_out) {
  done_ = left_out;
  for (const std::size_t i : layer_.ops) {
    // The router is a part of the experts.
    const FlowOp& op = flow_.ops[i];
    if (op.kind == FlowKind::experts && op.in.size() > 1) done_.insert(flow_.maker_index(op.in[1]));
  }
  for (const std::size_t i : layer_.ops) {
    if (!done_.contains(i)) lower(i);
  }
  return std::move(out_);
}

const Lowering::Now& Lowering::now(OnnxValueId value) const {
  const auto at = values_.find(value);
  if (at == values_.end()) {
    throw InputError(flow_.graph().file, "",
                     "two values that come in flow together outside of attention, which is not modelled",
                     "export the parts of the model one by one");
  }
  return at->second;
}

std::string Lowering::fresh(const std::string& hint) {
  const int n = ++names_["value " + hint];
  return n == 1 ? hint : hint + std::to_string(n);
}

std::string Lowering::named(const std::string& wanted) {
  const int n = ++names_[wanted];
  return n == 1 ? wanted : wanted + std::to_string(n);
}

StepSpec Lowering::step(StepSpec::Kind kind, const std::string& name, std::vector<std::string> from) {
  StepSpec s;
  s.kind = kind;
  s.name = named(name);
  s.from = std::move(from);
  return s;
}

void Lowering::push(StepSpec step, const std::vector<OnnxValueId>& made) {
  for (std::size_t i = 0; i < made.size(); ++i) {
    const OnnxValueId v = made[i];
    values_[v] = {step.to[i].name, axes_.features(v), axes_.positions(v)};
  }
  out_.push_back(std::move(step));
}

// Weights beside those that the kind of step has of itself.
void Lowering::hold(StepSpec& step, const std::vector<FlowWeight>& weights, const Shape& features) {
  for (const FlowWeight& w : weights) {
    const bool vector = long_axes(w.dims) <= 1;
    // What several operators share is counted once; exporters put equal vectors together that are not one.
    if (!vector && !weights_.seen.insert(w.tensor).second) continue;
    const std::int64_t all = elements_of(w.dims);
    Shape shape;
    if (all == elements(features)) {
      shape = features;
    } else if (!features.empty() && all == features[0].size) {
      shape = {features[0]};
    } else {
      for (const std::int64_t d : w.dims) {
        if (d > 1) shape.push_back({Axis::other, d});
      }
      const bool by_head = !shape.empty() && !features.empty() && shape.back().size == features[0].size;
      if (by_head && features[0].axis == Axis::heads) shape.back().axis = Axis::heads;
    }
    step.parameters.push_back({"weight" + std::to_string(step.parameters.size()), shape});
  }
}

// How many positions there are after the step, as a share of those before or as a number.
void Lowering::move(StepSpec& step, FlowPositions from, FlowPositions to, const FlowOp& op) const {
  const std::int64_t common = std::gcd(from.first, to.first);
  step.count = to.first / common;
  step.window = from.first / common;
  const auto times = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  if (times(to.second, from.first) == times(to.first, from.second)) return;
  if (to.first == 1 && to.second == 1) {
    step.count = 1;
    step.window = kWholeSequence;
    return;
  }
  if (to.first == to.second) {
    step.kind = StepSpec::Kind::queries;
    step.count = to.first;
    step.window = 0;
    return;
  }
  throw InputError(flow_.graph().file, "operator '" + op.op + "'",
                   "how many positions it leaves is no share of those that it reads, and no fixed number");
}

std::string Lowering::arranged(OnnxValueId value, const Shape& features, const FlowOp& op) {
  const Now& own = now(value);
  if (own.features == features) return own.name;
  StepSpec s = step(StepSpec::Kind::take, "arrange", {own.name});
  s.to = {{fresh("arranged"), features}};
  // Several positions become one where a product reads them together.
  const std::int64_t times = elements(features) / std::max<std::int64_t>(1, elements(own.features));
  const bool whole = times >= 1 && times * elements(own.features) == elements(features);
  const FlowPositions to{own.positions.first / std::max<std::int64_t>(1, times),
                         own.positions.second / std::max<std::int64_t>(1, times)};
  s.window = 1;
  if (whole && times > 1) move(s, own.positions, to, op);
  std::string made = s.to[0].name;
  out_.push_back(std::move(s));
  return made;
}

void Lowering::lower(std::size_t i) {
  const FlowOp& op = flow_.ops[i];
  if (op.in.empty()) {
    throw InputError(
        flow_.graph().file, op.kind == FlowKind::source ? "" : "operator '" + op.op + "'",
        "a second value comes in here beside the tokens or the numbers that the model begins with, "
        "which is not modelled",
        "export the parts of the model one by one");
  }
  switch (op.kind) {
    case FlowKind::product:
      return lower_products(i);
    case FlowKind::convolution:
      return lower_convolution(op);
    case FlowKind::attention:
      return lower_attention(i);
    case FlowKind::rotary:
      return lower_rotary(i);
    case FlowKind::norm:
      return lower_norm(i);
    case FlowKind::batched:
      return lower_scan(op);
    case FlowKind::experts:
      return lower_experts(op);
    case FlowKind::add: {
      std::vector<std::string> from;
      from.reserve(op.in.size());
      for (const OnnxValueId v : op.in) from.push_back(now(v).name);
      StepSpec s = step(StepSpec::Kind::add, part(i, "add"), std::move(from));
      s.to = {{fresh("sum"), {}}};
      return push(std::move(s), op.out);
    }
    default:
      return lower_pass(i);
  }
}

// Together with the products that read the same value and make what belongs with it.
void Lowering::lower_products(std::size_t first) {
  const FlowOp& op = flow_.ops[first];
  std::vector<std::size_t> group;
  const std::string name = part(first, "linear");
  if (!parts_.contains(first)) group.push_back(first);
  for (const std::size_t i : parts_.contains(first) ? flow_.users(op.in[0]) : std::vector<std::uint32_t>{}) {
    const FlowOp& other = flow_.ops[i];
    // Names are of this layer's operators alone.
    const bool same = other.kind == FlowKind::product && !done_.contains(i) && other.in == op.in &&
                      other.bias == op.bias && other.contract == op.contract && part(i, "") == name;
    if (i == first || same) group.push_back(i);
  }
  done_.insert(group.begin(), group.end());
  if (axes_.positions(op.out[0]).first > now(op.in[0]).positions.first) {
    throw InputError(
        flow_.graph().file, "operator '" + op.op + "'",
        "it sums over positions, as layers that mix tokens do, which is modelled for attention alone",
        "give a layer profile of the model");
  }
  StepSpec s = step(StepSpec::Kind::linear, name, {arranged(op.in[0], contracted(op), op)});
  s.bias = op.bias;
  std::vector<OnnxValueId> made;
  for (const std::size_t i : group) {
    const FlowOp& one = flow_.ops[i];
    // A weight that was met before is not counted again.
    s.tied = !weights_.seen.insert(one.weights[0].tensor).second || s.tied;
    for (std::size_t k = 0; k < one.out.size(); ++k) {
      const OnnxValueId v = one.out[k];
      s.to.push_back({fresh(result_name(flow_, layer_, v, s.name)), axes_.features(v)});
      made.push_back(v);
    }
  }
  push(std::move(s), made);
  if (op.in.size() < 2) return;
  // A Gemm that adds another value.
  StepSpec sum = step(StepSpec::Kind::add, "add", {now(op.out[0]).name, now(op.in[1]).name});
  sum.to = {{fresh("sum"), {}}};
  push(std::move(sum), op.out);
}

Shape Lowering::contracted(const FlowOp& op) const {
  const Now& own = now(op.in[0]);
  return elements(own.features) == op.contract ? own.features : Shape{{Axis::other, op.contract}};
}

void Lowering::lower_norm(std::size_t i) {
  const FlowOp& op = flow_.ops[i];
  const Now own = now(op.in[0]);
  StepSpec s = step(StepSpec::Kind::norm, part(i, "norm"), {own.name});
  s.norm = op.norm;
  if (op.norm == NormKind::rms && op.weights.empty()) s.norm = NormKind::bare;
  if (op.norm == NormKind::layer)
    s.norm = op.weights.size() > 1 ? NormKind::layer
             : op.weights.empty()  ? NormKind::bare
                                   : NormKind::layer_weight;
  std::int64_t wide = op.weights.empty() ? own.features.back().size : 1;
  for (const std::int64_t d : op.weights.empty() ? OnnxShape{} : op.weights[0].dims) wide *= d;
  std::int64_t of_span = 1;
  s.span = 0;
  while (of_span < wide && std::cmp_less(s.span, own.features.size()))
    of_span *= own.features[own.features.size() - 1 - static_cast<std::size_t>(s.span++)].size;
  s.to = {{fresh("normed"), {}}};
  if (of_span != wide) {
    // Its weights lie otherwise than over the last axes.
    s.norm = NormKind::bare;
    s.span = 1;
    hold(s, op.weights, own.features);
  }
  push(std::move(s), op.out);
}

void Lowering::lower_attention(std::size_t i) {
  const FlowOp& op = flow_.ops[i];
  const FlowAttention& a = op.attention;
  const auto shaped = [&](std::size_t k, Axis axis, std::int64_t heads, std::int64_t width) {
    return arranged(op.in[k], {{axis, heads}, {Axis::head_dim, width}}, op);
  };
  StepSpec s =
      step(StepSpec::Kind::attention, part(i, "attention"),
           {shaped(0, Axis::heads, a.heads, a.key_dim), shaped(1, Axis::kv_heads, a.kv_heads, a.key_dim),
            shaped(2, Axis::kv_heads, a.kv_heads, a.value_dim)});
  s.causal = a.causal;
  s.window = a.window;
  s.to = {{fresh("attended"), {}}};
  hold(s, op.weights, axes_.features(op.out[0]));
  push(std::move(s), op.out);
}

void Lowering::lower_pass(std::size_t i) {
  const FlowOp& op = flow_.ops[i];
  const OnnxValueId made = op.out[0];
  const FlowPositions to = axes_.positions(made);
  // The input that has the shape of the result comes first.
  std::vector<OnnxValueId> in = op.in;
  const auto like = std::ranges::find_if(
      in, [&](OnnxValueId v) { return axes_.width(v) == axes_.width(made) && axes_.positions(v) == to; });
  const bool stays = op.out.size() == 1 && like != in.end() && op.kind != FlowKind::join;
  if (stays && op.kind != FlowKind::gate) std::rotate(in.begin(), like, like + 1);
  const bool moves = !(axes_.positions(in[0]) == to);
  const bool activation = op.pass != OperatorKind::scale;
  const std::string name = part(i, activation ? "activation" : "pass");
  StepSpec s = step(moves ? StepSpec::Kind::take : StepSpec::Kind::pass, name, {});
  s.pass = op.pass;
  for (const OnnxValueId v : in) s.from.push_back(now(v).name);
  if (op.kind == FlowKind::join || op.kind == FlowKind::rotary) s.pass = OperatorKind::scale;
  for (const OnnxValueId v : op.out)
    s.to.push_back(
        {fresh("made"), stays && now(in[0]).features == axes_.features(v) ? Shape{} : axes_.features(v)});
  if (moves) {
    move(s, axes_.positions(in[0]), to, op);
    s.from.resize(1);
    s.to.resize(1);
  }
  hold(s, op.weights, now(in[0]).features);
  std::vector<OnnxValueId> results = op.out;
  if (moves) results.resize(1);
  push(std::move(s), results);
}

}  // namespace nest::model
