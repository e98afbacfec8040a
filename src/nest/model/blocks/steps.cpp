#include "nest/model/blocks/steps.hpp"

#include <algorithm>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/model/blocks/blocks.hpp"

namespace nest::model {
namespace {

constexpr std::size_t kTokenAxes = 2;  // batch and positions come first

class Steps {
 public:
  Steps(LayerBuilder& b, std::map<std::string, TensorIndex> values, const BlockSpec* block)
      : b_(b), values_(std::move(values)), block_(block) {}

  TensorIndex add(const StepSpec& s) {
    const std::size_t before = b_.tensors();
    const std::vector<TensorIndex> made = operator_of(s);
    if (s.shared) b_.share_since(before);
    for (std::size_t i = 0; i < made.size(); ++i) values_[s.to[i].name] = made[i];
    return made.front();
  }

 private:
  [[noreturn]] static void fail(const StepSpec& s, const std::string& what) {
    throw InputError("data/families", "the step " + s.name, what);
  }
  TensorIndex value(const StepSpec& s, std::size_t i) const {
    const auto found = i < s.from.size() ? values_.find(s.from[i]) : values_.end();
    if (found == values_.end())
      fail(s, i < s.from.size() ? "there is no value '" + s.from[i] + "'" : "it reads too few values");
    return found->second;
  }
  std::vector<TensorIndex> all(const StepSpec& s) const {
    std::vector<TensorIndex> out;
    out.reserve(s.from.size());
    for (std::size_t i = 0; i < s.from.size(); ++i) out.push_back(value(s, i));
    return out;
  }
  [[nodiscard]] std::size_t span_of(const StepSpec& s, TensorIndex in) const {
    const std::size_t features = b_.shape(in).size() - kTokenAxes;
    const auto span = static_cast<std::size_t>(s.span);
    return span == 0 || span > features ? features : span;
  }
  [[nodiscard]] Shape tokens_of(TensorIndex in) const {
    const Shape& shape = b_.shape(in);
    return {shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(kTokenAxes)};
  }
  [[nodiscard]] const BlockSpec& block(const StepSpec& s) const {
    if (block_ == nullptr) fail(s, "only blocks have attention and feed-forwards of their own");
    return *block_;
  }

  std::vector<Tensor> parameters_of(const StepSpec& s) const {
    std::vector<Tensor> out;
    out.reserve(s.parameters.size());
    for (const StepSpec::Made& p : s.parameters)
      out.push_back({s.name + "." + p.name, p.features, DType::bf16, Role::parameter});
    return out;
  }
  // Parameters of a step that is no general operator.
  void add_parameters(const StepSpec& s) {
    for (Tensor& p : parameters_of(s)) b_.also_parameter(std::move(p));
  }

  std::vector<TensorIndex> general(const StepSpec& s, OperatorKind kind) {
    const TensorIndex first = value(s, 0);
    const Shape own = b_.shape(first);
    const Shape tokens = tokens_of(first);
    std::vector<Tensor> outputs;
    outputs.reserve(s.to.size());
    for (const StepSpec::Made& m : s.to)
      outputs.push_back({s.name + "." + m.name, m.features.empty() ? own : join(tokens, m.features)});
    return b_.general({s.name, kind, all(s), parameters_of(s), std::move(outputs)});
  }

  std::vector<TensorIndex> linear(const StepSpec& s) {
    const TensorIndex in = value(s, 0);
    const Shape shape = b_.shape(in);
    const Shape contract(shape.end() - static_cast<std::ptrdiff_t>(span_of(s, in)), shape.end());
    std::vector<Weight> weights;
    weights.reserve(s.to.size());
    for (const StepSpec::Made& m : s.to) {
      weights.push_back({m.name, m.features.empty() ? contract : m.features, s.bias,
                         s.tied ? Role::shared : Role::parameter});
    }
    std::vector<TensorIndex> made = b_.matmul(s.name, in, contract, weights);
    add_parameters(s);
    return made;
  }

  std::vector<TensorIndex> scan(const StepSpec& s) {
    std::vector<TensorIndex> made = general(s, OperatorKind::scan);
    const auto tokens = static_cast<double>(elements(tokens_of(made.front())));
    b_.set_flops(Flops{tokens * static_cast<double>(s.flops)},
                 Flops{tokens * static_cast<double>(s.uncounted)});
    b_.set_scan(s.kernel);
    return made;
  }

