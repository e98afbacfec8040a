#include "nest/model/onnx/lower_model.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/units.hpp"
#include "nest/model/onnx/lower.hpp"
#include "nest/model/onnx/lower_stem.hpp"
#include "nest/model/onnx/step_shapes.hpp"

namespace nest::model {
namespace {

class ModelLowering {
 public:
  ModelLowering(const Flow& flow, const OnnxShapes& other, bool fixed, Warnings& warnings)
      : flow_(flow), axes_(flow, other), fixed_(fixed), warnings_(warnings), cut_(cut_flow(flow)) {}

  ModelSpec run() {
    for (std::size_t i = 0; i < cut_.size(); ++i) {
      const FlowStack& stack = cut_[i];
      axes_.name_hidden(axes_.width(stack.blocks.front().in));
      if (i + 1 == cut_.size()) name_logits(stack);
      StackSpec made = stack_of(stack, i);
      spec_.stacks.push_back(std::move(made));
    }
    lower_head(cut_.back());
    spec_.family = "onnx";
    spec_.details.special = onnx_special();
    set_lengths();
    return std::move(spec_);
  }

 private:
  // A product that makes the last value is the head: over the vocabulary where it has as many outputs.
  void name_logits(const FlowStack& stack) {
    if (stack.head.ops.empty() || flow_.outputs.size() != 1) return;
    // Soft caps and scales may follow.
    for (std::size_t i = stack.head.ops.size(); i-- > 0;) {
      const FlowOp& op = flow_.ops[stack.head.ops[i]];
      if (op.out.size() != 1 || (op.kind != FlowKind::product && op.kind != FlowKind::pass)) return;
      const bool vocabulary = table_rows() == 0 || axes_.width(op.out[0]) >= table_rows() / 2;
      axes_.name_vocabulary(op.out[0], vocabulary ? Axis::vocab : Axis::classes);
      if (op.kind == FlowKind::product) return;
    }
  }
  [[nodiscard]] std::int64_t table_rows() const {
    std::int64_t most = 0;
    for (const FlowOp& op : flow_.ops) {
      if (op.kind == FlowKind::lookup) most = std::max(most, op.weights[0].dims[0]);
    }
    return most;
  }

  StackSpec stack_of(const FlowStack& stack, std::size_t index) {
    const bool last = index + 1 == cut_.size();
    StackSpec out = lower_stem(flow_, axes_, stack.stem, weights_);
    if (index > 0 && out.stem.kind == StemSpec::Kind::tokens) own_table(stack, out);
    out.prefix = cut_.size() == 1 ? "layer" : last ? "decoder" : "encoder";
    out.hidden = axes_.width(stack.blocks.front().in);
    const FlowPositions p = axes_.positions(stack.blocks.front().in);
    out.sequence = p.first == p.second ? p.first : 0;
    set_stem_length(stack, out);
    for (const FlowLayer& block : stack.blocks) {
      if (axes_.width(block.in) == out.hidden && axes_.positions(block.in) == p) continue;
      throw InputError(
          flow_.graph().file, "",
          "its blocks differ in width or in the number of positions that they read, which is not modelled",
          "a model whose blocks all work on one residual stream can be planned");
    }
    std::map<std::set<std::size_t>, std::int64_t> matrices;
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      const bool end = i + 1 == stack.blocks.size();
      out.blocks.push_back(block_of(stack, i, end && (!last || head_is_norms(stack)), matrices));
    }
    out.final_norm = false;
    return out;
  }

  // Convolutions after the first one may leave fewer positions than it makes.
  void set_stem_length(const FlowStack& stack, StackSpec& out) const {
    if (out.stem.kind != StemSpec::Kind::patches) return;
    const FlowPositions before = axes_.positions(stem_result(flow_, stack.stem));
    const std::int64_t stem = before.first + (out.stem.class_token ? 1 : 0);
    if (stem == axes_.positions(stack.blocks.front().in).first) return;
    if (out.sequence == 0 || before.first != before.second) {
      throw InputError(
          flow_.graph().file, "",
          "its stem leaves another number of positions than it reads, of sequences of any length",
          "export the model with a fixed length");
    }
    out.stem_sequence = stem;
  }

  // A decoder reads the encoder's table, or one of its own.
  void own_table(const FlowStack& stack, StackSpec& out) const {
    for (const std::size_t i : stack.stem.ops) {
      const FlowOp& op = flow_.ops[i];
      if (op.kind == FlowKind::lookup) out.stem.own_table = op.weights[0].tensor != weights_.first_table;
    }
  }

