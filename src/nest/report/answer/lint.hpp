// What is wrong with a training run that somebody launches, and what is slow about it: its plan priced, its
// groups looked at, and the best plan that its framework can run on the same devices set beside it, setting by
// setting, in the words of the file.
//
//   wrong  stage 0 is 2.3 GB over on rank 0
//   slow   tensor groups straddle nodes: 31 % of the step
//   slow   the best plan is 1.18x faster: change these three flags
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/frameworks/common/dialect.hpp"
#include "nest/frameworks/megatron/megatron_dialect.hpp"
#include "nest/price/price.hpp"
#include "nest/question/asked.hpp"
#include "nest/question/search_options.hpp"

namespace nest::report {

enum class LintKind { wrong, slow, hint };
[[nodiscard]] std::string_view name_of(LintKind kind);

struct LintFinding {
  LintKind kind = LintKind::hint;
  std::string rule;      // "memory", "tensor-across-nodes", ..
  std::string sentence;  // without a full stop
  double share = 0;      // of the step, where it is known
};

// A flag or another setting that the best plan has otherwise; an empty text: it is not there.
struct FlagChange {
  std::string flag;
  std::string now;
  std::string better;
};

struct LintReport {
  PricedPlan priced;
  std::vector<LintFinding> findings;  // wrong ones first, then by share
  std::optional<Plan> best;           // that the framework can run with the same batch
  PlanStatus best_status = PlanStatus::infeasible;
  double speedup = 1;  // of the best over this one, where this one fits
  std::vector<FlagChange> changes;
  const Dialect* dialect = nullptr;
};

// The plan must be complete and placed. The best plan is searched within the limits that are asked for;
// devices and training are the plan's, rules and words the dialect's. `progress` is told of that search; there
// is none where no rules of the framework are known.
[[nodiscard]] LintReport lint(const Plan& plan, const PlanInputs& inputs, Asked asked = {},
                              const std::function<void(const SearchProgress&)>& progress = {},
                              const Dialect& dialect = megatron_dialect());

[[nodiscard]] std::string lint_text(const LintReport& report, const Plan& plan, const PlanInputs& inputs);
[[nodiscard]] Value to_value(const LintReport& report, const Plan& plan);

}  // namespace nest::report
