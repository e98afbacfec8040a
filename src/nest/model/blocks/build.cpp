#include "nest/model/blocks/build.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/units.hpp"
#include "nest/model/blocks/blocks.hpp"
#include "nest/model/blocks/ends.hpp"
#include "nest/model/blocks/images.hpp"

namespace nest::model {
namespace {

// Whether tokens have learned positions, of which there are only so many rows.
bool has_position_table(const ModelSpec& spec) {
  return std::any_of(spec.stacks.begin(), spec.stacks.end(),
                     [](const StackSpec& s) { return s.sequence == 0 && s.stem.positions > 0; });
}

std::int64_t choose_sequence(const ModelSpec& spec, const BuildOptions& options) {
  const std::int64_t longest = spec.positions > 0 ? spec.positions : kDefaultLongestSequence;
  const std::int64_t usual =
      spec.default_sequence > 0 ? spec.default_sequence : std::min(longest, kDefaultLongestSequence);
  const std::int64_t sequence = options.sequence.value_or(usual);
  if (sequence < 1) {
    throw InputError("", "--sequence", std::to_string(sequence) + " is not a length", "it must be 1 or more");
  }
  const bool fixed = spec.stacks.size() == 1 && spec.stacks[0].sequence > 0;
  if (fixed && sequence != spec.stacks[0].sequence) {
    throw InputError("", "--sequence",
                     "the sequence of " + spec.name + " is " + std::to_string(spec.stacks[0].sequence) +
                         " by its image and patch sizes",
                     "leave --sequence out");
  }
  if (spec.positions > 0 && sequence > spec.positions && has_position_table(spec)) {
    throw InputError("", "--sequence",
                     std::to_string(sequence) + " is beyond the " + std::to_string(spec.positions) +
                         " positions of " + spec.name,
                     "use " + std::to_string(spec.positions) + " or less");
  }
  constexpr std::int64_t kLongest = 1 << 28;
  if (sequence > kLongest) {
    throw InputError("", "--sequence", std::to_string(sequence) + " is beyond any training run",
                     "use " + std::to_string(kLongest) + " or less");
  }
  return sequence;
}

// An encoder whose output a decoder reads: of the stacks that no tokens are made of, there are two.
bool has_memory(const ModelSpec& spec) {
  return std::count_if(spec.stacks.begin(), spec.stacks.end(),
                       [](const StackSpec& s) { return !s.to_tokens; }) == 2;
}

class Builder {
 public:
  Builder(const ModelSpec& spec, const BuildOptions& options) : spec_(spec), contents_(options.contents) {
    constexpr std::int64_t kLargestBatch = 1 << 20;
    if (options.micro_batch < 1 || options.micro_batch > kLargestBatch) {
      throw InputError("", "--micro-batch",
                       std::to_string(options.micro_batch) + " is not a micro-batch size",
                       "use 1 to " + std::to_string(kLargestBatch));
    }
    model_.name = spec.name;
    model_.family = spec.family;
    model_.micro_batch = options.micro_batch;
    model_.sequence = choose_sequence(spec, options);
    if (options.contents.lengths && has_memory(spec))
      throw InputError("", "--lengths",
                       "documents of different lengths are not modelled for " + spec.name +
                           ", which has an encoder and a decoder");
    if (options.contents.lengths)
      documents_ = std::make_shared<const Packing>(*options.contents.lengths, model_.sequence);
    model_.positions = spec.positions;
    model_.hidden = spec.stacks.back().hidden;
    mtp_ = options.mtp;
    style_ = {options.fused, options.flash, options.dropout, options.plain_norms, options.fused_loss};
    check_images(spec, options.contents, model_.sequence);
  }

