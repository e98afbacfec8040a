// Data that all configurations of one search share, also between threads: built models, layer sets, and
// tables of layer costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nest/price/layers/cost_book.hpp"
#include "nest/price/stage_cost.hpp"
#include "nest/question/search_options.hpp"
#include "nest/question/search_space.hpp"
#include "nest/solve/table/layer_sets.hpp"
#include "nest/solve/table/stage_options.hpp"

namespace nest::solve {

// A micro-batch size.
struct Batch {
  Training training;  // micro_batches apart
  const BuiltModel* model = nullptr;
  const LayerSets* sets = nullptr;
  const LayerGraph* graph = nullptr;  // that the sets were made of
  std::int64_t scale = 1;             // of boundaries between this size and that of the sets
  Bytes least_boundary;               // of all cuts that leave layers on both sides
  Bytes least_returning;              // the same of gradients
};

class SearchCosts {
 public:
  // `inputs` outlive this. Of the options: deadline, memory limit and margin. Throws Stopped at the deadline, and TableTooLarge where the stages of the model
  // take more memory than there is.
  SearchCosts(const PlanInputs& inputs, const Training& training, const SearchSpace& space,
              const std::vector<std::int64_t>& micro_batches, const SearchOptions& options = {});

  [[nodiscard]] const PlanInputs& inputs() const { return *inputs_; }
  [[nodiscard]] const FabricConstants& constants() const { return constants_; }
  [[nodiscard]] const StageCoster& coster() const { return coster_; }
  [[nodiscard]] const CollectiveModel& collectives() const { return collectives_; }
  [[nodiscard]] const std::vector<Batch>& batches() const { return batches_; }
  // Whether the tables know all ways to cut the layers into stages, of every micro-batch size.
  [[nodiscard]] bool whole() const {
    return std::all_of(batches_.begin(), batches_.end(), [](const Batch& b) { return b.sets->complete(); });
  }
  // What a device can allocate: the search counts these, without fragmentation and reserve.
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  // Whether selective recomputation differs from none.
  [[nodiscard]] bool selective() const { return selective_; }

  // Why the model cannot be cut so; empty where it can.
  [[nodiscard]] std::string refusal(const Batch& batch, const Strategy& strategy);
  // See CostBook::spread.
  [[nodiscard]] Seconds spread(const Batch& batch, const Strategy& strategy);
  // Layer costs of a stage there. Without `collectives`, those inside the cell cost nothing.
  [[nodiscard]] Place place(const Batch& batch, const Strategy& strategy, const StageNetwork& network,
                            bool collectives = true);
  // Of a place that is its own, for a choice that it has no table of.
  [[nodiscard]] const LayerTable& table(const Place& place, const LayerPolicy& policy);

 private:
  [[nodiscard]] const LayerTable* plain(const LayerTable& table, std::size_t layers);

  const PlanInputs* inputs_;
  FabricConstants constants_;
  CollectiveModel collectives_;
  StageCoster coster_;
  Bytes capacity_;
  bool selective_ = false;
  std::mutex mutex_;
  CostBook book_;
  std::vector<std::pair<Strategy, std::shared_ptr<const CellNetwork>>> cells_;
  std::map<const LayerTable*, std::unique_ptr<LayerTable>> plain_;
  std::vector<std::uint16_t> kinds_;
  std::vector<std::unique_ptr<LayerSets>> sets_;
  std::vector<Batch> batches_;
};

}  // namespace nest::solve
