#include "nest/model/tuned_model.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/model/adapters.hpp"

namespace nest::model {
namespace {

constexpr std::string_view kRouter = "router";
constexpr std::string_view kEmbedding = "embedding";
constexpr std::string_view kProjector = "projector";
constexpr std::string_view kHead = "head";
constexpr std::string_view kBlocks = "layers ";

// "vision12" is block 12 of the stack "vision"; ends have no number.
struct Place {
  std::string stack;
  std::optional<std::int64_t> block;
};

Place place_of(const std::string& name, bool is_block) {
  std::size_t digits = name.size();
  while (is_block && digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
  if (digits < name.size()) return {name.substr(0, digits), std::stoll(name.substr(digits))};
  const std::size_t end = name.rfind('_');
  return {end == std::string::npos ? "" : name.substr(0, end), std::nullopt};
}

// What is done to one layer.
struct Change {
  bool trained = true;  // its own weights
  bool adapters = false;
  bool router = false;  // its router alone stays as it is
  bool table = false;   // the weights that others share are frozen
  std::vector<bool> frozen_inputs;

  auto operator<=>(const Change&) const = default;
};

class Tuner {
 public:
  Tuner(Model model, const Tuning& tuning) : model_(std::move(model)), tuning_(&tuning) {
    for (const Layer& layer : model_.layers)
      places_.push_back(place_of(layer.name, type_of(layer).is_block()));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].block) last_block_ = i;
    }
  }

