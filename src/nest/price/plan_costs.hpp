// From a plan's choices to the costs of its stages: layers added up, what crosses boundaries, copies of tied
// weights. Keeps its lists between plans for their memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price {

// Weights that a stage shares with others, in parameters of one device.
struct TiedShare {
  double copied = 0;  // trained in another stage
  double summed = 0;  // gradients that several stages add up
  double frozen = 0;  // copied, and trained by nobody

  bool operator==(const TiedShare&) const = default;
};

class PlanCosts {
 public:
  explicit PlanCosts(CostBook& book) : book_(&book) {}

  // What the network has to offer for this plan.
  [[nodiscard]] NetworkOptions network_options(const Plan& plan, const BuiltModel& model);

  // What a plan is priced with.
  struct Setting {
    const BuiltModel& model;
    const PlanNetwork& network;
    const StageCoster& coster;
    bool kept = false;  // the book keeps the network, so that stages priced on it before are found again
  };
  // After network_options of the same plan.
  void cost(const Plan& plan, const Setting& setting, std::vector<StageCost>& out);

 private:
  // A stage's layers, or one chunk's, added up, with what tells it apart from others.
  struct Part {
    LayerTerms terms;
    std::uint64_t signature = 0;        // 0: not known
    const LayerTable* table = nullptr;  // with a signature: what it is of
    LayerTerms first;                   // with Resharding::Kind::first: of the layers that it names
    Bytes forward;                      // received before the forward pass, on one device
    Bytes backward;
  };

  void add_up(const Plan& plan, const BuiltModel& model, const PlanNetwork& network);
  void add_boundaries(const Plan& plan, const BuiltModel& model);
  void cost_stage(const Plan& plan, const PlanNetwork& network, const StageCoster& coster, std::size_t i,
                  StageCost& cost) const;
  [[nodiscard]] bool alike(const Plan& plan, const PlanNetwork& network, std::size_t a, std::size_t b) const;

  // All that the cost of a stage without chunks follows from.
  struct StageKey {
    const LayerTable* table;
    const StageNetwork* network;
    const StageCoster* coster;
    std::uint64_t signature;
    std::int64_t forward;
    std::int64_t backward;
    Zero zero;
    Schedule schedule;
    TiedShare tied;

    bool operator==(const StageKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const StageKey& key) const;
  };

  CostBook* book_;
  std::unordered_map<StageKey, StageCost, Hash> known_;
  std::uint64_t generation_ = 0;  // of the book, whose tables and networks known_ points to
  std::vector<Part> parts_;       // parts_[stage * chunks + chunk]
  std::vector<TiedShare> tied_;
  std::vector<Bytes> stashes_;
  std::vector<Bytes> host_stashes_;
};

}  // namespace nest::price
