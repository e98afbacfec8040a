#include "nest/solve/ask/answer.hpp"

#include <utility>

#include "nest/solve/ask/batches.hpp"
#include "nest/solve/ask/simpler.hpp"
#include "nest/solve/tree/best_plans.hpp"

namespace nest::solve {
namespace {

bool compares_steps(const PlanQuestion& question) {
  const SearchOptions& o = question.options;
  return o.objective == Objective::step_time && o.gap == 0 && !question.options.deadline.over();
}

// The best plan that needs no margin, if it is faster than the best that leaves one.
void price_safety(const PlanQuestion& question, Further& further, SearchResult& found) {
  PlanQuestion risky = question;
  risky.options.memory_margin = 0;
  risky.options.slowest = found.plans.front().predicted->step;
  SearchResult other = further.ask(std::move(risky));
  found.safety_known = other.status == PlanStatus::optimal || other.status == PlanStatus::infeasible;
  if (other.plans.empty()) return;
  const Plan& fastest = other.plans.front();
  if (fastest.predicted->step.value < found.plans.front().predicted->step.value * (1 - kTie))
    found.risky = std::move(other.plans.front());
}

SearchResult add_others(const PlanQuestion& asked, SearchResult found, const AnswerOptions& options,
                        const SearchFunction& searching) {
  if (found.plans.empty() || found.status == PlanStatus::disagreement || !compares_steps(asked)) return found;
  PlanQuestion question = asked;
  question.training.global_batch = found.plans.front().training.global_batch;
  question.batches.clear();
  Further further(found.stats.work, searching);
  const auto tell = [&](const char* what) {
    if (options.asking) options.asking(what);
  };
  if (question.options.memory_margin > 0) {
    tell("what a margin of memory costs");
    price_safety(question, further, found);
  }
  if (!question.asked.strict && question.options.top == 1) {
    tell("simpler plans that take hardly longer");
    Simpler simpler = simpler_plan(question, found, further);
    found.simpler = std::move(simpler.plan);
    found.avoids = std::move(simpler.avoids);
  }
  if (asked.batches.empty() && question.options.top == 1) {
    tell("batches near this one");
    found.better_batch = better_batch(question, found.plan(), further);
  }
  if (further.disagreement()) return *further.disagreement();
  return found;
}

}  // namespace

SearchResult answer(const PlanQuestion& asked, const AnswerOptions& options,
                    const SearchFunction& searching) {
  SearchResult found = add_others(asked, searching(asked), options, searching);
  const auto say = [&](Plan& plan) {
    plan.status = found.status;
    plan.lower_bound = found.lower_bound;
  };
  if (!found.plans.empty() && found.status != PlanStatus::disagreement) say(found.plans.front());
  if (found.simpler) say(*found.simpler);
  return found;
}

}  // namespace nest::solve