  Model run() {
    choose();
    freeze();
    freeze_ties();
    const std::vector<LayerType> whole = std::exchange(model_.types, {});
    std::int64_t adapters = 0;
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      Layer& layer = model_.layers[i];
      changes_[i].frozen_inputs = frozen_inputs(i);
      const auto [at, made] = made_.try_emplace({layer.type, changes_[i]}, model_.types.size());
      if (made) model_.types.push_back(changed(whole[layer.type], changes_[i]));
      layer.type = at->second;
      const LayerType& own = model_.types[layer.type];
      adapters += changes_[i].adapters ? own.apart_parameters() : 0;
      const bool frozen = own.outputs.empty() || own.tensor(own.outputs.front()).frozen;
      for (Edge& edge : model_.edges) {
        if (edge.from.index() == i) edge.frozen = frozen;
      }
    }
    check();
    if (adapters > 0) model_.apart.push_back({"adapters", adapters, true});
    return std::move(model_);
  }

 private:
  [[nodiscard]] const LayerType& type_of(const Layer& layer) const { return model_.types[layer.type]; }
  [[nodiscard]] const Place& last_block() const { return places_[last_block_]; }

  // Blocks of the last stack are what numbers count.
  [[nodiscard]] bool in_range(std::size_t i, const BlockRange& range) const {
    if (places_[i].block) return places_[i].stack == last_block().stack && range.has(*places_[i].block);
    return !range.last && i > last_block_;
  }

  void check_range(const BlockRange& range, const char* option) const {
    const std::int64_t most = last_block().block.value_or(0);
    if (range.first > most || range.last.value_or(most) > most) {
      throw InputError("", option,
                       model_.name + " has the layers 0 to " + std::to_string(most) + ", not " + spell(range),
                       "try 'layers " + std::to_string(most / 2) + "..'");
    }
  }

  void choose() {
    const bool all = tuning_->kind == Tuning::Kind::all;
    const bool lora = tuning_->kind == Tuning::Kind::lora;
    if (tuning_->kind == Tuning::Kind::layers) check_range(tuning_->layers, "--train");
    for (std::size_t i = 0; i < places_.size(); ++i) {
      Change& change = changes_.emplace_back();
      change.trained = all || (!lora && in_range(i, tuning_->layers));
      change.adapters = lora && places_[i].block.has_value();
    }
  }

  // Whether a word names a layer; none where it is no word for layers.
  [[nodiscard]] bool names(const std::string& word, std::size_t i) const {
    const std::string& name = model_.layers[i].name;
    if (word == kEmbedding) return name == kEmbedding || name.ends_with("_embedding");
    if (word == kProjector) return name.ends_with("_projector");
    if (word == kHead) return name == kHead;
    // A tower does not take its projector along, which is often what is trained.
    const std::string& stack = places_[i].stack;
    return !stack.empty() && stack.starts_with(word) && !name.ends_with("_projector");
  }

  void freeze() {
    for (const std::string& word : tuning_->freeze) {
      std::optional<BlockRange> range;
      if (word.starts_with(kBlocks)) range = read_block_range(std::string_view(word).substr(kBlocks.size()));
      if (range) check_range(*range, "--freeze");
      bool any = range.has_value();
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (word == kRouter) {
          changes_[i].router = true;
          any = any || has_router(type_of(model_.layers[i]));
        } else if (range ? in_range(i, *range) : names(word, i)) {
          changes_[i].trained = changes_[i].adapters = false;
          any = true;
        }
      }
      if (!any) refuse_part(word);
    }
  }

  static bool has_router(const LayerType& type) {
    return std::ranges::any_of(type.operators, [](const Operator& op) { return op.name == kRouter; });
  }

  [[noreturn]] void refuse_part(const std::string& word) const {
    std::set<std::string> known;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (const std::string_view part : {kEmbedding, kProjector, kHead}) {
        if (names(std::string(part), i)) known.emplace(part);
      }
      if (places_[i].block) known.insert(places_[i].stack);
      if (has_router(type_of(model_.layers[i]))) known.emplace(kRouter);
    }
    const std::vector<std::string> list(known.begin(), known.end());
    const std::string guess = did_you_mean(word, list);
    throw InputError("", "--freeze", model_.name + " has no part '" + word + "'",
                     guess.empty() ? "its parts are " + list_words(list) + ", and 'layers 0..11'" : guess);
  }

  // A weight that several layers use stays as it is where one of them does.
  void freeze_ties() {
    for (TiedTensor& tied : model_.tied) {
      tied.frozen =
          std::ranges::any_of(tied.layers, [&](LayerId id) { return !changes_[id.index()].trained; });
      if (!tied.frozen) continue;
      for (const LayerId id : tied.layers) changes_[id.index()].table = true;
    }
  }

  // Of what comes over edges, in their order.
  [[nodiscard]] std::vector<bool> frozen_inputs(std::size_t i) const {
    std::vector<bool> frozen;
    for (const Edge& edge : model_.edges) {
      if (edge.to.index() == i) frozen.push_back(edge.frozen);
    }
    return frozen;
  }

  LayerType changed(LayerType type, const Change& change) {
    if (change.adapters) {
      collect_targets(type);
      add_adapters(type, tuning_->rank, tuning_->targets, found_);
    }
    const bool shares_blocks = type.is_block();
    for (Operator& op : type.operators) {
      const bool product = op.kind == OperatorKind::matmul || op.kind == OperatorKind::grouped_matmul;
      for (const TensorIndex p : op.parameters) {
        Tensor& weight = type.tensors[p];
        const bool adapter = change.adapters && weight.apart;
        const bool shared =
            weight.role == Role::shared || shares_blocks || weight.shape.front().axis == Axis::vocab;
        weight.frozen = !adapter && (!change.trained || (change.router && op.name == kRouter) ||
                                     (change.table && shared));
        if (weight.frozen && product && type.is_block() && tuning_->frozen_bits < 16)
          weight.packed_bits = tuning_->frozen_bits;
      }
    }
    // What comes over no edge is data.
    for (Tensor& tensor : type.tensors) tensor.frozen = tensor.frozen || tensor.role == Role::input;
    for (std::size_t k = 0; k < type.inputs.size(); ++k)
      type.tensors[type.inputs[k]].frozen = change.frozen_inputs[k];
    for (Operator& op : type.operators) {
      const bool passes = type.passes_gradients(op);
      const bool trains = !op.parameters.empty() && type.trains(op);
      const bool product = op.kind == OperatorKind::matmul || op.kind == OperatorKind::grouped_matmul;
      for (const TensorIndex out : op.outputs) type.tensors[out].frozen = !passes && !trains;
      // A product needs its input for the gradient of its weight alone.
      if ((!passes && !trains) || (product && !trains)) op.keeps.clear();
      any_trained_ = any_trained_ || trains;
    }
    return type;
  }

  void check() const {
    if (tuning_->kind == Tuning::Kind::lora) check_targets();
    if (!any_trained_) throw InputError("", "--freeze", "nothing of " + model_.name + " is left to train");
  }

  void check_targets() const {
    if (found_.twice) {
      throw InputError("", "--train",
                       "'" + found_.twice->first + "' and '" + found_.twice->second +
                           "' both have the product '" + found_.twice->product + "'",
                       "leave one of them out");
    }
    for (const std::string& target : tuning_->targets) {
      if (found_.found.contains(target)) continue;
      if (known_.empty()) {
        throw InputError("", "--freeze", "no block of " + model_.name + " is left for adapters",
                         "leave some of its layers out");
      }
      std::string hint = did_you_mean(target, known_);
      if (hint.empty()) {
        constexpr std::size_t kShown = 6;
        const std::vector<std::string> shown(
            known_.begin(), known_.begin() + static_cast<std::ptrdiff_t>(std::min(known_.size(), kShown)));
        hint = "it has " + list_words(shown) + "; all-linear has all of them";
      }
      throw InputError("", "--train",
                       "no layer of " + model_.name + " that is not frozen has the product '" + target + "'",
                       hint);
    }
  }

  // What the adapters of a layer can stand beside.
  void collect_targets(const LayerType& type) {
    for (std::string& name : targets_of(type)) {
      if (std::ranges::find(known_, name) == known_.end()) known_.push_back(std::move(name));
    }
  }

  Model model_;
  const Tuning* tuning_;
  std::vector<Place> places_;
  std::size_t last_block_ = 0;
  std::vector<Change> changes_;
  std::map<std::pair<std::size_t, Change>, std::size_t> made_;
  FoundTargets found_;
  std::vector<std::string> known_;  // targets of the layers that have adapters
  bool any_trained_ = false;
};

}  // namespace

Model tuned(Model model, const Tuning& tuning) {
  if (tuning.whole()) return model;
  return Tuner(std::move(model), tuning).run();
}

}  // namespace nest::model
