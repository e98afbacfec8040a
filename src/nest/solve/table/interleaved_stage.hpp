// One stage of an interleaved schedule: its chunks, with their memory and their times under each
// recomputation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/pipeline_time.hpp"
#include "nest/solve/table/stage_options.hpp"

namespace nest::solve {

// What a stage holds, whatever the configuration.
struct StageContent {
  StageClass whole;
  std::vector<StageClass> chunks;
};

// The contents of all stages that splits lead to, numbered; equal stages have equal numbers.
class StageContents {
 public:
  // Both outlive this.
  StageContents(const LayerGraph& graph, const LayerSets& sets) : graph_(&graph), sets_(&sets) {}

  // Of the stages of a split with `stages` stages, first stage first. The split's address is its key.
  const std::vector<std::int32_t>& of_split(const std::vector<std::int32_t>& split, Schedule schedule,
                                            std::size_t stages);
  [[nodiscard]] const StageContent& at(std::int32_t number) const {
    return contents_[static_cast<std::size_t>(number)];
  }

 private:
  // Whether the same device has the chunk before it, and the one after it.
  struct Beside {
    bool before = false;
    bool after = false;
    auto operator<=>(const Beside&) const = default;
  };
  std::int32_t chunk(std::int32_t first, std::int32_t last, Beside beside);

  const LayerGraph* graph_;
  const LayerSets* sets_;
  std::map<std::tuple<std::int32_t, std::int32_t, Beside>, std::int32_t> ranges_;
  std::vector<StageClass> chunks_;
  std::map<std::vector<std::int32_t>, std::int32_t> known_;
  std::deque<StageContent> contents_;  // stay where they are
  std::map<std::pair<const std::vector<std::int32_t>*, ChunkPath>, std::vector<std::int32_t>> splits_;
};

// A stage under one recomputation.
struct StageVariant {
  Recompute recompute;
  double order = 0;       // backward time of the layers
  std::size_t first = 0;  // of this variant's chunks among those of all variants
  Bytes least_stash;      // of the chunks
  Bytes greatest_stash;
  Bytes workspace;
  bool priced = false;
  std::vector<StagePass> passes;
  std::vector<double> work;  // backward times of the chunks without what they receive
  double hidden = 0;         // sends that hold up the first and the last micro-batch
  StageCost cost;
};

// Where a stage is.
struct InterleavedPlace {
  std::size_t place = 0;
  const Shapes* previous = nullptr;  // whom the first chunk's input comes from, and the last one's gradients
  const Shapes* next = nullptr;
  bool first = false;
  bool last = false;
};

class StageVariants {
 public:
  StageVariants(const StageSetting& setting, const Place& place, const InterleavedPlace& where,
                const StageContent& content);

  [[nodiscard]] const StageContent& content() const { return *content_; }
  // In order of their backward times; how they spread over the chunks differs. Made when they are first asked for.
  // Sets of modules, which few stages need, come behind once complete() is called, in their own order.
  [[nodiscard]] std::vector<StageVariant>& all();
  void complete();
  // How many there are without sets of modules: known without making them.
  [[nodiscard]] std::size_t count() const { return choices_.size(); }
  // No variant needs less: known likewise.
  [[nodiscard]] Bytes least_need(std::int64_t stage) const;
  [[nodiscard]] bool fits(const StageVariant& variant, std::int64_t stage, Bytes capacity) const;
  // At the fullest moment.
  [[nodiscard]] Bytes need(const StageVariant& variant, std::int64_t stage) const;
  void price(StageVariant& variant) const;
  // Backward times of the chunks' layers, without ZeRO's traffic.
  [[nodiscard]] std::span<const double> least_work(const StageVariant& variant) const {
    return std::span(work_).subspan(variant.first, content_->chunks.size());
  }

 private:
  // A chunk whose first layers recompute, as many as rungs lie below this one.
  struct Rung {
    double work = 0;
    Bytes stash;
    Bytes host_stash;
    double transient = 0;
  };
  [[nodiscard]] const LayerTerms& terms(const LayerPolicy& policy, std::uint16_t kind) const {
    return place_->table(policy).of(setting_->sets->example(kind));
  }
  [[nodiscard]] std::vector<Rung> ladder(const StageClass& chunk) const;
  [[nodiscard]] Rung whole(const StageClass& chunk, const LayerPolicy& policy) const;
  void make(const std::vector<Recompute>& choices);
  // Fills in what follows from the variant's recomputation, for all from `first` on.
  void weigh(std::size_t first);
  [[nodiscard]] Bytes buffers(const StageClass& chunk) const;
  [[nodiscard]] Bytes workspace(const LayerTerms& terms) const;
  [[nodiscard]] Bytes need(std::int64_t stage, std::span<const Bytes> stashes, Bytes workspace) const;
  [[nodiscard]] bool fits_host(const StageVariant& variant, std::int64_t stage) const;
  [[nodiscard]] std::span<const Bytes> stashes(const StageVariant& variant) const {
    return std::span(stashes_).subspan(variant.first, content_->chunks.size());
  }

  const StageSetting* setting_;
  const Place* place_;
  InterleavedPlace where_;
  const StageContent* content_;
  double tied_ = 0;       // parameters of one device that are copies
  bool at_once_ = false;  // two passes are under way at a time
  Bytes fixed_;
  Bytes update_;
  bool offloads_ = false;          // activations
  Bytes host_room_;                // for them
  LayerTerms parameters_;          // of the whole stage: what memory follows from, apart from stashes
  std::vector<LayerTerms> first_;  // as in StageStep: of each chunk, and of all; empty: none
  std::vector<Recompute> choices_;
  bool complete_ = false;
  std::vector<StageVariant> variants_;
  // Of the chunks of all variants.
  std::vector<double> work_;
  std::vector<Bytes> stashes_;
  std::vector<Bytes> host_stashes_;  // where they are offloaded
};

}  // namespace nest::solve
