#include "nest/solve/ask/answer.hpp"

#include <utility>

#include "nest/question/state_choices.hpp"
#include "nest/solve/ask/batches.hpp"
#include "nest/solve/ask/counted.hpp"
#include "nest/solve/ask/further.hpp"
#include "nest/solve/ask/simpler.hpp"
#include "nest/solve/tree/best_plans.hpp"

namespace nest::solve {
namespace {

constexpr int kNearTies = 3;  // that are told of, where no ranking is asked for
// Of the time: for simpler plans, where the search needs all of it. Short limits go to the search alone.
constexpr double kForSimpler = 0.15;
constexpr Seconds kWorthSharing{2};

bool ranks_simply(const PlanQuestion& question) {
  const SearchOptions& o = question.options;
  return o.objective == Objective::step_time && o.gap == 0 && o.top == 1;
}

// What is proved of the best plan without a margin, with the one that was found.
void price_safety(const PlanQuestion& question, Further& further, SearchResult& found) {
  const SearchOptions& o = question.options;
  const Plan& safe = found.plans.front();
  PlanQuestion risky = question;
  risky.options.memory_margin = 0;
  // Only better plans count; a limit of costs there is none.
  if (o.objective == Objective::step_time) risky.options.slowest = safe.predicted->step;
  SearchResult other = further.ask(std::move(risky));
  Safety& safety = found.safety;
  safety.known = ended(other.status);
  if (other.plans.empty()) return;
  Plan& best = other.plans.front();
  const Cluster& cluster = question.inputs.cluster;
  const double more = counted_more(o.objective, safe, best, cluster);
  // The bound is a step of the devices that the plan without a margin rents.
  if (other.lower_bound.value > 0)
    safety.most =
        counted(o.objective, safe, cluster) / counted(o.objective, best, other.lower_bound, cluster) - 1;
  if (more <= kTie) return;
  safety.costs = more;
  found.risky = std::move(best);
}

SearchResult search_all(const PlanQuestion& asked, const AnswerOptions& options,
                        const SearchFunction& searching) {
  const bool simplifies = ranks_simply(asked) && !asked.asked.strict;
  PlanQuestion first = asked;
  if (first.options.top == 1 && first.options.runners_up == 0) first.options.near_ties = kNearTies;
  if (const auto left = asked.options.deadline.left(); simplifies && left && *left > kWorthSharing)
    first.options.deadline = asked.options.deadline.within(*left * (1 - kForSimpler));
  SearchResult found = searching(first);
  const bool late = first.options.deadline.over();
  if (found.plans.empty() || found.status == PlanStatus::disagreement ||
      asked.options.objective == Objective::devices)
    return found;
  const PlanQuestion question = settled(asked, found.plans.front());
  Further further(found.stats.work, searching);
  const auto tell = [&](const char* what) {
    if (options.asking) options.asking(what);
  };
  const auto simplify = [&] {
    tell("simpler plans that take hardly longer");
    Simpler simpler = simpler_plan(question, found, further);
    // One that some of the searches have led to would depend on the machine; where the clock ended the first one, the
    // plan does so anyway.
    if (further.stopped() && !late) return;
    found.simpler = std::move(simpler.plan);
    found.avoids = std::move(simpler.avoids);
  };
  // What is left where the search used up its time is too little for all.
  if (simplifies && late) simplify();
  if (question.options.memory_margin > 0) {
    tell("what a margin of memory costs");
    price_safety(question, further, found);
  }
  if (simplifies && !late) simplify();
  if (asked.batches.empty() && ranks_simply(question)) {
    tell("batches near this one");
    std::optional<Plan> better = better_batch(question, found.plan(), further);
    if (!further.stopped()) found.better_batch = std::move(better);
  }
  found.further_stopped = further.stopped();
  if (further.disagreement()) return *further.disagreement();
  return found;
}

}  // namespace

SearchResult answer(const PlanQuestion& asked, const AnswerOptions& options,
                    const SearchFunction& searching) {
  SearchResult found = search_all(asked, options, searching);
  const auto say = [&](Plan& plan) {
    plan.status = found.status;
    plan.lower_bound = found.lower_bound;
  };
  if (!found.plans.empty() && found.status != PlanStatus::disagreement) say(found.plans.front());
  if (found.simpler) say(*found.simpler);
  return found;
}

}  // namespace nest::solve
