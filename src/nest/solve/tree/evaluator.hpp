// Computes bounds and the best stages of single configurations. Each thread of a search has one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "nest/price/waiting.hpp"
#include "nest/solve/table/completions.hpp"
#include "nest/solve/table/interleaved_fill.hpp"
#include "nest/solve/table/mixed_fill.hpp"
#include "nest/solve/tree/search_problem.hpp"
#include "nest/solve/tree/ties.hpp"

namespace nest::solve {

class Evaluator {
 public:
  explicit Evaluator(const SearchProblem& problem) : problem_(&problem), filler_(problem.prunings) {}

  // Bounds of degrees that cost next to nothing: of one schedule.
  [[nodiscard]] Seconds quick_bound(const Degrees& degrees, Schedule schedule, std::int64_t interleave);
  // What the fullest device of any plan of these degrees holds at least: weights, gradients and states,
  // spread evenly over all devices as far as ZeRO of the space can.
  [[nodiscard]] Bytes memory_floor(const Degrees& degrees);
  // The best stages on the relaxed network; none where nothing fits or all are above the threshold.
  [[nodiscard]] std::optional<Seconds> relaxed_bound(const Configuration& configuration, ShardKind kind,
                                                     Seconds threshold, FillCounts& counts);
  // What a plan may take, by simple stages on the relaxed network: neither a bound nor a plan. None where
  // these do not fit.
  struct Estimate {
    Seconds step;
    TieQuestion ties;  // which stages share weights there
  };
  [[nodiscard]] std::optional<Estimate> estimate(const Configuration& configuration, ShardKind kind,
                                                 FillCounts& counts);
  // A bound for one placement, without stages.
  [[nodiscard]] Seconds network_bound(const Configuration& configuration, const Placement& placement);
  // The best plan there, not priced and without devices; with less effort a good one, or none.
  struct Best {
    Seconds step;
    Plan plan;
  };
  enum class Effort {
    exact,
    beam,   // a few labels of each state, or a few splits
    guess,  // simple stages, or the most promising split
  };
  [[nodiscard]] std::optional<Best> best(const Configuration& configuration, const Placement& placement,
                                         const TieQuestion& ties, Seconds threshold, FillCounts& counts,
                                         Effort effort = Effort::exact);

 private:
  struct Sums {  // of all layers, and of the longest stage by counting
    Seconds f;
    Seconds b;
    std::vector<StagePass> by_kind;  // of one layer
    Seconds send;                    // over any boundary
    Seconds returns;                 // the same of gradients
    LayerTerms parameters;           // of all layers, the least over those that may stand beside it
  };
  using SumsKey = std::tuple<std::size_t, std::size_t, bool, bool>;  // batch, strategy, interleaved, mixed

  [[nodiscard]] const Batch& batch_of(const Degrees& degrees) const {
    return problem_->costs->batches()[degrees.batch];
  }
  [[nodiscard]] const Strategy& strategy_of(const Degrees& degrees) const {
    return problem_->strategies[degrees.strategy];
  }
  [[nodiscard]] Waiting waiting(const Degrees& degrees) {
    const auto [at, made] = waiting_.try_emplace(degrees.devices);
    if (made) at->second = problem_->costs->coster().waiting(degrees.devices);
    const Batch& batch = batch_of(degrees);
    if (!batch.training.contents.lengths) return {at->second};
    const Strategy& strategy = strategy_of(degrees);
    return {at->second,
            uneven_sequences(problem_->costs->spread(batch, strategy),
                             {degrees.pipeline, degrees.copies * strategy.side(), degrees.micro_batches})};
  }
  // Strategies that later stages may have beside the first one's, which comes first.
  const std::vector<std::size_t>& strategies_beside(const Degrees& degrees, Schedule schedule);
  [[nodiscard]] std::optional<Completions> completions(StageOptions& options, FillQuestion& question,
                                                       Seconds threshold, FillCounts& counts) const;
  const RelaxedNetwork& relaxed(std::size_t strategy, std::int64_t copies, ShardKind kind, Zero zero = {});
  const Sums& sums(const Degrees& degrees, Schedule schedule);
  struct Passes {  // of all layers, with sends
    Seconds f;
    Seconds b;
    const std::vector<StagePass>& by_kind;  // of one layer, without sends
  };
  [[nodiscard]] Seconds bound_of(const Degrees& degrees, Schedule schedule, std::int64_t interleave,
                                 const Passes& passes);
  [[nodiscard]] FillQuestion fill_question(const Configuration& configuration) const;
  StageSetting setting(const Configuration& configuration, const RecomputeChoices& recompute,
                       const Shapes& ends) const;
  InterleavedFiller& interleaved(const Batch& batch);
  const std::vector<std::vector<std::int32_t>>& splits(const Batch& batch, std::int64_t stages,
                                                       std::int64_t chunks);
  [[nodiscard]] Plan make_plan(const Configuration& configuration, const Placement& placement) const;

  const SearchProblem* problem_;
  Filler filler_;
  std::map<const LayerGraph*, std::unique_ptr<InterleavedFiller>> interleaved_;
  std::map<std::tuple<const LayerGraph*, std::int64_t, std::int64_t>, std::vector<std::vector<std::int32_t>>>
      splits_;
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::vector<std::size_t>> beside_;
  std::map<SumsKey, Sums> sums_;
  std::unordered_map<std::int64_t, double> waiting_;  // by devices
  std::map<std::tuple<std::size_t, std::int64_t, ShardKind, std::int64_t>, std::unique_ptr<RelaxedNetwork>>
      relaxed_;
};

}  // namespace nest::solve
