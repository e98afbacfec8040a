// The downsets of a layer graph and the stages between them. A downset is closed under successors: what the
// last stages of a pipeline hold. Stages that hold the same kinds of layers in the same order, between
// boundaries of the same size, cost the same: they share a class. Downsets that part layers which stand together are
// left out.
//
//   const LayerSets sets(graph, kinds, 4096);
//   for (const Move& move : sets.moves(state))   // stages that can come before those of `state`
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/base/deadline.hpp"
#include "nest/plan/rules/layer_graph.hpp"

namespace nest::solve {

struct StageClass {
  std::vector<std::uint16_t> kinds;  // of its layers, in order
  std::vector<std::int32_t> counts;  // of each kind
  std::int64_t recomputable = 0;     // layers that can recompute
  Bytes before;                      // whole tensors that cross the boundary before it, and after it
  Bytes after;
  Bytes returning;  // gradients that come back over the boundary after it
  // Weights that it shares with other stages, in parameters of the whole model.
  double tied_copied = 0;
  double tied_summed = 0;
  double tied_frozen = 0;
  bool splits_tied = false;
};

struct Move {
  std::int32_t to = 0;  // the downset with this stage
  std::int32_t stage_class = 0;
};

class LayerSets {
 public:
  // `kind_of` numbers layers that are alike in everything, from 0. With more downsets than `most`, only those
  // of the layers in their order are kept, where that is possible. Throws Stopped at the deadline, and
  // TableTooLarge where the stages take more memory than there is.
  LayerSets(const LayerGraph& graph, std::span<const std::uint16_t> kind_of, std::size_t most,
            bool contiguous = false, const Deadline& deadline = Deadline(), Bytes memory = Bytes::most());

  // Whether all chains of downsets are there.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::size_t size() const { return moves_end_.size(); }
  [[nodiscard]] std::size_t kinds() const { return kinds_; }
  [[nodiscard]] std::size_t layers() const { return layers_; }
  // State 0 is empty, the last one has all layers.
  [[nodiscard]] std::int32_t all() const { return static_cast<std::int32_t>(size()) - 1; }
  [[nodiscard]] std::int32_t placed(std::int32_t state) const {
    return placed_[static_cast<std::size_t>(state)];
  }
  // Layers outside a state, by kind.
  [[nodiscard]] std::span<const std::int32_t> outside(std::int32_t state) const {
    return {outside_.data() + static_cast<std::size_t>(state) * kinds_, kinds_};
  }
  // Short stages first. In a chain each holds all layers of those before it.
  [[nodiscard]] std::span<const Move> moves(std::int32_t state) const {
    const auto i = static_cast<std::size_t>(state);
    const std::size_t from = i == 0 ? 0 : moves_end_[i - 1];
    return {moves_.data() + from, moves_end_[i] - from};
  }
  [[nodiscard]] bool chain() const { return chain_; }
  [[nodiscard]] const std::vector<StageClass>& classes() const { return classes_; }
  [[nodiscard]] std::vector<LayerId> stage(std::int32_t from, std::int32_t to) const;
  [[nodiscard]] bool recomputes(std::uint16_t kind) const { return recomputes_[kind]; }
  [[nodiscard]] std::uint16_t kind_of(LayerId id) const { return kind_of_[id.index()]; }
  // A layer of the kind.
  [[nodiscard]] LayerId example(std::size_t kind) const { return examples_[kind]; }

  // The class of any ascending list of layers between given boundaries, for stages that are no differences of
  // neighbouring downsets (chunks of interleaved stages).
  [[nodiscard]] StageClass class_of(const std::vector<LayerId>& layers, Bytes before, Bytes after,
                                    Bytes returning) const;

 private:
  using Set = std::vector<std::uint64_t>;

  void enumerate(std::size_t most, bool contiguous, const Deadline& deadline);
  void count_layers();
  void add_moves(const Deadline& deadline, Bytes memory);
  [[nodiscard]] std::vector<std::int32_t> halves(const Set& set) const;

  const LayerGraph* graph_;
  std::vector<std::uint16_t> kind_of_;
  std::size_t layers_ = 0;
  std::size_t kinds_ = 0;
  bool complete_ = true;
  bool chain_ = false;
  std::vector<bool> recomputes_;
  std::vector<LayerId> examples_;
  std::vector<Set> sets_;  // by size
  std::vector<std::int32_t> placed_;
  std::vector<std::int32_t> outside_;
  std::vector<Move> moves_;
  std::vector<std::size_t> moves_end_;
  std::vector<StageClass> classes_;
};

// Numbers for layers: the same where nothing tells them apart, whatever the strategy.
[[nodiscard]] std::vector<std::uint16_t> layer_kinds(const Model& model);
[[nodiscard]] std::vector<std::uint16_t> layer_kinds(const LayerProfile& profile);

}  // namespace nest::solve
