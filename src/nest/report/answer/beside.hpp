// An answer with its question, beside which other choices and plans are set; and how two plans differ in words, by
// what the objective counts:
//
//   is 250 ms (25.0 %) slower than     takes 25.0 % longer                1.25 s a step
//   costs 8.1 % more for a token than  costs 8.1 % more for a token       33 s a step on 64 rented devices
//   uses 8 devices more than           uses 8 devices more                72 devices, 1.25 s a step
#pragma once

#include <string>

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_options.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {

// The answer must have a plan.
struct Beside {
  const SearchResult& found;
  const PlanInputs& inputs;
  const SearchOptions& asked;

  [[nodiscard]] const Plan& taken() const { return found.plan(); }        // the one that is shown
  [[nodiscard]] const Plan& best() const { return found.plans.front(); }  // the strict optimum
  // What the plan that is taken is called, where it is above and where it stands at the head of a column.
  [[nodiscard]] std::string name() const { return found.simpler ? "the plan above" : "the best plan"; }
  [[nodiscard]] std::string column() const { return found.simpler ? "taken" : "best"; }

  // By what share more is counted of a plan than of another, below 0 for less: of its step where all else is equal.
  [[nodiscard]] double more(const Plan& plan, const Plan& than) const;

  [[nodiscard]] std::string than(const Plan& plan, const Plan& other) const;
  [[nodiscard]] std::string longer(const Plan& plan, const Plan& other) const;
  [[nodiscard]] std::string has(const Plan& plan) const;
  // "costs 250 ms (25.0 %)": of a choice with this plan, more than the other.
  [[nodiscard]] std::string costs(const Plan& plan, const Plan& other) const;
  // Whether the parts of the steps tell where one plan loses to another.
  [[nodiscard]] bool compares_steps(const Plan& plan, const Plan& other) const;
  // What JSON says of the objective besides steps: "rented_devices" and "token_cost_share", of costs.
  void put_counted(Value& out, const Plan& plan) const;
};

}  // namespace nest::report
