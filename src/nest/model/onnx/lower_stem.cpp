#include "nest/model/onnx/lower_stem.hpp"

#include <algorithm>

#include "nest/base/error.hpp"

namespace nest::model {
namespace {

class StemLowering {
 public:
  StemLowering(const Flow& flow, const FlowAxes& axes, const FlowLayer& layer, FlowWeightUse& weights)
      : flow_(flow), axes_(axes), layer_(layer), weights_(weights) {}

  StackSpec run() {
    const std::size_t first = layer_.ops.front();
    const FlowOp& op = flow_.ops[first];
    done_.insert(first);
    at_ = op.out[0];
    if (op.kind == FlowKind::lookup)
      tokens(op);
    else if (op.kind == FlowKind::source)
      patches();
    else
      fail("it begins neither with a table of tokens nor with real numbers");
    take_additions();
    take_norm();
    const std::int64_t width = axes_.width(at_);
    Lowering lowering(flow_, axes_, layer_, kNoValue, weights_);
    lowering.begin_with(at_);
    stack_.entry = lowering.steps(done_);
    if (stack_.stem.kind == StemSpec::Kind::tokens && width != axes_.width(layer_.out)) {
      stack_.stem.width = width;
      stack_.stem.projected = false;
    } else if (stack_.stem.kind == StemSpec::Kind::patches && width != axes_.width(layer_.out)) {
      fail("its patches are not as wide as its blocks");
    }
    return std::move(stack_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(flow_.graph().file, "", what,
                     "export the model with input_ids or pixel_values as its inputs");
  }

  void tokens(const FlowOp& op) {
    const FlowWeight& table = op.weights[0];
    stack_.stem.kind = StemSpec::Kind::tokens;
    stack_.stem.vocab = table.dims[0];
    if (weights_.tables.empty()) weights_.first_table = table.tensor;
    weights_.tables.insert(table.tensor);
    weights_.seen.insert(table.tensor);
    if (op.op != "EmbedLayerNormalization") return;
    // com.microsoft's has the other tables and the norm in it.
    int tables = 0;
    for (std::size_t i = 1; i < op.weights.size(); ++i) {
      const OnnxShape& dims = op.weights[i].dims;
      if (dims.size() == 2) (tables++ == 0 ? stack_.stem.positions : stack_.stem.types) = dims[0];
    }
    stack_.stem.norm = true;
    stack_.norm = NormKind::layer;
  }

  // A convolution over an image, or a product over vectors that come in.
  void patches() {
    stack_.stem.kind = StemSpec::Kind::patches;
    const FlowOp* user = nullptr;
    std::size_t at = 0;
    for (const std::size_t i : layer_.ops) {
      const FlowOp& op = flow_.ops[i];
      if (op.in.size() == 1 && op.in[0] == at_ && !done_.contains(i)) {
        user = &op;
        at = i;
        break;
      }
    }
    const bool known = user != nullptr && user->out.size() == 1 &&
                       (user->kind == FlowKind::convolution || user->kind == FlowKind::product);
    if (!known) fail("what comes in goes through no product at first");
    stack_.stem.patch_values = user->contract;
    stack_.stem.patch_bias = user->bias;
    weights_.seen.insert(user->weights[0].tensor);
    done_.insert(at);
    at_ = user->out[0];
    take_class_token();
  }

  // The operator that alone goes on from here, where it is of this kind.
  [[nodiscard]] const FlowOp* next(FlowKind kind, std::size_t& index) const {
    const std::vector<std::uint32_t>& users = flow_.users(at_);
    if (users.size() != 1 || !std::ranges::binary_search(layer_.ops, users[0])) return nullptr;
    const FlowOp& op = flow_.ops[users[0]];
    index = users[0];
    return op.kind == kind && op.in.size() == 1 && op.out.size() == 1 ? &op : nullptr;
  }

  void take_class_token() {
    std::size_t index = 0;
    const FlowOp* join = next(FlowKind::join, index);
    if (join == nullptr || join->weights.size() != 1) return;
    const FlowPositions before = axes_.positions(at_);
    const FlowPositions after = axes_.positions(join->out[0]);
    const bool one = after.first == before.first + 1 && after.second == before.second + 1;
    if (!one || axes_.width(join->out[0]) != axes_.width(at_) ||
        elements_of(join->weights[0].dims) != axes_.width(at_))
      return;
    stack_.stem.class_token = true;
    done_.insert(index);
    at_ = join->out[0];
  }

  // Tables of positions and of token types, by row or already picked.
  void take_additions() {
    std::size_t index = 0;
    while (true) {
      if (const FlowOp* add = next(FlowKind::pass, index)) {
        const bool sums = add->op == "Add" && add->parts.size() == 1 && !add->weights.empty();
        if (!sums || !take_tables(*add)) return;
        done_.insert(index);
        at_ = add->out[0];
      } else if (!take_lookup()) {
        return;
      }
    }
  }

  // A table whose rows are picked by the tokens, such as RoBERTa's positions, which count the tokens that are no filling.
  bool take_lookup() {
    const std::vector<std::uint32_t>& users = flow_.users(at_);
    if (users.size() != 1 || std::ranges::find(layer_.ops, users[0]) == layer_.ops.end()) return false;
    const FlowOp& add = flow_.ops[users[0]];
    if (add.kind != FlowKind::add || add.in.size() != 2 || add.out.size() != 1) return false;
    const OnnxValueId other = add.in[0] == at_ ? add.in[1] : add.in[0];
    const auto made = std::ranges::find_if(layer_.ops, [&](std::size_t i) {
      const FlowOp& op = flow_.ops[i];
      return op.kind == FlowKind::lookup && op.out[0] == other && !done_.contains(i);
    });
    if (made == layer_.ops.end() || flow_.users(other).size() != 1 || !take_tables(flow_.ops[*made]))
      return false;
    done_.insert(*made);
    done_.insert(users[0]);
    at_ = add.out[0];
    return true;
  }

  bool take_tables(const FlowOp& add) {
    StemSpec stem = stack_.stem;
    for (const FlowWeight& w : add.weights) {
      const std::int64_t width = axes_.width(at_);
      const std::int64_t rows = elements_of(w.dims) / width;
      if (w.dims.empty() || w.dims.back() != width || rows < 1 || !weights_.seen.insert(w.tensor).second)
        return false;
      const std::string& name = flow_.graph().tensors[w.tensor].name;
      const bool types =
          stem.kind == StemSpec::Kind::tokens && (name.find("type") != std::string::npos || rows == 2);
      std::int64_t& place = types ? stem.types : stem.positions;
      if (place > 0) return false;
      place = rows;
    }
    stack_.stem = stem;
    return true;
  }

  void take_norm() {
    std::size_t index = 0;
    const FlowOp* norm = next(FlowKind::norm, index);
    const bool usual = norm != nullptr && !norm->weights.empty() && !stack_.stem.norm &&
                       norm->weights[0].dims.back() == axes_.width(at_) &&
                       axes_.width(at_) == axes_.width(layer_.out);
    if (!usual) return;
    stack_.stem.norm = true;
    stack_.norm = norm->norm;
    done_.insert(index);
    at_ = norm->out[0];
  }

  const Flow& flow_;
  const FlowAxes& axes_;
  const FlowLayer& layer_;
  FlowWeightUse& weights_;
  StackSpec stack_;
  OnnxValueId at_ = kNoValue;
  std::set<std::size_t> done_;
};

}  // namespace

OnnxValueId stem_result(const Flow& flow, const FlowLayer& layer) {
  for (const std::size_t i : layer.ops) {
    const FlowOp& op = flow.ops[i];
    if (op.kind == FlowKind::convolution || op.kind == FlowKind::product) return op.out[0];
  }
  return layer.out;
}

StackSpec lower_stem(const Flow& flow, const FlowAxes& axes, const FlowLayer& layer, FlowWeightUse& weights) {
  return StemLowering(flow, axes, layer, weights).run();
}

}  // namespace nest::model
