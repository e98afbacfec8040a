// Finds the best stages of a configuration with chunks: it tries every split of interleaved_splits() and,
// for each, finds the best recomputation of every stage (variant_search.hpp). The chunks of one device lie
// apart in the model, so that there is no recurrence; but there are only a few splits.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "nest/solve/table/fill.hpp"
#include "nest/solve/table/interleaved_stage.hpp"

namespace nest::solve {

struct InterleavedQuestion {
  std::int64_t stages = 2;
  std::int64_t micro_batches = 2;
  std::int64_t chunks = 2;  // of one stage
  PipelineModel model = PipelineModel::one_f_one_b;
  Bytes capacity;                   // of a device
  std::vector<std::size_t> places;  // of the stages, first stage first
  const Shapes* wrap = nullptr;     // last stage and first
  FillQuestion::Ties ties = FillQuestion::Ties::any;
  std::size_t tied_first = 0;
  std::size_t tied_last = 0;
  bool bound = false;  // wanted is a bound: reductions and gathers count as hidden
  Schedule schedule = Schedule::interleaved;
  std::size_t most_splits = std::numeric_limits<std::size_t>::max();  // to try
};

struct InterleavedFilled {
  Seconds step;
  std::size_t split = 0;             // which of those given
  std::vector<Recompute> recompute;  // of each stage
};

class InterleavedFiller {
 public:
  // `graph` and `sets` outlive this.
  InterleavedFiller(const LayerGraph& graph, const LayerSets& sets, const Prunings& prunings)
      : contents_(graph, sets), prunings_(prunings) {}

  // Splits as boundaries of chunks in pipeline order.
  [[nodiscard]] std::optional<InterleavedFilled> fill(StageOptions& options, const InterleavedQuestion& shape,
                                                      std::span<const std::vector<std::int32_t>> splits,
                                                      Seconds threshold, FillCounts& counts);

 private:
  struct Context;

  StageVariants& variants(Context& context, std::size_t stage, std::int32_t content);
  [[nodiscard]] Seconds split_bound(const Context& context, std::span<const std::int32_t> split);
  [[nodiscard]] bool ties_fit(const Context& context, const std::vector<StageVariants*>& stages) const;

  StageContents contents_;
  Prunings prunings_;
  std::vector<StagePass> passes_;
};

}  // namespace nest::solve
