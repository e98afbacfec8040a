// Plans for failures: what a run does when one, two, .. of its nodes are gone. Each has the best plan for the
// nodes that are left, and what must move to go on with it; together with how often nodes fail and how long
// they are away, the throughput that a month can be expected to have.
//
//   const Portfolio plans = find_portfolio(question, answer, task, 2);
//   plans.steps[1].sized.plan, plans.steps[1].moved.total, plans.tokens_per_s
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/price/run/month.hpp"
#include "nest/price/run/reshard.hpp"
#include "nest/solve/ask/sizing.hpp"

namespace nest::solve {

struct PortfolioStep {
  std::int64_t nodes = 0;          // that are left
  std::optional<SizedPlan> sized;  // none: nothing fits, or there was no time
  std::string reason;
  Reshard moved;     // from the step before that has a plan; nothing for the first
  double share = 0;  // of a month with just so many nodes
};

struct Portfolio {
  std::vector<PortfolioStep> steps;  // all nodes, one fewer, ..
  bool stopped = false;              // a limit came first
  // Over a month, failures considered; only where it is known how often nodes fail.
  std::optional<double> tokens_per_s;
  std::optional<double> waiting_tokens_per_s;  // if the run waited whenever a node is away
};

inline constexpr std::int64_t kMostSpares = 16;

// `answer`: the plan with all nodes; its cluster is cut to as many as it rents. Throws an InputError
// where so many nodes cannot fail.
[[nodiscard]] Portfolio find_portfolio(const PlanQuestion& question, const SizedPlan& answer,
                                       const SizingTask& task, std::int64_t spares,
                                       const std::function<void(std::int64_t)>& asking = {});

}  // namespace nest::solve
