#include "nest/model/onnx/model_text.hpp"

#include <algorithm>

#include "nest/model/blocks/step_words.hpp"
#include "nest/model/onnx/model_text_words.hpp"

namespace nest::model {
namespace {

Value shape_text(const Shape& shape) {
  Value out = Value::array();
  for (const Dim& d : shape) out.push(Value::array().push(name_of(d.axis)).push(d.size));
  return out;
}

Value made_text(const std::vector<StepSpec::Made>& made) {
  Value out = Value::object();
  for (const StepSpec::Made& m : made) out.set(m.name, shape_text(m.features));
  return out;
}

Value words_text(const std::vector<std::string>& words) {
  Value out = Value::array();
  for (const std::string& word : words) out.push(word);
  return out;
}

// What is as usual is left out.
Value step_text(const StepSpec& s) {
  Value out = Value::object();
  out.set(std::string(word_of(kStepKindWords, s.kind)), words_text(s.from)).set("name", s.name);
  out.set("to", made_text(s.to));
  if (!s.prefix.empty()) out.set("prefix", s.prefix);
  if (!s.parameters.empty()) out.set("parameters", made_text(s.parameters));
  if (s.bias) out.set("bias", true);
  if (s.tied) out.set("tied", true);
  if (s.shared) out.set("shared", true);
  if (s.whole) out.set("whole", true);
  if (s.span != 0) out.set("span", s.span);
  if (s.count != 1) out.set("count", s.count);
  if (s.window != 0) out.set("window", s.window);
  if (s.flops != 0) out.set("flops", s.flops);
  if (!s.causal) out.set("causal", false);
  if (s.kind == StepSpec::Kind::norm) out.set("kind", word_of(kNormWords, s.norm));
  if (s.kind == StepSpec::Kind::pass) out.set("kind", word_of(kStepPassWords, s.pass));
  if (s.kind == StepSpec::Kind::scan && s.kernel != ScanKernel::other)
    out.set("kind", word_of(kStepScanWords, s.kernel));
  return out;
}

Value steps_text(const std::vector<StepSpec>& steps) {
  Value out = Value::array();
  for (const StepSpec& s : steps) out.push(step_text(s));
  return out;
}

Value block_text(const BlockSpec& block) {
  Value out = Value::object();
  const AttentionSpec& a = block.attention;
  if (a.heads > 0) {
    Value attention = Value::object();
    attention.set("heads", a.heads).set("kv_heads", a.kv_heads).set("head_dim", a.head_dim);
    attention.set("value_dim", a.value_dim).set("causal", a.causal).set("window", a.window);
    out.set("attention", std::move(attention));
  }
  if (block.ffn.ffn > 0) out.set("ffn", block.ffn.ffn);
  out.set("norm", word_of(kNormWords, block.norm));
  if (block.cross) out.set("cross", true);
  if (block.experts) {
    const ExpertsSpec& e = *block.experts;
    Value experts = Value::object();
    experts.set("experts", e.experts).set("top_k", e.top_k).set("ffn", e.ffn);
    experts.set("router_bias", e.router_bias).set("expert_bias", e.expert_bias);
    experts.set("activation", word_of(kActivationWords, block.ffn.activation));
    out.set("experts", std::move(experts));
  }
  return out.set("steps", steps_text(block.steps));
}

Value stem_text(const StemSpec& stem) {
  Value out = Value::object();
  out.set("kind", word_of(kStemWords, stem.kind));
  if (stem.kind == StemSpec::Kind::tokens) {
    out.set("vocab", stem.vocab).set("width", stem.width).set("projected", stem.projected);
    out.set("own_table", stem.own_table).set("types", stem.types);
  } else {
    out.set("patch_values", stem.patch_values).set("patch_bias", stem.patch_bias);
    out.set("class_token", stem.class_token);
  }
  return out.set("positions", stem.positions).set("norm", stem.norm);
}

// Blocks with equal descriptions are written once.
Value stack_text(const StackSpec& stack) {
  std::vector<BlockSpec> kinds;
  Value kind_texts = Value::array();
  Value blocks = Value::array();
  Value shares = Value::array();
  bool any_shared = false;
  for (const BlockSpec& block : stack.blocks) {
    BlockSpec own = block;
    own.shares.reset();
    const auto known = std::ranges::find(kinds, own);
    blocks.push(known - kinds.begin());
    shares.push(block.shares ? Value(*block.shares) : Value());
    any_shared = any_shared || block.shares.has_value();
    if (known != kinds.end()) continue;
    kind_texts.push(block_text(own));
    kinds.push_back(std::move(own));
  }
  Value out = Value::object();
  out.set("prefix", stack.prefix).set("hidden", stack.hidden).set("sequence", stack.sequence);
  out.set("stem_sequence", stack.stem_sequence).set("norm", word_of(kNormWords, stack.norm));
  out.set("final_norm", stack.final_norm).set("stem", stem_text(stack.stem));
  out.set("entry", steps_text(stack.entry))
      .set("kinds", std::move(kind_texts))
      .set("blocks", std::move(blocks));
  if (any_shared) out.set("shares", std::move(shares));
  return out;
}

}  // namespace

Value model_text(const ModelSpec& spec) {
  Value out = Value::object();
  out.set("format", kModelTextFormat).set("version", 1).set("name", spec.name).set("family", spec.family);
  out.set("positions", spec.positions).set("default_sequence", spec.default_sequence);
  Value stacks = Value::array();
  for (const StackSpec& stack : spec.stacks) stacks.push(stack_text(stack));
  out.set("stacks", std::move(stacks));
  const HeadSpec& h = spec.head;
  Value head = Value::object();
  head.set("kind", word_of(kHeadWords, h.kind)).set("outputs", h.outputs).set("tied", h.tied);
  head.set("bias", h.bias).set("pooler", h.pooler).set("steps", steps_text(h.steps));
  return out.set("head", std::move(head));
}

bool is_model_text(const Value& root) {
  const Value* format = root.find("format");
  return format != nullptr && format->as_string() != nullptr && *format->as_string() == kModelTextFormat;
}

}  // namespace nest::model
