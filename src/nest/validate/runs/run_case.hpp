// A published run as a question to the cost model: model, cluster, recipe and degrees, ready to be priced, or
// the reason why it cannot be asked.
//
//   const RunCase c = run_case(row);
//   c.run->plan.parallelism.pipeline   -> 12, stages empty: the even split completes them
//   c.why_not                          -> "activations or weights are kept in the processor's memory"
#pragma once

#include <optional>
#include <string>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

struct PreparedRun {
  PlanInputs inputs;
  Plan plan;  // degrees only
  // Of the last micro-batch: where the batch does not divide, FSDP's last one is smaller.
  double last_share = 1;

  [[nodiscard]] const ModelSpec& model() const { return std::get<ModelSpec>(inputs.source); }
};

struct RunCase {
  std::optional<PreparedRun> run;
  std::string why_not;  // where there is none
};

// Without its own: constants fitted to runs of the row's project are left out.
[[nodiscard]] RunCase run_case(const RunRow& row, bool without_own = false);

}  // namespace nest::validate