  // What comes after the blocks and holds no product is part of the last one.
  [[nodiscard]] bool head_is_norms(const FlowStack& stack) const {
    return std::ranges::none_of(stack.head.ops, [&](std::size_t i) {
      const FlowKind kind = flow_.ops[i].kind;
      return kind == FlowKind::product || kind == FlowKind::convolution || kind == FlowKind::batched;
    });
  }

  BlockSpec block_of(const FlowStack& stack, std::size_t i, bool with_head,
                     std::map<std::set<std::size_t>, std::int64_t>& matrices) {
    FlowLayer layer = stack.blocks[i];
    if (with_head) {
      layer.ops.insert(layer.ops.end(), stack.head.ops.begin(), stack.head.ops.end());
      std::ranges::sort(layer.ops);
    }
    BlockSpec block;
    // The weights of an earlier block, all of them.
    std::set<std::size_t> own;
    for (const std::size_t op : layer.ops) {
      for (const FlowWeight& w : flow_.ops[op].weights) {
        if (w.dims.size() > 1) own.insert(w.tensor);
      }
    }
    const auto known = matrices.find(own);
    const bool shares = !own.empty() && known != matrices.end();
    if (shares) block.shares = known->second;
    if (!own.empty()) matrices.try_emplace(own, static_cast<std::int64_t>(i));
    FlowWeightUse again = weights_;
    if (shares) {
      for (const std::size_t w : own) again.seen.erase(w);
    }
    Lowering lowering(flow_, axes_, layer, stack.memory, shares ? again : weights_);
    block.steps = lowering.steps();
    if (lowering.experts()) {
      block.experts = lowering.experts();
      block.ffn.activation = lowering.activation();
    }
    if (stack.memory != kNoValue && reads_memory(layer, stack.memory)) block.cross = AttentionSpec{};
    describe(layer, block);
    return block;
  }

  [[nodiscard]] bool reads_memory(const FlowLayer& layer, OnnxValueId memory) const {
    return std::ranges::any_of(layer.ops, [&](std::size_t i) {
      return std::ranges::find(flow_.ops[i].in, memory) != flow_.ops[i].in.end();
    });
  }

  // What others ask of a block besides its steps.
  void describe(const FlowLayer& layer, BlockSpec& block) const {
    for (const std::size_t i : layer.ops) {
      const FlowOp& op = flow_.ops[i];
      if (op.kind == FlowKind::attention && block.attention.heads == 0) {
        block.attention.heads = op.attention.heads;
        block.attention.kv_heads = op.attention.kv_heads;
        block.attention.head_dim = op.attention.key_dim;
        block.attention.value_dim = op.attention.value_dim;
        block.attention.causal = op.attention.causal;
        block.attention.window = op.attention.window;
        block.attention.rotary = false;
      }
      if (op.kind == FlowKind::norm) block.norm = op.norm;
      if (op.kind == FlowKind::product && axes_.features(op.out[0]).front().axis == Axis::ffn)
        block.ffn.ffn = axes_.width(op.out[0]);
    }
  }

  void lower_head(const FlowStack& stack) {
    HeadSpec& head = spec_.head;
    head.kind = HeadSpec::Kind::none;
    if (stack.head.ops.empty() || head_is_norms(stack)) return;
    head.kind = HeadSpec::Kind::vocabulary;
    const FlowOp& last = flow_.ops[stack.head.ops.back()];
    head.outputs = axes_.width(last.out.empty() ? stack.head.in : last.out[0]);
    const auto product = std::find_if(stack.head.ops.rbegin(), stack.head.ops.rend(),
                                      [&](std::size_t i) { return flow_.ops[i].kind == FlowKind::product; });
    if (product != stack.head.ops.rend()) {
      const FlowOp& logits = flow_.ops[*product];
      head.tied = weights_.tables.contains(logits.weights[0].tensor);
      head.bias = logits.bias;
      warn_of_second_table(logits);
    }
    if (first_token(stack, head) || plain_head(stack, head)) return;
    Lowering lowering(flow_, axes_, stack.head, stack.memory, weights_);
    head.steps = lowering.steps();
  }

