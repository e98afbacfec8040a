#include "nest/report/answer/whole_answer.hpp"

#include <algorithm>
#include <cstddef>

#include "nest/price/run/run_cost.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "nest/report/answer/sizing_text.hpp"

namespace nest::report {
namespace {

Value limit_value(const SearchResult& found) {
  Value v = Value::object();
  v.set("status", name_of(found.status)).set("reason", "stopped at a limit before a plan was found");
  if (found.lower_bound.value > 0) v.set("lower_bound_s", found.lower_bound.value);
  return v;
}

Value plan_found(const PlanQuestion& question, const SearchResult& found, const WholeAnswer& also) {
  Warnings warnings = also.warnings;
  warnings.insert(warnings.end(), question.notes.begin(), question.notes.end());
  Value v = answer_value(found, question.inputs, question.options, warnings);
  if (also.in_full) {
    v.set("alternatives", alternatives_value(found, question.inputs));
  } else if (question.options.top > 1) {
    // The K best in full; those after them stay runners-up.
    SearchResult first = found;
    first.plans.resize(std::min(found.plans.size(), static_cast<std::size_t>(question.options.top)));
    v.set("alternatives", alternatives_value(first, question.inputs));
  }
  return v;
}

}  // namespace

Value whole_answer(const PlanQuestion& question, const SearchResult& found, const WholeAnswer& also) {
  if (found.plans.empty()) {
    Value v = found.status == PlanStatus::limit
                  ? limit_value(found)
                  : unfit_value(found, also.advice != nullptr ? *also.advice : AdviceList{});
    if (also.stats) v.set("search", to_value(found.stats));
    return v;
  }
  Value v = plan_found(question, found, also);
  if (also.stats) v.set("search", to_value(found.stats));
  const RunCosts costs(question.asked.run, question.inputs, found.plan().training);
  if (question.options.objective == Objective::cost || costs.costs_money() || costs.fails())
    v.set("cost", plan_cost_value(found.plan(), question.inputs, costs));
  return v;
}

Value disagreement_value(const SearchResult& found) {
  Value v = Value::object();
  v.set("status", name_of(found.status)).set("reason", found.reason);
  return v;
}

}  // namespace nest::report