  Model build() {
    const bool towers = spec_.head.kind == HeadSpec::Kind::contrast;
    const bool encoder_decoder = !towers && has_memory(spec_);
    std::vector<LayerId> ends;  // last layer of each stack
    std::optional<LayerId> memory;
    for (std::size_t i = 0; i < spec_.stacks.size(); ++i) {
      if (contents_.images == 0 && reads_images(spec_.stacks[i])) continue;  // text alone
      const bool encoder = encoder_decoder && i + 2 == spec_.stacks.size();
      const LayerId end = add_stack(i, encoder, memory, towers);
      if (spec_.stacks[i].to_tokens) {
        among_.push_back(end);
      } else if (encoder) {
        const LayerType& type = model_.type_of(end);
        memory = end;
        memory_ = type.tensor(type.outputs.front()).shape;
      } else {
        ends.push_back(end);
      }
    }
    if (mtp_ && spec_.mtp_layers > 0) add_mtp(ends);
    add_head(ends);
    tie();
    report_apart();
    check_totals();
    return std::move(model_);
  }

 private:
  LayerId add_layer(std::string name, std::size_t type, const std::vector<LayerId>& from) {
    const LayerId id(static_cast<std::int32_t>(model_.layers.size()));
    model_.layers.push_back({std::move(name), type});
    for (const LayerId f : from) {
      const LayerType& made_by = model_.type_of(f);
      model_.edges.push_back({f, id, model_.layers[f.index()].name + ".out", made_by.output_bytes()});
    }
    return id;
  }

  std::size_t add_block_type(LayerType type) {
    type.part = LayerPart::block;
    return add_type(std::move(type));
  }
  std::size_t add_type(LayerType type) {
    model_.types.push_back(std::move(type));
    return model_.types.size() - 1;
  }

  // Frameworks run towers on every rank that shares a sequence: Megatron-LM turns sequence and context parallelism
  // off for them. An encoder of images is one too.
  [[nodiscard]] bool is_tower(const StackSpec& stack) const {
    const bool read = spec_.head.kind != HeadSpec::Kind::contrast && spec_.stacks.size() > 1;
    return stack.to_tokens ||
           (read && stack.stem.kind == StemSpec::Kind::patches && &stack != &spec_.stacks.back());
  }

  Shape tokens_of(const StackSpec& stack) const {
    const std::int64_t length = stack.sequence > 0 ? stack.sequence : model_.sequence;
    const Axis axis = is_tower(stack) ? Axis::tower_sequence : Axis::sequence;
    return {{Axis::batch, model_.micro_batch}, {axis, length * stack.streams}};
  }
  Shape stem_tokens_of(const StackSpec& stack) const {
    Shape tokens = tokens_of(stack);
    if (stack.stem_sequence > 0) tokens[1].size = stack.stem_sequence;
    return tokens;
  }

  LayerId add_stack(std::size_t index, bool encoder, std::optional<LayerId> memory, bool towers) {
    const std::optional<ImageTower> tower = image_tower(spec_.stacks[index], contents_);
    const StackSpec& stack = tower ? tower->stack : spec_.stacks[index];
    style_.packed = tower ? tower->images : stack.sequence > 0 ? nullptr : documents_;
    // The second user of a token table holds a copy of the first one's.
    const bool shares_table =
        memory && encoder_of().stem.kind == StemSpec::Kind::tokens && !stack.stem.own_table;
    const std::string stem_name =
        towers || memory || stack.to_tokens ? stack.prefix + "_embedding" : std::string("embedding");
    std::vector<Shape> among;
    const std::vector<LayerId> from_towers =
        stack.to_tokens ? std::vector<LayerId>{} : std::exchange(among_, {});
    for (const LayerId id : from_towers) {
      const LayerType& type = model_.type_of(id);
      among.push_back(type.tensor(type.outputs.front()).shape);
    }
    LayerId at = add_layer(stem_name, add_type(stem_layer(stack, stem_tokens_of(stack), shares_table, among)),
                           from_towers);
    if (stack.stem.own_table) table_users_.clear();
    if (stack.stem.kind == StemSpec::Kind::tokens) table_users_.push_back(at);

    struct Built {
      const BlockSpec* block;
      bool last;
      std::size_t type;
    };
    std::vector<Built> built;
    std::vector<LayerId> made;
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      const BlockSpec& block = stack.blocks[i];
      const bool last = (encoder || stack.to_tokens) && stack.final_norm && i + 1 == stack.blocks.size();
      auto known = std::find_if(built.begin(), built.end(),
                                [&](const Built& b) { return b.last == last && *b.block == block; });
      if (known == built.end()) {
        built.push_back({&block, last, add_block_type(block_layer(stack, block, last))});
        known = built.end() - 1;
      }
      std::vector<LayerId> from{at};
      if (block.cross && memory) from.insert(from.begin(), *memory);
      at = add_layer(stack.prefix + std::to_string(i), known->type, from);
      made.push_back(at);
    }
    tie_shared(stack, made);
    if (stack.exit.empty()) return at;
    const LayerType& last = model_.type_of(at);
    const Shape hidden = last.tensor(last.outputs.front()).shape;
    return add_layer(stack.prefix + "_projector", add_type(exit_layer(stack, hidden, style_)), {at});
  }

