// Stage boundaries that a random walk can change a little at a time: the layers in an order that the edges
// allow, cut into stages. Every chain of downsets is such an order with cuts.
//
//   McmcCuts cuts(graph, false);
//   StageCut cut = cuts.even(4);
//   cuts.shift(cut, random);          one boundary, a layer or two to the left or right
#pragma once

#include <cstdint>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/plan/rules/layer_graph.hpp"
#include "nest/solve/baselines/mcmc/seeded_random.hpp"

namespace nest::solve {

struct StageCut {
  std::vector<std::int32_t> order;  // layers
  std::vector<std::int32_t> cuts;   // ascending: which of the places in the order where a stage may end

  bool operator==(const StageCut&) const = default;
};

class McmcCuts {
 public:
  // `contiguous`: stages are ranges of layers by id.
  McmcCuts(const LayerGraph& graph, bool contiguous);

  [[nodiscard]] std::int64_t most_stages() const { return static_cast<std::int64_t>(places_.size()) + 1; }
  [[nodiscard]] static std::int64_t stages(const StageCut& cut) {
    return static_cast<std::int64_t>(cut.cuts.size()) + 1;
  }
  // Equal numbers of blocks; what comes before or after them goes with the first and last.
  [[nodiscard]] StageCut even(std::int64_t stages) const;
  // The same with the order kept.
  void make_even(StageCut& cut, std::int64_t stages) const;

  // Each changes the cut, or returns false where it cannot; the cut is then none any more.
  bool shift(StageCut& cut, SeededRandom& random) const;
  // A layer fewer for one stage and one more for another: all boundaries between them move.
  bool transfer(StageCut& cut, std::int64_t from, std::int64_t to) const;
  bool split(StageCut& cut, SeededRandom& random) const;
  bool merge(StageCut& cut, SeededRandom& random) const;
  // Another place in the order for one layer, where the graph leaves one.
  bool reorder(StageCut& cut, SeededRandom& random) const;

  // Layers of a stage, ascending.
  void layers_of(const StageCut& cut, std::int64_t stage, std::vector<LayerId>& layers) const;
  // Layers that can recompute in the stage that has the fewest.
  [[nodiscard]] std::int64_t least_recomputable(const StageCut& cut) const;

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] Range range_of(const StageCut& cut, std::int64_t stage) const;

  const LayerGraph* graph_;
  std::vector<std::int32_t> order_;   // the first of those that the edges allow
  std::vector<std::int32_t> places_;  // layers before each place where a stage may end
  std::vector<std::vector<std::int32_t>> before_;
  std::vector<std::vector<std::int32_t>> after_;
  bool chain_ = true;  // one order only
};

}  // namespace nest::solve