  // A norm and a product, as the usual head has them.
  bool plain_head(const FlowStack& stack, HeadSpec& head) {
    const std::vector<std::size_t>& ops = stack.head.ops;
    const FlowOp& last = flow_.ops[ops.back()];
    const bool product = last.kind == FlowKind::product && last.in.size() == 1 && last.out.size() == 1;
    const bool norm = ops.size() == 2 && flow_.ops[ops[0]].kind == FlowKind::norm;
    if (!product || ops.size() > 2 || (ops.size() == 2 && !norm)) return false;
    if (axes_.features(last.out[0]).front().axis != Axis::vocab ||
        last.contract != spec_.stacks.back().hidden)
      return false;
    if (norm && !set_final_norm(flow_.ops[ops[0]])) return false;
    head.outputs = axes_.width(last.out[0]);
    return true;
  }

  // The first token, perhaps after a norm, and a product over classes; or BERT's pooler.
  bool first_token(const FlowStack& stack, HeadSpec& head) {
    const std::vector<std::size_t>& ops = stack.head.ops;
    std::size_t at = 0;
    const auto kind = [&](std::size_t i) {
      return i < ops.size() ? flow_.ops[ops[i]].kind : FlowKind::source;
    };
    const bool norm = kind(0) == FlowKind::norm;
    if (norm) ++at;
    if (kind(at) != FlowKind::cut || kind(at + 1) != FlowKind::product) return false;
    const FlowOp& product = flow_.ops[ops[at + 1]];
    const FlowPositions p = axes_.positions(flow_.ops[ops[at]].out[0]);
    const bool one = p.first == 1 && p.second == 1 && product.in[0] == flow_.ops[ops[at]].out[0];
    if (!one || !product.bias || product.contract != spec_.stacks.back().hidden) return false;
    const bool pooler = ops.size() == at + 3 && kind(at + 2) == FlowKind::pass &&
                        flow_.ops[ops[at + 2]].pass == OperatorKind::tanh &&
                        axes_.width(product.out[0]) == product.contract;
    if (!pooler && ops.size() != at + 2) return false;
    if (norm && !set_final_norm(flow_.ops[ops[0]])) return false;
    head.kind = pooler ? HeadSpec::Kind::none : HeadSpec::Kind::classes;
    head.pooler = pooler;
    head.tied = false;
    head.outputs = axes_.width(product.out[0]);
    return true;
  }

  bool set_final_norm(const FlowOp& norm) {
    const bool one = norm.weights.empty() || norm.weights[0].dims.back() == spec_.stacks.back().hidden;
    StackSpec& stack = spec_.stacks.back();
    if (!one || (norm.norm == NormKind::rms && norm.weights.empty())) return false;
    if (stack.stem.norm && stack.norm != norm.norm) return false;
    stack.final_norm = true;
    stack.norm = norm.norm;
    return true;
  }

  // Exporters that turn the head's weight round before they write it lose that it is the token table.
  void warn_of_second_table(const FlowOp& head) {
    if (spec_.head.tied || weights_.seen.contains(head.weights[0].tensor)) return;
    const OnnxTensor& own = flow_.graph().tensors[head.weights[0].tensor];
    // A name that the exporter made up for a constant of its own: torch's newer one leaves tied tables as they are.
    const bool named = own.name.find("weight") != std::string::npos || own.name.starts_with("val_");
    for (const std::size_t t : weights_.tables) {
      const OnnxTensor& table = flow_.graph().tensors[t];
      const bool turned = own.dims.size() == 2 && table.dims.size() == 2 && own.dims[0] == table.dims[1] &&
                          own.dims[1] == table.dims[0];
      if (!turned || named) continue;
      warnings_.push_back(flow_.graph().file +
                          ": the head's weight has the shape of the token table turned round, and nothing "
                          "says whether they are one weight; they are counted as two (" +
                          format_digits(own.elements()) + " parameters each)");
    }
  }

  void set_lengths() {
    StackSpec& last = spec_.stacks.back();
    for (StackSpec& stack : spec_.stacks) {
      if (stack.stem.kind == StemSpec::Kind::tokens && stack.stem.positions > 0 && stack.sequence == 0)
        spec_.positions = stack.stem.positions;
    }
    if (!fixed_) return;
    spec_.default_sequence = last.sequence;
  }

  const Flow& flow_;
  FlowAxes axes_;
  bool fixed_;
  Warnings& warnings_;
  std::vector<FlowStack> cut_;
  FlowWeightUse weights_;
  ModelSpec spec_;
};

}  // namespace

ModelSpec lower_model(const Flow& flow, const OnnxShapes& other, bool fixed, Warnings& warnings) {
  return ModelLowering(flow, other, fixed, warnings).run();
}

}  // namespace nest::model
