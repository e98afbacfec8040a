#include "nest/solve/baselines/common/given_degrees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "nest/base/stopwatch.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/baselines/common/judge.hpp"

namespace nest::solve {
namespace {

// What the question rules out, as a sentence.
std::string conflict(const SearchSpace& space, const GivenDegrees& degrees) {
  if (!space.pipeline.has(degrees.pipeline))
    return fmt::format("the question allows pipeline {} only", space.pipeline.spell());
  if (!space.tensor.has(degrees.tensor))
    return fmt::format("the question allows tensor {} only", space.tensor.spell());
  return {};
}

// The question with the degrees pinned, but for what depends on the strategy.
PlanQuestion pinned(const PlanQuestion& question, const GivenDegrees& degrees) {
  PlanQuestion narrow = question;
  SearchSpace& space = narrow.space;
  space.pipeline = Choice(degrees.pipeline);
  space.tensor = Choice(degrees.tensor);
  if (space.schedules.empty() && space.interleave.has(1)) space.schedules = {Schedule::one_f_one_b};
  if (space.recompute.empty()) space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  if (space.context.open() && question.inputs.profile() == nullptr) space.context = Choice(1);
  space.mixed = false;
  narrow.options.top = 1;
  narrow.options.runners_up = 0;
  narrow.options.objective = Objective::step_time;
  return narrow;
}

std::int64_t smallest_micro_batch(const PlanQuestion& question) {
  if (question.inputs.profile() != nullptr) return question.inputs.profile()->micro_batch;
  std::int64_t least = kMostDevices;
  for (const Choice::Range& range : question.space.micro_batch.ranges()) least = std::min(least, range.first);
  return question.space.micro_batch.open() ? 1 : least;
}

class BestOf {
 public:
  BestOf(const PlanQuestion& question, const GivenDegrees& degrees, BaselineResult& result)
      : question_(question), degrees_(degrees), result_(result), narrow_(pinned(question, degrees)) {}

  void find() {
    const std::vector<Strategy> all = strategy_values(narrow_.inputs, narrow_.training, narrow_.space);
    result_.reason = fmt::format("no strategy with tensor {} fits the devices", degrees_.tensor);
    for (const Strategy& strategy : all) {
      if (question_.space.data.has(degrees_.data * strategy.side())) {
        try_strategy(strategy);
      } else {
        result_.reason = fmt::format("the question allows data {} only", question_.space.data.spell());
      }
    }
    if (!best_.predicted) return;
    result_.reason.clear();
    if (best_.training.global_batch != question_.training.global_batch) {
      result_.notes.push_back(
          fmt::format("the global batch is {} in place of {}, which {} copies do not divide",
                      best_.training.global_batch, question_.training.global_batch, degrees_.data));
    }
    if (question_.options.deadline.over()) result_.notes.emplace_back(kEndedEarly);
    const std::vector<Strategy> own = strategy_values(question_.inputs, question_.training, question_.space);
    if (std::find(own.begin(), own.end(), best_.parallelism.strategy) == own.end())
      result_.notes.push_back(
          fmt::format("tensor {} is not among the search's own degrees", degrees_.tensor));
    Pricer pricer = pricer_of(question_);
    judge(best_, pricer, result_);
    result_.believed = best_.predicted->step;
  }

 private:
  // Copies stand for themselves: how many micro-batches they run depends on the strategy.
  void try_strategy(const Strategy& strategy) {
    PlanQuestion one = narrow_;
    one.space.context = Choice(strategy.context);
    one.space.expert = Choice(strategy.expert);
    one.space.expert_tensor = Choice(strategy.expert_tensor_degree());
    one.space.sequence_parallel = {strategy.sequence_parallel};
    one.space.data = Choice(degrees_.data * strategy.side());
    const std::int64_t unit = smallest_micro_batch(question_) * degrees_.data * strategy.side();
    one.training.global_batch = (one.training.global_batch + unit - 1) / unit * unit;
    if (question_.space.zero.open()) one.space.zero = Choice(std::vector<Choice::Range>{{0, 0}});
    if (take(ask(one)) || !question_.space.zero.open()) return;
    one.space.zero = Choice();
    static_cast<void>(take(ask(one)));
  }

  // Whether it has a plan.
  bool take(const SearchResult& found) {
    result_.evaluations += found.stats.work;
    if (found.plans.empty()) {
      if (best_.predicted) return false;
      result_.reason = found.reason;
      if (found.status != PlanStatus::infeasible) result_.status = found.status;
      return false;
    }
    const Plan& plan = found.plans.front();
    if (!best_.predicted || plan.predicted->samples_per_s > best_.predicted->samples_per_s) best_ = plan;
    return true;
  }

  const PlanQuestion& question_;
  const GivenDegrees& degrees_;
  BaselineResult& result_;
  PlanQuestion narrow_;
  Plan best_;
};

}  // namespace

BaselineResult find_given_degrees(const PlanQuestion& question, const GivenDegrees& degrees) {
  const Stopwatch watch;
  BaselineResult result;
  result.reason = conflict(question.space, degrees);
  if (result.reason.empty()) BestOf(question, degrees, result).find();
  result.search_time = watch.elapsed();
  return result;
}

}  // namespace nest::solve
