// The plans that Alpa's two levels offer, as degrees: every micro-batch size, tensor degree and number of
// copies of the question's space that uses all devices (or else as many as any does), ordered by what it
// believes a step to take.
//
//   const std::vector<Candidate> all = candidates(question, mesh, book, beliefs);
//   all.front().parallelism.pipeline, all.front().believed
#pragma once

#include <cstdint>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/question/question.hpp"
#include "nest/question/recompute_choices.hpp"
#include "nest/solve/baselines/alpa/alpa_beliefs.hpp"

namespace nest::solve::alpa {

struct Candidate {
  Training training;
  Parallelism parallelism;          // complete, apart from the tightest block and whole groups of ZeRO
  std::vector<std::size_t> firsts;  // of each stage, into LayerBeliefs::order()
  Seconds believed;                 // a step, without recomputation where the space allows that

  [[nodiscard]] LayerSplit split(bool again) const {
    return {parallelism.strategy, parallelism.copies(), training.micro_batches, again, false};
  }
};

// sum + (micro-batches - 1) max of the stages' latencies.
[[nodiscard]] Seconds believed_step(const std::vector<Seconds>& times, const std::vector<std::size_t>& firsts,
                                    std::int64_t micro_batches);

// The recomputations that the space allows, as whole policies where it can be.
[[nodiscard]] RecomputeChoices recompute_choices(const SearchSpace& space);

[[nodiscard]] std::vector<Candidate> candidates(const PlanQuestion& question, const TwoLevelMesh& mesh,
                                                CostBook& book, LayerBeliefs& beliefs);

}  // namespace nest::solve::alpa
