// A global batch that may bend. Training does not care whether a step has 504 or 512 sequences, but copies have to
// divide the batch: on 504 devices the one keeps all of them busy, the other does not. Each batch is a search of
// its own, and counts only plans with a higher throughput than the best so far.
//
//   ask_batches(question, {512, 504, 520})    -> the plan with the most sequences a second, proved over all three
//   better_batch(question, best, further)     -> 504 sequences, where that is faster by kMuchFaster or more
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/solve/ask/further.hpp"

namespace nest::solve {

// What a batch near the one asked for has to gain to be mentioned.
inline constexpr double kMuchFaster = 0.02;
// How far it may be away.
inline constexpr double kNearBatch = 0.05;

// The question's own batch comes first, so that it wins ties; its answer has the status, the bound and the plans
// of the best batch. `question.batches` is not looked at.
[[nodiscard]] SearchResult ask_batches(const PlanQuestion& question, const std::vector<std::int64_t>& batches,
                                       const SearchFunction& searching);

// Batches within kNearBatch that go best with the number of devices, best first; none where the batch goes with
// them already.
[[nodiscard]] std::vector<std::int64_t> near_batches(const PlanQuestion& question, const Plan& best);

// The best plan with such a batch; none where it gains less than kMuchFaster beyond what more sequences bring by
// themselves.
[[nodiscard]] std::optional<Plan> better_batch(const PlanQuestion& question, const Plan& best,
                                               Further& further);

}  // namespace nest::solve