  // Several positions side by side: [batch, n, d] becomes [batch, n / count, count * d].
  std::vector<TensorIndex> fold(const StepSpec& s) {
    const TensorIndex in = value(s, 0);
    Shape shape = tokens_of(in);
    const std::int64_t width = elements(b_.shape(in)) / elements(shape);
    shape[1].size = std::max<std::int64_t>(1, shape[1].size / s.count);
    shape.push_back({Axis::other, times(width, s.window > 0 ? s.window : s.count)});
    return b_.general({s.name, OperatorKind::unfold, {in}, parameters_of(s), {{s.name + ".rows", shape}}});
  }
  std::vector<TensorIndex> pool(const StepSpec& s) {
    const TensorIndex in = value(s, 0);
    Shape shape = b_.shape(in);
    shape[1].size = std::max<std::int64_t>(1, shape[1].size / s.count);
    return b_.general({s.name, OperatorKind::scale, {in}, parameters_of(s), {{s.name + ".rows", shape}}});
  }
  std::vector<TensorIndex> take(const StepSpec& s) {
    const TensorIndex in = value(s, 0);
    const Shape& made = s.to.front().features;
    Shape shape = made.empty() ? b_.shape(in) : join(tokens_of(in), made);
    shape[1].size =
        std::max<std::int64_t>(1, times(shape[1].size, s.count) / std::max<std::int64_t>(1, s.window));
    return b_.general({s.name, OperatorKind::dispatch, {in}, parameters_of(s), {{s.name + ".rows", shape}}});
  }
  std::vector<TensorIndex> joined(const StepSpec& s) {
    const std::vector<TensorIndex> in = all(s);
    Shape shape = b_.shape(in.front());
    if (shape[1].axis == Axis::sequence) shape[1].axis = Axis::source_sequence;
    if (s.whole) shape[0] = {Axis::other, 1};
    for (std::size_t i = 1; i < in.size(); ++i) shape[1].size = plus(shape[1].size, b_.shape(in[i])[1].size);
    return b_.general({s.name, OperatorKind::dispatch, in, parameters_of(s), {{s.name + ".rows", shape}}});
  }
  std::vector<TensorIndex> lookup(const StepSpec& s) {
    const TensorIndex in = value(s, 0);
    const Shape& first = s.to.front().features;
    const Shape shape = first.empty() ? b_.shape(in) : join(tokens_of(in), first);
    const auto tables = static_cast<std::int64_t>(s.parameters.size());
    Tensor rows{s.name + ".rows", shape};
    const Bytes read = tables * rows.bytes();
    return b_.general({s.name, OperatorKind::position, {in}, parameters_of(s), {std::move(rows)}, read});
  }
  std::vector<TensorIndex> queries(const StepSpec& s) {
    Shape shape = tokens_of(value(s, 0));
    if (s.whole) shape = {{Axis::other, 1}, {Axis::positions, 1}};
    shape[1].size = s.count;
    shape = join(shape, s.to.front().features);
    std::vector<Tensor> parameters = parameters_of(s);
    return b_.general(
        {s.name, OperatorKind::unfold, all(s), std::move(parameters), {{s.name + ".rows", shape}}});
  }

  std::vector<TensorIndex> operator_of(const StepSpec& s) {
    using K = StepSpec::Kind;
    switch (s.kind) {
      case K::linear:
        return linear(s);
      case K::norm: {
        const TensorIndex made = b_.norm(s.name, value(s, 0), s.norm, span_of(s, value(s, 0)));
        add_parameters(s);
        return {made};
      }
      case K::pass:
        return general(s, s.pass);
      case K::scan:
        return scan(s);
      case K::attention: {
        constexpr std::size_t kAxes = kTokenAxes + 2;
        for (std::size_t i = 0; i < 3; ++i) {
          if (b_.shape(value(s, i)).size() != kAxes)
            fail(s, "queries, keys and values have the axes of heads and of a head's width");
        }
        const TensorIndex made =
            b_.attention(s.name, value(s, 0), value(s, 1), value(s, 2), {s.causal, s.window});
        add_parameters(s);
        return {made};
      }
      case K::mixer:
        return {add_attention(b_, s.prefix, value(s, 0), block(s).attention)};
      case K::cross:
        if (!block(s).cross) fail(s, "the block has no cross-attention");
        return {add_attention(b_, "cross_", value(s, 0), *block(s).cross, value(s, 1))};
      case K::dense:
        return {add_feed_forward(b_, s.prefix.empty() && block(s).experts ? "dense." : s.prefix, value(s, 0),
                                 block(s).ffn)};
      case K::experts:
        if (!block(s).experts) fail(s, "the block has no experts");
        return {add_experts(b_, value(s, 0), *block(s).experts, block(s).ffn.activation,
                            s.from.size() > 1 ? std::optional(value(s, 1)) : std::nullopt)};
      case K::add:
        return {b_.residual(s.name, all(s))};
      case K::fold:
        return fold(s);
      case K::queries:
        return queries(s);
      case K::lookup:
        return lookup(s);
      case K::pool:
        return pool(s);
      case K::join:
        return joined(s);
      case K::take:
        return take(s);
      case K::hold:
        if (!b_.has_operators()) fail(s, "nothing stands before it that could hold them");
        add_parameters(s);
        return {value(s, 0)};
    }
    fail(s, "its kind is not known");
  }

  LayerBuilder& b_;
  std::map<std::string, TensorIndex> values_;
  const BlockSpec* block_;
};

}  // namespace

TensorIndex add_steps(LayerBuilder& b, const std::vector<StepSpec>& steps,
                      std::map<std::string, TensorIndex> values, const BlockSpec* block) {
  TensorIndex last = values.at("x");
  Steps made(b, std::move(values), block);
  for (const StepSpec& s : steps) last = made.add(s);
  return last;
}

}  // namespace nest::model
