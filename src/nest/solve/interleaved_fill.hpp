// The best stages of an interleaved configuration: every split of interleaved_splits(), and for each the best
// recomputation of every stage. Chunks of one device are p apart in the model, so there is no recurrence; the
// splits are few.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nest/solve/fill.hpp"

namespace nest {

struct InterleavedShape {
  std::int64_t stages = 2;
  std::int64_t micro_batches = 2;
  std::int64_t chunks = 2;  // of one stage
  PipelineModel model = PipelineModel::one_f_one_b;
  std::int64_t capacity = 0;
  std::vector<std::size_t> places;  // of the stages, first stage first
  const Shapes* wrap = nullptr;     // last stage and first
  FillShape::Ties ties = FillShape::Ties::any;
  std::size_t tied_first = 0;
  std::size_t tied_last = 0;
  bool bound = false;  // wanted is a bound: the reduction counts as hidden
};

struct InterleavedFilled {
  double step = 0;
  std::size_t split = 0;             // which of those given
  std::vector<Recompute> recompute;  // of each stage
};

class InterleavedFiller {
 public:
  // `graph` outlives this.
  InterleavedFiller(const LayerGraph& graph, const Prunings& prunings)
      : graph_(&graph), prunings_(prunings) {}

  // Splits as boundaries of chunks in pipeline order.
  [[nodiscard]] std::optional<InterleavedFilled> fill(StageOptions& options, const InterleavedShape& shape,
                                                      std::span<const std::vector<std::int32_t>> splits,
                                                      double threshold, FillCounts& counts);

 private:
  // A stage under one recomputation.
  struct Variant {
    Recompute recompute;
    std::vector<LayerTerms> chunk_terms;
    LayerTerms whole;
    double order = 0;  // backward time of the layers
    bool weighed = false;
    std::vector<Bytes> stashes;
    std::int64_t fixed = 0;
    std::int64_t workspace = 0;
    std::int64_t update = 0;
    bool priced = false;
    std::vector<StagePass> passes;
    double hidden = 0;
    StageCost cost;
  };
  struct StageVariants {
    StageClass whole;
    std::vector<StageClass> chunks;
    std::vector<Variant> variants;  // in order of their backward times
  };
  using Range = std::pair<std::int32_t, std::int32_t>;
  struct Context;

  StageVariants& variants(Context& context, std::size_t stage, std::span<const std::int32_t> split);
  void price(const Context& context, std::size_t stage, const StageVariants& of, Variant& variant) const;
  [[nodiscard]] double split_bound(const Context& context, std::span<const std::int32_t> split);
  [[nodiscard]] bool ties_fit(const Context& context, const std::vector<StageVariants*>& stages) const;
  // Steps of a choice of variants; `without_reduce` leaves the reduction out.
  [[nodiscard]] double step(const Context& context, const std::vector<const Variant*>& chosen,
                            double* reduce) const;
  void weigh(const Context& context, std::size_t stage, const StageVariants& of, Variant& variant) const;
  [[nodiscard]] bool fits(const Context& context, std::size_t stage, const StageVariants& of,
                          Variant& variant) const;
  // More recomputation where that hides more of the reduction than it costs. False where there was too much
  // to try.
  struct Refinement;
  bool refine(Context& context, const std::vector<StageVariants*>& stages, std::vector<std::size_t>& best,
              double& least, double threshold);
  // Every combination; false where they are too many.
  bool try_all(Context& context, const std::vector<StageVariants*>& stages, std::vector<std::size_t>& best,
               double& least);
  void find_useful(Refinement& refinement);
  void deepen(Refinement& refinement, std::size_t stage, double before, double reduced);

  const LayerGraph* graph_;
  Prunings prunings_;
  std::map<Range, StageClass> classes_;
  std::vector<StagePass> passes_;
};

}  // namespace nest
