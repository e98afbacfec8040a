#include "nest/solve/baselines/common/judge.hpp"

#include <utility>

#include "nest/base/error.hpp"

namespace nest::solve {

void judge(Plan plan, Pricer& pricer, BaselineResult& result) {
  result.status = PlanStatus::infeasible;
  result.plan.reset();
  try {
    plan = pricer.place(pricer.complete(std::move(plan)));
  } catch (const InputError& error) {
    result.reason = error.what();
    return;
  }
  const PricedPlan priced = pricer.price(plan);
  result.reason = priced.reason;
  if (priced.status == PriceStatus::invalid) return;
  if (priced.status == PriceStatus::feasible) result.status = PlanStatus::feasible;
  result.plan = with_results(std::move(plan), priced);
  result.plan->status = result.status;
  result.plan->lower_bound.reset();
}

Pricer pricer_of(const PlanQuestion& question) {
  return Pricer(question.inputs, question.options.price_options());
}

}  // namespace nest::solve
