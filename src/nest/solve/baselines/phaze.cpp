#include "nest/solve/baselines/phaze.hpp"

#include "nest/question/choice_values.hpp"
#include "nest/solve/baselines/flat.hpp"

namespace nest::solve {

SearchSpace phaze_space(const PlanQuestion& question) {
  SearchSpace space = question.space;
  if (space.schedules.empty() && space.interleave.has(1)) space.schedules = {Schedule::one_f_one_b};
  if (space.zero.open()) space.zero = Choice(std::vector<Choice::Range>{{0, 0}});
  if (space.recompute.empty()) {
    space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
    space.same_recompute = true;
  }
  space.mixed = false;
  if (space.context.open()) {
    space.context = Choice(1);
    // A layer profile may have nothing else.
    if (strategy_values(question.inputs, question.training, space).empty()) space.context = Choice();
  }
  return space;
}

BaselineResult find_phaze(const PlanQuestion& question, const BaselineOptions& options) {
  return find_on_flat(question, phaze_space(question), options);
}

}  // namespace nest::solve
