#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "nest/model/blocks/step_words.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "nest/model/onnx/model_text_words.hpp"
#include "nest/model/onnx/step_shapes.hpp"

namespace nest::model {
namespace {

constexpr WholeRange kSizes{1, 1'000'000'000'000};
constexpr WholeRange kCounts{0, 1'000'000'000'000};
constexpr WholeRange kWindows{0, std::int64_t{1} << 40U};
constexpr WholeRange kFlops{0, 100'000'000'000'000'000};
constexpr std::size_t kMostBlocks = 10'000;
constexpr std::size_t kMostSteps = 100'000;  // of one list, and of all blocks together

std::optional<Axis> axis_of(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(Axis::other); ++i) {
    if (name_of(static_cast<Axis>(i)) == word) return static_cast<Axis>(i);
  }
  return std::nullopt;
}

Shape read_shape(const Reader& r, const std::string& key, const Value& text) {
  Shape out;
  const auto* axes = text.as_array();
  if (axes == nullptr) r.fail_at(key, "a shape is a list of axes with their sizes");
  double all = 1;
  for (const Value& axis : *axes) {
    const auto* pair = axis.as_array();
    const bool two = pair != nullptr && pair->size() == 2 && (*pair)[0].as_string() != nullptr &&
                     (*pair)[1].as_int() != nullptr;
    const auto known = two ? axis_of(*(*pair)[0].as_string()) : std::nullopt;
    const std::int64_t size = two ? *(*pair)[1].as_int() : 0;
    if (!known || size < 1 || size > kSizes.most)
      r.fail_at(key, "an axis is a name with its size: [\"heads\", 16]");
    out.push_back({*known, size});
    all *= static_cast<double>(size);
  }
  if (all > 1e15) r.fail_at(key, "a shape has more than 10^15 elements");
  return out;
}

std::vector<StepSpec::Made> read_made(Reader& r, const std::string& key) {
  std::vector<StepSpec::Made> out;
  if (!r.has(key)) return out;
  Reader group = r.object(key);
  for (const std::string& name : group.keys())
    out.push_back({name, read_shape(group, name, *group.find(name))});
  return out;
}

std::vector<std::string> read_words(const Reader& r, const std::string& key, const Value& text) {
  std::vector<std::string> out;
  const auto* list = text.as_array();
  if (list == nullptr) r.fail_at(key, "a list of names is expected");
  for (const Value& one : *list) {
    if (one.as_string() == nullptr) r.fail_at(key, "a list of names is expected");
    out.push_back(*one.as_string());
  }
  return out;
}

StepSpec read_step(Reader r) {
  StepSpec s;
  const StepKindWord* found = nullptr;
  for (const StepKindWord& row : kStepKindWords) {
    const std::string word(row.word);
    if (found != nullptr || !r.has(word)) continue;
    found = &row;
    s.from = read_words(r, word, *r.find(word));
  }
  if (found == nullptr) r.fail("a step of no kind that is known");
  s.kind = found->kind;
  const auto lies_within = [&](StepSpec::Kind kind) { return s.kind == kind; };
  if (lies_within(StepSpec::Kind::mixer) || lies_within(StepSpec::Kind::dense) ||
      lies_within(StepSpec::Kind::cross))
    r.fail("a step that stands for parts which such a model does not describe");
  s.name = r.text("name");
  s.prefix = r.text_or("prefix", "");
  s.to = read_made(r, "to");
  s.parameters = read_made(r, "parameters");
  s.bias = r.boolean_or("bias", false);
  s.tied = r.boolean_or("tied", false);
  s.shared = r.boolean_or("shared", false);
  s.whole = r.boolean_or("whole", false);
  s.span = r.whole_or("span", 0, {0, 8});
  s.count = r.whole_or("count", 1, kSizes);
  s.window = r.whole_or("window", 0, kWindows);
  s.flops = r.whole_or("flops", 0, kFlops);
  s.causal = r.boolean_or("causal", true);
  if (s.kind == StepSpec::Kind::norm) s.norm = kind_of_word(r, "kind", kNormWords);
  if (s.kind == StepSpec::Kind::pass) s.pass = kind_of_word(r, "kind", kStepPassWords);
  if (s.kind == StepSpec::Kind::scan && r.has("kind")) s.kernel = kind_of_word(r, "kind", kStepScanWords);
  r.done();
  return s;
}

// Steps whose values are there and have the shapes that their kinds need.
std::vector<StepSpec> read_steps(Reader& r, const std::string& key, StepShapes shapes) {
  std::vector<StepSpec> out;
  if (!r.has(key)) return out;
  for (Reader& step : r.objects(key)) {
    out.push_back(read_step(step));
    if (out.size() > kMostSteps) r.fail_at(key, "more than 100,000 steps");
    const std::string wrong = shapes.add(out.back());
    if (!wrong.empty()) step.fail(wrong);
    // Ten thousand blocks of such can still be counted.
    if (shapes.weights() > 1e13) step.fail("the weights so far have more than 10^13 elements");
  }
  return out;
}

BlockSpec read_block(Reader r, const StackSpec& stack, bool memory, std::int64_t memory_width) {
  BlockSpec block;
  if (auto a = r.object_if("attention")) {
    block.attention.heads = a->whole("heads", kSizes);
    block.attention.kv_heads = a->whole("kv_heads", kSizes);
    block.attention.head_dim = a->whole("head_dim", kSizes);
    block.attention.value_dim = a->whole("value_dim", kSizes);
    block.attention.causal = a->boolean_or("causal", true);
    block.attention.window = a->whole_or("window", 0, kWindows);
    block.attention.rotary = false;
    a->done();
  }
  block.ffn.ffn = r.whole_or("ffn", 0, kCounts);
  block.norm = kind_of_word(r, "norm", kNormWords);
  if (r.boolean_or("cross", false)) block.cross = AttentionSpec{};
  if (block.cross && !memory) r.fail_at("cross", "no stack before it has a result that it could read");
  if (auto e = r.object_if("experts")) {
    ExpertsSpec experts;
    experts.experts = e->whole("experts", {1, 1'000'000});
    experts.top_k = e->whole("top_k", {1, experts.experts});
    experts.ffn = e->whole("ffn", {1, 1'000'000'000});
    experts.router_bias = e->boolean_or("router_bias", false);
    experts.expert_bias = e->boolean_or("expert_bias", false);
    block.ffn.activation = kind_of_word(*e, "activation", kActivationWords);
    e->done();
    block.experts = experts;
  }
  StepShapes shapes(stack.hidden, block.experts.has_value());
  if (block.cross) shapes.set("memory", {{Axis::hidden, memory_width}});
  block.steps = read_steps(r, "steps", std::move(shapes));
  if (block.steps.empty()) r.fail("a block has no steps");
  r.done();
  return block;
}

StemSpec read_stem(Reader r) {
  StemSpec stem;
  stem.kind = kind_of_word(r, "kind", kStemWords);
  if (stem.kind == StemSpec::Kind::tokens) {
    stem.vocab = r.whole("vocab", kSizes);
    stem.width = r.whole_or("width", 0, kCounts);
    stem.projected = r.boolean_or("projected", true);
    stem.own_table = r.boolean_or("own_table", false);
    stem.types = r.whole_or("types", 0, kCounts);
  } else {
    stem.patch_values = r.whole("patch_values", kSizes);
    stem.patch_bias = r.boolean_or("patch_bias", true);
    stem.class_token = r.boolean_or("class_token", false);
  }
  stem.positions = r.whole_or("positions", 0, kCounts);
  stem.norm = r.boolean_or("norm", false);
  r.done();
  return stem;
}

StackSpec read_stack(Reader r, std::optional<std::int64_t> memory_width) {
  StackSpec stack;
  stack.prefix = r.text("prefix");
  stack.hidden = r.whole("hidden", kSizes);
  stack.sequence = r.whole_or("sequence", 0, {0, 1 << 28});
  stack.stem_sequence = r.whole_or("stem_sequence", 0, {0, 1 << 28});
  stack.norm = kind_of_word(r, "norm", kNormWords);
  stack.final_norm = r.boolean_or("final_norm", false);
  stack.stem = read_stem(r.object("stem"));
  const std::int64_t entry = stack.stem.width > 0 && !stack.stem.projected ? stack.stem.width : stack.hidden;
  stack.entry = read_steps(r, "entry", StepShapes(entry, false));
  std::vector<BlockSpec> kinds;
  for (Reader& kind : r.objects("kinds"))
    kinds.push_back(read_block(kind, stack, memory_width.has_value(), memory_width.value_or(1)));
  const std::vector<std::int64_t> blocks = r.wholes("blocks", {0, std::ssize(kinds) - 1});
  if (blocks.empty() || blocks.size() > kMostBlocks) r.fail_at("blocks", "1 to 10,000 blocks are expected");
  const Value* shares = r.find("shares");
  const auto* list = shares == nullptr ? nullptr : shares->as_array();
  if (shares != nullptr && (list == nullptr || list->size() != blocks.size()))
    r.fail_at("shares", "a number, or nothing, for each block is expected");
  // A short text can ask for long lists: each block has the steps of its kind again.
  std::size_t steps = 0;
  for (const std::int64_t kind : blocks) steps += kinds[static_cast<std::size_t>(kind)].steps.size();
  if (steps > kMostSteps) r.fail_at("blocks", "the blocks have more than 100,000 steps together");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    stack.blocks.push_back(kinds[static_cast<std::size_t>(blocks[i])]);
    if (list == nullptr || (*list)[i].is_null()) continue;
    const std::int64_t* owner = (*list)[i].as_int();
    if (owner == nullptr || *owner < 0 || std::cmp_greater_equal(*owner, i))
      r.fail_at("shares", "a block shares the weights of one before it");
    stack.blocks.back().shares = *owner;
  }
  r.done();
  return stack;
}

}  // namespace

ModelSpec read_model_text(const Document& document) {
  Reader r(document);
  static_cast<void>(r.text("format"));
  static_cast<void>(r.whole("version", {1, 1}));
  ModelSpec spec;
  spec.name = r.text("name");
  spec.family = r.text("family");
  spec.positions = r.whole_or("positions", 0, {0, 1 << 28});
  spec.default_sequence = r.whole_or("default_sequence", 0, {0, 1 << 28});
  static_cast<void>(r.text_or("_name_or_path", ""));
  std::vector<Reader> stacks = r.objects("stacks");
  if (stacks.empty() || stacks.size() > 2)
    r.fail_at("stacks", "one stack, or an encoder and a decoder, are expected");
  for (Reader& stack : stacks) {
    const bool second = !spec.stacks.empty();
    spec.stacks.push_back(
        read_stack(stack, second ? std::optional(spec.stacks.front().hidden) : std::nullopt));
  }
  Reader head = r.object("head");
  spec.head.kind = kind_of_word(head, "kind", kHeadWords);
  spec.head.outputs = head.whole_or("outputs", 0, kCounts);
  spec.head.tied = head.boolean_or("tied", false);
  spec.head.bias = head.boolean_or("bias", false);
  spec.head.pooler = head.boolean_or("pooler", false);
  spec.head.steps = read_steps(head, "steps", StepShapes(spec.stacks.back().hidden, false));
  if (spec.head.kind != HeadSpec::Kind::none && spec.head.outputs < 1)
    head.fail_at("outputs", "it has no size");
  const bool tied = spec.head.tied && spec.stacks.front().stem.kind != StemSpec::Kind::tokens &&
                    spec.stacks.back().stem.kind != StemSpec::Kind::tokens;
  if (tied) head.fail_at("tied", "there is no token table that it could be");
  head.done();
  r.done();
  spec.details.special = onnx_special();
  return spec;
}

}  // namespace nest::model
