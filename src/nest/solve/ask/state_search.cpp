#include "nest/solve/ask/state_search.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "nest/question/state_choices.hpp"
#include "nest/solve/ask/counted.hpp"
#include "nest/solve/tree/best_plans.hpp"

namespace nest::solve {
namespace {

class StateSearch {
 public:
  StateSearch(const PlanQuestion& question, const SearchFunction& searching)
      : question_(question), searching_(searching), work_left_(question.options.work_limit) {}

  SearchResult search(const std::vector<States>& states) {
    const SearchOptions& o = question_.options;
    std::size_t winner = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      SearchResult found = look(states[i], i == 0);
      if (found.status == PlanStatus::disagreement) return found;
      count(found);
      if (i == 0 || better(found)) {
        best_ = std::move(found);
        winner = i;
      }
      if (!best_.plans.empty() && o.gap >= kAnyPlan) break;
    }
    if (best_.plans.empty()) return unfit();
    // Only the first was asked for more than one plan.
    const bool more = o.top > 1 || o.runners_up > 0 || o.near_ties > 0;
    if (winner > 0 && more && proved_) {
      SearchResult whole = look(states[winner], true, false);
      if (whole.status == PlanStatus::disagreement) return whole;
      stats_.add(whole.stats);
      if (whole.status == PlanStatus::optimal) best_ = std::move(whole);
    }
    return told();
  }

 private:
  SearchResult look(const States& states, bool whole, bool only_better = true) {
    PlanQuestion one = with_only(question_, states);
    SearchOptions& o = one.options;
    if (!whole) {
      o.top = 1;
      o.runners_up = o.near_ties = 0;
    }
    if (!best_.plans.empty() && only_better) beat(best_.plans.front(), o);
    if (work_left_) o.work_limit = std::max<std::int64_t>(0, *work_left_);
    const bool over = (work_left_ && *work_left_ <= 0) || o.deadline.over();
    if (over && begun_) return {.status = PlanStatus::limit};
    begun_ = true;
    SearchResult found = searching_(one);
    if (work_left_) *work_left_ -= found.stats.work;
    return found;
  }

  // Costs have no limit that a search knows.
  void beat(const Plan& best, SearchOptions& o) const {
    o.least_memory = false;
    if (o.objective == Objective::step_time)
      o.slowest = std::min(o.slowest.value_or(Seconds::most()), best.predicted->step);
    if (o.objective == Objective::devices)
      o.most_devices = std::min(o.most_devices.value_or(kMostDevices), best.parallelism.devices());
  }

  // Adds up what is proved.
  void count(SearchResult& found) {
    stats_.add(found.stats);
    found.stats = {};
    proved_ = proved_ && ended(found.status);
    if (found.status != PlanStatus::infeasible) bound_ = std::min(bound_, bound_of(found));
  }

  // Below which no plan of one combination is, by what the objective counts.
  [[nodiscard]] double bound_of(const SearchResult& found) const {
    const Objective objective = question_.options.objective;
    if (objective == Objective::step_time) return found.lower_bound.value;
    if (objective == Objective::devices || found.plans.empty()) return 0;
    return counted(objective, found.plans.front(), found.lower_bound, question_.inputs.cluster);
  }

  [[nodiscard]] bool better(const SearchResult& found) const {
    if (best_.plans.empty())
      return !found.plans.empty() || found.status == PlanStatus::limit ||
             (best_.status == PlanStatus::infeasible && needs_less(found));
    if (found.plans.empty()) return false;
    const Plan& a = found.plans.front();
    const Plan& b = best_.plans.front();
    const Objective objective = question_.options.objective;
    const double more = counted_more(objective, a, b, question_.inputs.cluster);
    if (objective != Objective::devices || more != 0) return more < -kTie;
    return a.predicted->step < (1 - kTie) * b.predicted->step;
  }

  [[nodiscard]] bool needs_less(const SearchResult& found) const {
    return found.least_memory.value > 0 &&
           (best_.least_memory.value == 0 || found.least_memory < best_.least_memory);
  }

  SearchResult unfit() {
    best_.stats = std::move(stats_);
    return std::move(best_);
  }

  SearchResult told() {
    Plan& plan = best_.plans.front();
    best_.stats = std::move(stats_);
    best_.status = proved_ ? PlanStatus::optimal : PlanStatus::feasible;
    const Seconds step = plan.predicted->step;
    const Objective objective = question_.options.objective;
    const bool whole = proved_ || objective == Objective::devices;  // whose bound is that of its plan
    const double each = counted(objective, plan, Seconds{1}, question_.inputs.cluster);
    best_.lower_bound = whole ? step : std::min(step, Seconds{bound_ / each});
    plan.status = best_.status;
    plan.lower_bound = best_.lower_bound;
    return std::move(best_);
  }

  static constexpr std::int64_t kMostDevices = std::int64_t{1} << 40;

  const PlanQuestion& question_;
  const SearchFunction& searching_;
  std::optional<std::int64_t> work_left_;
  SearchResult best_;
  SearchStats stats_;
  double bound_ = Seconds::most().value;
  bool proved_ = true;
  bool begun_ = false;
};

}  // namespace

SearchResult ask_states(const PlanQuestion& question, const std::vector<States>& states,
                        const SearchFunction& searching) {
  if (states.empty()) {
    SearchResult none;
    none.status = PlanStatus::infeasible;
    none.reason = question.space.offload.empty()
                      ? "the framework has none of these dtypes"
                      : "the framework has none of these dtypes, or offloads no such optimizer";
    return none;
  }
  return StateSearch(question, searching).search(states);
}

}  // namespace nest::solve
