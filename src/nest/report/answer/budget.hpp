// Whether a run stays within a budget that somebody set for it: a guard for the launch files of a repository.
//
//   const std::vector<Budget> budgets = read_budgets("memory=95%,step=10 s");
//   check_budgets(budgets, plan)[0].sentence
//     -> "stage 1 takes 97.2 % of a device's memory (77.4 GiB of 79.6 GiB), but the budget is 95.0 %"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/plan/plan.hpp"

namespace nest::report {

enum class BudgetKind {
  memory_share,  // of the fullest device: at most
  memory,        // bytes of it: at most
  step,          // seconds: at most
  tokens_per_s,  // at least
  mfu,           // at least
};

struct Budget {
  BudgetKind kind = BudgetKind::memory_share;
  double limit = 1;
};

// "memory=95%", "memory=70 GiB", "step=9.5 s", "tokens-per-s=500000", "mfu=40%"; several with commas between them.
// Without one of memory, all of a device's is the budget. Throws an InputError.
[[nodiscard]] std::vector<Budget> read_budgets(std::string_view text);

struct BudgetCheck {
  Budget budget;
  double value = 0;  // in the unit of the limit
  bool within = true;
  std::string sentence;  // without a full stop
};

// The plan has its results.
[[nodiscard]] std::vector<BudgetCheck> check_budgets(std::span<const Budget> budgets, const Plan& plan);
[[nodiscard]] bool all_within(std::span<const BudgetCheck> checks);

// {"within": false, "budgets": [{"what": "memory_share", "limit": 0.95, "value": 0.972, "within": false,
//  "sentence": ".."}]}
[[nodiscard]] Value to_value(std::span<const BudgetCheck> checks);

}  // namespace nest::report