  // Blocks that use one block's weights, with that block.
  void tie_shared(const StackSpec& stack, const std::vector<LayerId>& made) {
    std::map<std::size_t, TiedTensor> by_owner;
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      if (!stack.blocks[i].shares) continue;
      const auto owner = static_cast<std::size_t>(*stack.blocks[i].shares);
      const std::string name = stack.prefix + std::to_string(owner) + " weights";
      TiedTensor& tied = by_owner.try_emplace(owner, TiedTensor{name, {made[owner]}, 0}).first->second;
      tied.layers.push_back(made[i]);
      tied.parameters = model_.type_of(made[i]).shared_parameters();
    }
    for (auto& [owner, tied] : by_owner) model_.tied.push_back(std::move(tied));
  }

  [[nodiscard]] const StackSpec& encoder_of() const { return spec_.stacks[spec_.stacks.size() - 2]; }

  LayerType block_layer(const StackSpec& stack, const BlockSpec& block, bool norm_at_end) const {
    LayerBuilder b(block.experts ? stack.prefix + " with experts" : stack.prefix, style_);
    const Dim hidden{Axis::hidden, stack.hidden};
    std::optional<TensorIndex> memory;
    if (block.cross) {
      Shape source = memory_;
      if (source[1].axis == Axis::sequence) source[1].axis = Axis::source_sequence;
      memory = b.input("memory", source);
    }
    const TensorIndex x = b.input("hidden", join(tokens_of(stack), {hidden}));
    const std::size_t before = b.tensors();
    TensorIndex y = add_block(b, x, block, memory);
    const bool all_shared = block.shares && std::none_of(block.steps.begin(), block.steps.end(),
                                                         [](const StepSpec& s) { return s.shared; });
    if (all_shared) b.share_since(before);
    if (norm_at_end) y = b.norm("final_norm", y, stack.norm);
    return b.finish({y});
  }

  void add_mtp(std::vector<LayerId>& ends) {
    const StackSpec& stack = spec_.stacks.back();
    const LayerId trunk = ends.back();
    const std::size_t type = add_type(mtp_layer(spec_, tokens_of(stack), style_));
    LayerId at = trunk;
    for (std::int64_t i = 0; i < spec_.mtp_layers; ++i) {
      at = add_layer("mtp" + std::to_string(i), type, {at});
      ends.push_back(at);
      table_users_.push_back(at);
    }
  }

  void add_head(const std::vector<LayerId>& ends) {
    if (spec_.head.kind == HeadSpec::Kind::none && !spec_.head.pooler) return;
    std::vector<Shape> inputs;
    for (const LayerId id : ends) {
      const LayerType& type = model_.type_of(id);
      inputs.push_back(type.tensor(type.outputs.front()).shape);
    }
    const LayerId head = add_layer("head", add_type(head_layer(spec_, inputs, style_.fused_loss)), ends);
    const bool vocabulary =
        spec_.head.kind == HeadSpec::Kind::vocabulary || spec_.head.kind == HeadSpec::Kind::masked;
    if (vocabulary && spec_.head.tied) table_users_.push_back(head);
  }

