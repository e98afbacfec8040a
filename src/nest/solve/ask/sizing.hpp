// Finds how large a cluster must be for a training run: the fewest devices that train on a number of
// tokens within a number of days, the plan for them, and what a quarter, half, twice and four times as
// many devices would take.
//
//   const Sizing sized = size_cluster(question, {.tokens = 15e12, .days = 60});
//   sized.answer->devices == 2'048, sized.answer->days, sized.answer->device_hours()
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/question/question.hpp"

namespace nest::solve {

struct SizingTask {
  double tokens = 0;
  double days = 0;
  double uptime = 1;  // share of the days that is spent training
};

struct SizedPlan {
  Plan plan;
  PlanInputs inputs;
  std::int64_t devices = 0;  // that the plan uses
  std::int64_t rented = 0;   // of whole innermost domains: nodes are not sold in parts
  double days = 0;

  [[nodiscard]] double device_hours() const { return static_cast<double>(rented) * days * 24; }
};

struct Sizing {
  PlanStatus status = PlanStatus::infeasible;  // of the answer: optimal means that no fewer devices do
  double target_tokens_per_s = 0;
  std::optional<SizedPlan> answer;
  std::vector<SizedPlan> others;  // more and fewer devices, ascending, each with its fastest plan
  bool stopped = false;           // a limit came before all of them were asked
  std::string reason;             // why there is no answer
};

// The cluster of the question gives levels and accelerator; it grows where it is too small. `asking` is
// called before each search with the devices of its cluster.
[[nodiscard]] Sizing size_cluster(const PlanQuestion& question, const SizingTask& task,
                                  const std::function<void(std::int64_t)>& asking = {});

}  // namespace nest::solve
