// What a reader of a plan should know besides its numbers: why devices are idle, what is tight, how sure the
// answer is, and by what a runner-up loses.
//
//   "64 of 1,024 devices are idle: no plan that uses more is faster"
//   "stage 0 takes 98.7 % of a device's memory: ..."
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/question/search_options.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {

// Of a plan with results: the stage whose memory is nearest to its end.
[[nodiscard]] std::size_t fullest_stage(const Plan& plan);
[[nodiscard]] double memory_share(const Stage& stage);
[[nodiscard]] double memory_share(const Plan& plan);  // of its fullest stage

// "44.7 GiB of 238 GiB of host memory for a device": of the stage that keeps most there; empty where none does.
[[nodiscard]] std::string host_use(const std::vector<StageMemory>& stages);

// "activations (61.2 GiB)": the largest part of what a stage holds.
[[nodiscard]] std::string largest_memory(const StageMemory& memory);

// The best plan's distance from the lower bound, as a share of the bound, of an answer and of a search that is
// under way; none where there is no bound.
[[nodiscard]] std::optional<double> gap_of(const SearchResult& found);
[[nodiscard]] std::optional<double> gap_of(Seconds best, Seconds bound);

// How sure the answer is: "optimal: no plan of the space takes less than 8.59 s a step". Where any of several batches
// may be taken it is about tokens a second.
[[nodiscard]] std::string proof_sentence(const SearchResult& found, const SearchOptions& asked);

// Why a simpler plan stands in place of the best: "0.3 % longer than the best plan, which is within the noise
// of prediction, but without interleaved chunks; ..."; empty where the plan is the best.
[[nodiscard]] std::string simpler_sentence(const SearchResult& found);

// What the margin of memory costs: "+0.9 % of the step for fitting with 97 % or more in place of 51 %", or of the cost
// of a token where that is the objective; empty where there is none.
[[nodiscard]] std::string safety_sentence(const SearchResult& found, const SearchOptions& asked);

// "with 504 sequences: 13 % more tokens a second"; empty where no batch nearby gains much.
[[nodiscard]] std::string batch_sentence(const SearchResult& found);

// Of so many runners-up: "2 and 3 are near ties: ..."; empty where the best plan stands alone.
[[nodiscard]] std::string ties_sentence(const SearchResult& found, std::size_t shown);

// Empty where every device works.
[[nodiscard]] std::string idle_sentence(const SearchResult& found, const PlanInputs& inputs,
                                        const SearchOptions& asked);

// Of the best plan: memory that is nearly full, a network or a bubble that takes much of the step, ...
[[nodiscard]] Warnings plan_warnings(const SearchResult& found, const PlanInputs& inputs);

}  // namespace nest::report
