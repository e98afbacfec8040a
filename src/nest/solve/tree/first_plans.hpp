// Good plans before any proof. The search compares everything with the best plan that it knows, so a good one
// at the start saves most of the work, and is the answer if the search is stopped early.
//
// Every combination of degrees and ZeRO is tried with simple stages, first on the relaxed network and, if that
// is promising, in its usual placement, until no bound is below the best plans. These are then tried in
// other placements, with the schedules that have chunks, and with a beam search. Everything is counted and
// nothing timed, so that every machine finds the same plans.
#pragma once

#include <cstdint>
#include <vector>

#include "nest/base/workers.hpp"
#include "nest/question/search_options.hpp"
#include "nest/solve/tree/best_plans.hpp"
#include "nest/solve/tree/evaluator.hpp"

namespace nest::solve {

class FirstPlans {
 public:
  // All that it is given outlives this; there is one evaluator for each worker.
  FirstPlans(const SearchProblem& problem, const SearchOptions& options, Workers& workers,
             std::vector<Evaluator>& evaluators)
      : problem_(&problem), options_(&options), workers_(&workers), evaluators_(&evaluators) {}

  // Adds what it finds by the deadline, with no more memory than there is.
  void find(BestPlans& best, MemoryBudget& memory);
  [[nodiscard]] const FillCounts& counts() const { return counts_; }
  [[nodiscard]] std::int64_t fills() const { return fills_; }

 private:
  struct Candidate {
    Seconds estimate;        // later: of a plan
    std::size_t number = 0;  // where candidates are sorted, the order of equal ones
    Configuration configuration;
    ShardKind shards = ShardKind::whole;
    TieQuestion ties;
    Placement placement;
    std::optional<Evaluator::Best> plan;
    FillCounts counts;
  };

  // Of all degrees, in their usual placements.
  [[nodiscard]] std::vector<Candidate> usual(BestPlans& best);
  // Those of one combination of degrees that are not above `limit`.
  [[nodiscard]] std::vector<Candidate> usual_of(Evaluator& evaluator, std::size_t degrees,
                                                Seconds limit) const;
  // Simple stages in the most promising placements: the best of these.
  void place(Evaluator& evaluator, Candidate& candidate, Seconds limit) const;
  // Runs a function on every candidate, and adds the plans that it finds.
  template <class Work>
  void improve(std::vector<Candidate>& candidates, BestPlans& best, const Work& work);
  void add(const Candidate& candidate, BestPlans& best) const;
  // What a second of its step counts.
  [[nodiscard]] double weight(const Candidate& candidate) const;
  [[nodiscard]] bool earlier(const Candidate& a, const Candidate& b) const;
  // The first `most`, no more than `of_strategy` of one strategy.
  void keep_best(std::vector<Candidate>& candidates, std::size_t most, std::size_t of_strategy) const;

  const SearchProblem* problem_;
  const SearchOptions* options_;
  Workers* workers_;
  std::vector<Evaluator>* evaluators_;
  MemoryBudget* memory_ = nullptr;
  FillCounts counts_;
  std::int64_t fills_ = 0;
};

}  // namespace nest::solve
