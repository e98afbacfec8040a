// Searches after the first one for the same answer: each wants one plan and no reasons, and all of them together may
// take half as much again as the first, so that what is said besides a plan costs no more than a few plans.
// Work is counted, not timed: the answer is the same on every machine. What the clock breaks off half-way depends on
// the machine, and is as if it had not been asked; `stopped` says so.
//
//   Further further(found.stats.work, ask);
//   const SearchResult other = further.ask(changed);
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "nest/solve/ask/search.hpp"

namespace nest::solve {

class Further {
 public:
  // `work`: of the first search.
  Further(std::int64_t work, const SearchFunction& searching)
      : left_(std::max(kLeastWork, work + work / 2)), searching_(&searching) {}

  // Stopped at a limit, without a plan, where nothing is left or the clock ended it.
  [[nodiscard]] SearchResult ask(PlanQuestion question) {
    SearchOptions& o = question.options;
    if (left_ <= 0) return {.status = PlanStatus::limit};
    if (o.deadline.over()) return by_clock();
    o.top = 1;
    o.runners_up = 0;
    o.least_memory = false;
    o.work_limit = std::min(o.work_limit.value_or(left_), left_);
    SearchResult found = (*searching_)(question);
    left_ -= std::max(found.stats.work, kLeastWork / kMostCheap);
    if (found.status == PlanStatus::disagreement) disagreement_ = found;
    return cut_short(found.status) && o.deadline.over() ? by_clock() : found;
  }
  // Whether the clock kept any of the searches from its end.
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Of a search and its price, if there was one: a bug that must not be passed over.
  [[nodiscard]] const std::optional<SearchResult>& disagreement() const { return disagreement_; }

 private:
  SearchResult by_clock() {
    stopped_ = true;
    return {.status = PlanStatus::limit};
  }

  static constexpr std::int64_t kLeastWork = 500'000;
  static constexpr std::int64_t kMostCheap = 16;  // searches, however little work they take

  std::int64_t left_;
  const SearchFunction* searching_;
  std::optional<SearchResult> disagreement_;
  bool stopped_ = false;
};

}  // namespace nest::solve
