// The plans that the random walk of the mcmc baseline goes through: those of the question's space with one
// strategy and one recomputation for all stages, and without interleaving
// (docs/decisions/0004-plan-space.md).
//
//   McmcSpace space(question);
//   McmcState next = state;
//   next.pipeline *= 2;
//   if (space.settle(next, state)) space.write(next, plan);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/question/question.hpp"
#include "nest/question/recompute_choices.hpp"
#include "nest/solve/baselines/mcmc/mcmc_cuts.hpp"

namespace nest::solve {

struct McmcState {
  std::int64_t micro_batch = 1;
  Strategy strategy;
  std::int64_t pipeline = 1;
  std::int64_t copies = 1;
  std::int64_t inner = 1;  // copies side by side
  std::size_t block = 0;   // which of the sizes of a block, the tightest first
  bool first_stage_first = false;
  Zero zero;
  std::int64_t zero_shards = 1;
  Recompute recompute;
  StageCut cut;

  // Ranks that ZeRO can shard over.
  [[nodiscard]] std::int64_t group() const { return copies * strategy.cell() / strategy.tensor; }
  bool operator==(const McmcState&) const = default;
};

class McmcSpace {
 public:
  using Numbers = std::vector<std::int64_t>;

  // `question` outlives this. Throws an InputError where the model cannot be built.
  explicit McmcSpace(const PlanQuestion& question);

  // None where the question leaves only interleaved schedules.
  [[nodiscard]] std::optional<Schedule> schedule() const { return schedule_; }
  [[nodiscard]] const McmcCuts& cuts() const { return cuts_; }

  [[nodiscard]] const Numbers& micro_batches() const { return micro_batches_; }
  // Those that the model can be cut by.
  [[nodiscard]] const std::vector<Strategy>& strategies() const { return strategies_; }
  [[nodiscard]] const Numbers& pipelines() const { return pipelines_; }
  // The rest depends on the choices before it.
  [[nodiscard]] Numbers copies(const McmcState& state) const;
  [[nodiscard]] Numbers inner(const McmcState& state) const;
  // Sizes of a block that the cells fit in, and the numbers of ranks that ZeRO may shard over with each.
  struct Block {
    std::int64_t devices;
    Numbers shards;  // the whole group last
  };
  [[nodiscard]] const std::vector<Block>& blocks(const McmcState& state);
  [[nodiscard]] std::vector<bool> directions(const McmcState& state) const;
  [[nodiscard]] std::vector<Zero> zeros(const McmcState& state) const;
  [[nodiscard]] std::vector<Recompute> recomputes(const McmcState& state) const;

  // Changes what no longer agrees with the other choices as little as possible, `before` telling what was
  // whole (all copies side by side, ZeRO over the whole group). False: there is no such plan.
  [[nodiscard]] bool settle(McmcState& state, const McmcState& before);

  // Data parallelism first: few micro-batch sequences, small cells, few stages, many copies. Until `take`
  // returns true; false where it never did.
  bool starts(const std::function<bool(const McmcState&)>& take);

  // Complete but for the devices; the plan's memory is used again.
  void write(const McmcState& state, Plan& plan);

 private:
  [[nodiscard]] const PlanInputs& inputs() const { return question_->inputs; }
  [[nodiscard]] PlanDegrees degrees(const McmcState& state);
  [[nodiscard]] bool runs(const McmcState& state);
  [[nodiscard]] bool settle_copies(McmcState& state, const McmcState& before);
  [[nodiscard]] bool settle_zero(McmcState& state, bool whole);

  using BlockKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  const PlanQuestion* question_;
  CostBook book_;
  std::optional<Schedule> schedule_;
  Numbers micro_batches_;
  const LayerGraph* graph_;
  McmcCuts cuts_;
  std::vector<Strategy> strategies_;
  Numbers pipelines_;
  RecomputeChoices recompute_;
  std::map<BlockKey, std::vector<Block>> blocks_;  // by what they depend on
};

}  // namespace nest::solve
