// The values of those choices that do not depend on other choices (docs/decisions/0004-plan-space.md).
#pragma once

#include <cstdint>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_space.hpp"

namespace nest::question {

// Ascending, all dividing the global batch.
[[nodiscard]] std::vector<std::int64_t> micro_batch_values(const PlanInputs& inputs, const Training& training,
                                                           const SearchSpace& space);
// Strategies whose cells the cluster can hold; whether the model can be cut so is not looked at.
[[nodiscard]] std::vector<Strategy> strategy_values(const PlanInputs& inputs, const Training& training,
                                                    const SearchSpace& space);
// Ranks of one all-to-all of hybrid context parallelism: ascending, neither 1 nor all.
[[nodiscard]] std::vector<std::int64_t> inner_context_values(const PlanInputs& inputs,
                                                             const SearchSpace& space, std::int64_t tensor,
                                                             std::int64_t context);
// Whether plans of the space may run such a strategy under such a schedule.
[[nodiscard]] bool go_together(const Strategy& strategy, Schedule schedule, const PlanInputs& inputs,
                               const SearchSpace& space);
// Copies of the pipeline: ascending.
[[nodiscard]] std::vector<std::int64_t> copies_values(const Training& training, const SearchSpace& space,
                                                      std::int64_t micro_batch, const Strategy& strategy,
                                                      std::int64_t most);
[[nodiscard]] std::vector<std::int64_t> inner_values(const SearchSpace& space, std::int64_t copies);
// ZeRO where so many ranks share parameters: with what becomes of gathered ones, where it is 3.
[[nodiscard]] std::vector<Zero> zero_values(const SearchSpace& space, const Strategy& strategy,
                                            std::int64_t ranks, std::int64_t pipeline);
// What somebody who asks for a number gets: with the first resharding of the space; ZeRO 3 that keeps what it gathered in
// the place of a ZeRO 2 that the space has not.
[[nodiscard]] Zero usual_zero(const SearchSpace& space, Zero zero, const Strategy& strategy,
                              std::int64_t pipeline);
[[nodiscard]] std::vector<std::int64_t> interleave_values(const SearchSpace& space);
[[nodiscard]] std::vector<Schedule> schedule_values(const SearchSpace& space);

[[nodiscard]] std::vector<std::int64_t> divisors(std::int64_t n);

}  // namespace nest::question