  // Two towers have a table at most in one of them: a table is tied only where several layers read the same
  // one.
  void tie() {
    if (table_users_.size() < 2 || spec_.head.kind == HeadSpec::Kind::contrast) return;
    const auto first = std::find_if(spec_.stacks.begin(), spec_.stacks.end(),
                                    [](const StackSpec& s) { return s.stem.kind == StemSpec::Kind::tokens; });
    if (first == spec_.stacks.end()) return;
    const StemSpec& last = spec_.stacks.back().stem;
    const StemSpec& stem = last.own_table ? last : first->stem;
    const std::int64_t width = stem.width > 0 ? stem.width : spec_.stacks.back().hidden;
    model_.tied.push_back({"token_embedding", table_users_, stem.vocab * width});
  }

  void report_apart() {
    const bool masked = spec_.head.kind == HeadSpec::Kind::masked;
    if (masked)
      model_.apart.push_back({"mlm head", model_.types[model_.layers.back().type].apart_parameters(), true});
    if (spec_.mtp_layers > 0) {
      const StackSpec& stack = spec_.stacks.back();
      const std::int64_t one = mtp_layer(spec_, tokens_of(stack), style_).apart_parameters();
      model_.apart.push_back({"mtp", one * spec_.mtp_layers, mtp_});
    }
  }

  void check_totals() const {
    std::int64_t parameters = 0;
    double bytes = 0;
    std::vector<double> of_type;
    of_type.reserve(model_.types.size());
    for (const LayerType& type : model_.types) of_type.push_back(made_bytes(type));
    for (const Layer& layer : model_.layers) {
      const LayerType& type = model_.types[layer.type];
      parameters = plus(parameters, plus(type.parameters(), type.apart_parameters()));
      bytes += of_type[layer.type];
    }
    if (parameters > kMostModelParameters) {
      throw TooLarge("the model would have " + format_digits(parameters) + " parameters, more than " +
                     format_digits(kMostModelParameters));
    }
    if (bytes > static_cast<double>(kMostMicroBatchBytes)) {
      throw TooLarge("one micro-batch would make more than " + format_digits(kMostMicroBatchBytes) +
                     " bytes of activations");
    }
  }

  static double made_bytes(const LayerType& type) {
    double sum = 0;
    for (const Tensor& t : type.tensors) {
      if (t.role == Role::input || t.role == Role::activation) sum += static_cast<double>(t.bytes().value);
    }
    return sum;
  }

  const ModelSpec& spec_;
  const Contents& contents_;
  std::shared_ptr<const Packing> documents_;
  Model model_;
  bool mtp_ = false;
  LayerStyle style_;
  std::vector<LayerId> table_users_;
  Shape memory_;                // what blocks with cross-attention read
  std::vector<LayerId> among_;  // ends of the towers whose results stand among the next stack's tokens
};

}  // namespace

std::string beyond_positions(const ModelSpec& spec, std::int64_t sequence) {
  if (spec.positions == 0 || sequence <= spec.positions) return "";
  return "sequences of " + format_digits(sequence) + " tokens are beyond the " +
         format_digits(spec.positions) + " positions of " + spec.name;
}

Model build_model(const ModelSpec& spec, const BuildOptions& options) {
  try {
    return Builder(spec, options).build();
  } catch (const TooLarge& e) {
    // The sizes of the model were looked at when it was read (size_problem).
    const bool batch = options.micro_batch > 1;
    throw InputError("", batch ? "--micro-batch" : "--sequence", e.problem(), "use a smaller one");
  }
}

std::string size_problem(const ModelSpec& spec) {
  const bool fixed = spec.stacks.size() == 1 && spec.stacks[0].sequence > 0;
  BuildOptions least;
  if (!fixed) least.sequence = 1;
  least.mtp = true;
  try {
    static_cast<void>(Builder(spec, least).build());
  } catch (const TooLarge& e) {
    return e.problem();
  }
  return "";
}

}  // namespace nest::model
