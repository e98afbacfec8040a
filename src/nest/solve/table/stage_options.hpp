// What a stage costs under each recomputation that the search may choose for it, at one position of one
// placement. Memory is computed first, because it is cheap; times are computed only for the options that
// need them.
//
//   StageOptions options(setting, places);
//   for (StageOption& o : options.of(place, stage_class)) if (o.fits(in_flight, capacity)) options.price(...)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nest/price/stage_cost.hpp"
#include "nest/question/recompute_choices.hpp"
#include "nest/solve/table/layer_sets.hpp"

namespace nest::solve {

// More than any device has: of stages whose offloaded states are too much for the host.
inline constexpr Bytes kNowhereToLie{std::int64_t{1} << 56};

class SearchCosts;
struct Batch;

// Stages with equal networks and strategies.
struct Place {
  const StageNetwork* network = nullptr;
  Strategy strategy;
  // Of none, selective and full, by RecomputePolicy; no table: not in the space.
  std::array<const LayerTable*, 3> tables{};
  // Of every other choice for a layer: few stages need these, so they are made when they are asked for.
  SearchCosts* costs = nullptr;
  const Batch* batch = nullptr;
  std::shared_ptr<const CellNetwork> cell;
  bool collectives = true;

  [[nodiscard]] const LayerTable& table(const LayerPolicy& policy) const {
    if (policy.policy == RecomputePolicy::modules) return other(policy);
    return *tables[static_cast<std::size_t>(policy.policy)];
  }

 private:
  [[nodiscard]] const LayerTable& other(const LayerPolicy& policy) const;
  mutable std::vector<std::pair<LayerPolicy, const LayerTable*>> others_;
};

// What all stages of one configuration share.
struct StageSetting {
  const LayerSets* sets = nullptr;
  std::int64_t micro_batch_scale = 1;  // of the boundaries that the sets know
  const StageCoster* coster = nullptr;
  const RecomputeChoices* recompute = nullptr;
  const Shapes* ends = nullptr;  // of the stages that share a weight
  Zero zero;
  bool any_zero = false;  // a bound for all: the memory of ZeRO 3 without its gathered layers
  Schedule schedule = Schedule::one_f_one_b;
  ScheduleShape shape;
};

// What one device allocates for a stage.
struct StageNeed {
  Bytes fixed;
  Bytes workspace;
  Bytes stash;
  Bytes update;
  Bytes host_stash;  // of the host's memory, of which `host_room` is left
  Bytes host_room;

  [[nodiscard]] Bytes total(std::int64_t in_flight) const {
    if (host_stash * in_flight > host_room) return kNowhereToLie;
    return fixed + std::max(stash * in_flight + workspace, update);
  }
};

struct StageOption : StageNeed {
  Recompute recompute;
  LayerTerms terms;
  bool priced = false;
  Seconds layers_b;  // backward time of the layers, which options are in order of
  Seconds work_b;    // b without what it receives: with ZeRO's traffic, as far as compute does not hide it
  Seconds f;
  Seconds b;
  Seconds weight;
  Seconds hidden;  // sends that hold up the first and the last micro-batch
  Seconds alone;   // StageCost::reduce_alone
  Seconds reduce;
  Seconds gather;
  Seconds slow_down;
  Seconds optimizer;
  Seconds norm;
};

class StageOptions {
 public:
  // All that it is given outlives this.
  StageOptions(const StageSetting& setting, std::vector<Place> places);

  [[nodiscard]] const StageSetting& setting() const { return setting_; }
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }

  // In order of their backward times; empty where the space has none for such a stage.
  [[nodiscard]] std::vector<StageOption>& of(std::size_t place, std::int32_t stage_class);
  // The first of them, where it is known to be that, or all: most stages need no other. complete() adds the
  // others to the same list, and says whether there were any.
  [[nodiscard]] std::vector<StageOption>& first_of(std::size_t place, std::int32_t stage_class);
  bool complete(std::size_t place, std::int32_t stage_class);
  // What every option of the stage takes at least with so many micro-batches in flight: known without making them.
  // Where that is too much, none has to be made.
  [[nodiscard]] Bytes least_total(std::size_t place, std::int32_t stage_class, std::int64_t in_flight);
  // Bytes that all options so far take.
  [[nodiscard]] std::int64_t memory() const { return memory_; }
  // Makes the times of an option.
  void price(std::size_t place, const StageClass& of, StageOption& option);

  // Whether forward passes and weight gradients are the same under every recomputation. Then all that the
  // price reads of an option grows with its `work_b`, but for reductions, which that hides.
  [[nodiscard]] bool ordered() const { return ordered_; }

  // Sums of the layers' own times that no option of the space and no place is below, by kind.
  [[nodiscard]] Seconds least_forward(std::size_t kind) const { return least_forward_[kind]; }
  [[nodiscard]] Seconds least_backward(std::size_t kind) const { return least_backward_[kind]; }

 private:
  enum class Made : std::uint8_t { nothing, first, all };
  struct Known {
    Made made = Made::nothing;
    bool weighed = false;
    StageNeed least;  // once it is weighed
    std::vector<StageOption> options;
  };
  // What a stage holds besides what follows from its layers' terms.
  struct Beside {
    double tied = 0;
    double frozen = 0;
    Bytes buffers;
    std::optional<LayerTerms> first;  // as in StageStep
  };
  [[nodiscard]] std::optional<LayerTerms> first(const Place& where, const StageClass& of) const;
  [[nodiscard]] Beside beside(const Place& where, const StageClass& of) const;
  // What follows for memory from terms without copies of frozen weights, which it adds.
  [[nodiscard]] StageNeed need(const Place& where, const Beside& beside, LayerTerms& terms) const;
  Known& known(std::size_t place, std::int32_t stage_class);
  [[nodiscard]] std::vector<StageOption> make(std::size_t place, const StageClass& of,
                                              const std::vector<Recompute>& choices) const;

  StageSetting setting_;
  std::vector<Place> places_;
  std::vector<std::vector<Known>> known_;  // [place][class]
  std::int64_t memory_ = 0;
  std::vector<Seconds> least_forward_;
  std::vector<Seconds> least_backward_;
  bool ordered_ = true;
  bool none_first_ = true;  // no recomputation has the shortest backward times, and may be chosen
  StageCost scratch_;
};

// The terms of layers of these kinds under one recomputation.
[[nodiscard]] LayerTerms stage_terms(const LayerSets& sets, const StageClass& of, const Place& place,
                                     const Recompute& recompute);
// With Resharding::Kind::first: the terms of the layers that stay gathered, the first `left` ones; takes them off `left`.
[[nodiscard]] LayerTerms first_terms(const LayerSets& sets, const StageClass& of, const Place& place,
                                     std::int64_t& left);
// The same of parameters; of stashes and all that is a maximum over layers, what no recomputation is below.
[[nodiscard]] LayerTerms least_terms(const LayerSets& sets, const StageClass& of, const Place& place);

}  // namespace nest::solve
