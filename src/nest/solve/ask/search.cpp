#include "nest/solve/ask/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "nest/base/error.hpp"
#include "nest/base/stopwatch.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/price.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/question/make_question.hpp"
#include "nest/question/module_points.hpp"
#include "nest/question/state_choices.hpp"
#include "nest/solve/ask/batches.hpp"
#include "nest/solve/ask/less_recompute.hpp"
#include "nest/solve/ask/state_search.hpp"
#include "nest/solve/ask/verify.hpp"
#include "nest/solve/tree/least_memory.hpp"
#include "nest/solve/tree/search_tree.hpp"

namespace nest::solve {
namespace {

// A plan that reaches a target but for rounding reaches it.
constexpr double kReached = 1 + 1e-12;
constexpr const char* kNothingFound = "no plan was found before the limit";
constexpr const char* kNothingFoundInMemory = "no plan was found before the memory limit";

Prunings prunings_of(const SearchOptions& options) {
  Prunings prunings;
  for (const std::string& name : options.without) {
    bool* own = find_pruning(prunings, name);
    if (own == nullptr) throw InputError("", "without", "there is no pruning '" + name + "'");
    *own = false;
  }
  return prunings;
}

// Strategies at every micro-batch size that the model can be cut by, with every number of stages and copies.
void add_degrees(SearchProblem& problem, const PlanQuestion& question, Workers& workers,
                 std::string& refusal) {
  const Training& training = question.training;
  const SearchSpace& space = question.space;
  struct Pair {
    std::size_t batch;
    std::size_t strategy;
    std::vector<Degrees> degrees;
    std::string refusal;
  };
  std::vector<Pair> pairs;
  SearchCosts& costs = *problem.costs;
  for (std::size_t b = 0; b < costs.batches().size(); ++b) {
    for (std::size_t s = 0; s < problem.strategies.size(); ++s) pairs.push_back({b, s, {}, {}});
  }
  std::vector<Evaluator> evaluators;
  evaluators.reserve(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) evaluators.emplace_back(problem);
  const std::int64_t all_devices = costs.inputs().cluster.devices();
  const std::int64_t devices = std::min(all_devices, question.options.most_devices.value_or(all_devices));
  workers.run(pairs.size(), [&](std::size_t worker, std::size_t job) {
    question.options.deadline.look();
    Pair& pair = pairs[job];
    const Batch& batch = costs.batches()[pair.batch];
    const Strategy& strategy = problem.strategies[pair.strategy];
    pair.refusal = costs.refusal(batch, strategy);
    if (!pair.refusal.empty()) return;
    const std::int64_t cell = strategy.cell();
    const std::int64_t together = batch.training.micro_batch * strategy.side();
    const auto layers = static_cast<std::int64_t>(batch.sets->layers());
    for (const std::int64_t p : space.pipeline.values(std::min(layers, devices / cell))) {
      question.options.deadline.look();
      for (const std::int64_t q :
           copies_values(training, space, batch.training.micro_batch, strategy, devices / cell / p)) {
        Degrees degrees{pair.batch,   pair.strategy,   p,       q, training.global_batch / (together * q),
                        cell * q * p, Seconds::most(), Bytes{0}};
        for (const Schedule schedule : schedule_values(space)) {
          if (!problem.goes_with(strategy, schedule)) continue;
          for (const std::int64_t v : interleave_values(space)) {
            if (!runs_with(schedule, {p, degrees.micro_batches, v})) continue;
            degrees.bound = std::min(degrees.bound, evaluators[worker].quick_bound(degrees, schedule, v));
          }
        }
        if (degrees.bound == Seconds::most()) continue;
        degrees.memory = evaluators[worker].memory_floor(degrees);
        pair.degrees.push_back(degrees);
      }
    }
  });
  for (const Pair& pair : pairs) {
    if (refusal.empty()) refusal = pair.refusal;
    problem.degrees.insert(problem.degrees.end(), pair.degrees.begin(), pair.degrees.end());
  }
  std::sort(problem.degrees.begin(), problem.degrees.end(), [](const Degrees& a, const Degrees& b) {
    return std::tie(a.bound, a.batch, a.strategy, a.pipeline, a.copies) <
           std::tie(b.bound, b.batch, b.strategy, b.pipeline, b.copies);
  });
}

// The plan with what is left open of it: less recomputation where that takes no longer.
Plan plainer(Pricer& pricer, const SearchProblem& problem, const Plan& plan) {
  const std::vector<Batch>& batches = problem.costs->batches();
  const auto own = std::find_if(batches.begin(), batches.end(), [&](const Batch& batch) {
    return batch.training.micro_batch == plan.training.micro_batch;
  });
  const SearchSpace& space = *problem.space;
  LessRecompute less{problem.recompute, space.same_recompute};
  if (space.rules != nullptr) {
    less.same = less.same || space.rules->same_recompute;
    if (!space.rules->allows_part(plan.parallelism.interleave)) less.choices.drop_parts();
  }
  return less_recompute(pricer, *own->graph, less, plan);
}

// Complete, placed and priced, or why not. What the search says is set beside the price, and the finished
// plan beside a price of its own.
std::string finish(Pricer& pricer, const SearchProblem& problem, const BestPlans::Entry& entry,
                   PlanStatus status, const SearchOptions& options, Plan& plan) {
  PricedPlan priced;
  try {
    plan = pricer.place(entry.plan);
    priced = pricer.price(plan);
    if (priced.status != PriceStatus::feasible) return priced.reason;
    const double price = priced.predicted.step.value;
    if (std::abs(price - entry.step.value) > kPriceTolerance * price)
      return fmt::format("the search says {:.12g} s a step, the price is {:.12g} s", entry.step.value, price);
    plan = pricer.place(plainer(pricer, problem, entry.plan));
  } catch (const InputError& error) {
    return error.what();
  }
  priced = pricer.price(plan);
  plan = with_results(std::move(plan), priced);
  plan.status = status;
  return verify_plan(plan, pricer.inputs(), options.price_options()).value_or("");
}

// What is certain without a look at stages: no plan needs less, and most need more.
Bytes memory_floor(const SearchProblem& problem) {
  Bytes least = Bytes::most();
  for (const Degrees& degrees : problem.degrees) least = std::min(least, degrees.memory);
  return problem.costs->coster().on_device(least);
}

void explain_lack(const SearchProblem& problem, const SearchOptions& options, const std::string& refusal,
                  const FrameworkRule* rule, SearchResult& result) {
  result.status = PlanStatus::infeasible;
  if (!problem.degrees.empty() && options.least_memory) {
    Bytes needs;
    bool known = true;
    // Half of the time is for advice.
    const auto left = options.deadline.left();
    try {
      needs = least_memory(problem, left ? options.deadline.within(*left / 2) : options.deadline);
    } catch (const Stopped&) {
      needs = memory_floor(problem);
      known = false;
    }
    const Bytes has = problem.costs->inputs().cluster.device_memory();
    const Bytes free = problem.costs->coster().margin();
    // A device of that size keeps its share of it free.
    if (known)
      result.least_memory = round_up_bytes(static_cast<double>(needs.value) / (1 - options.memory_margin));
    if (needs >= kNowhereToLie) {
      result.least_memory = {};
      result.reason = fmt::format("what is offloaded takes more than the {} of host memory that a device has",
                                  format_memory(problem.costs->inputs().cluster.accelerator().host().memory));
      return;
    }
    if (needs + free > has) {
      result.reason = fmt::format(
          "the fullest device of every plan needs {} or more, a device has {}{}", format_memory(needs),
          format_memory(has),
          free.value > 0 ? fmt::format(" and {} of it are kept free as a margin", format_memory(free)) : "");
      return;
    }
    if (!known) {
      result.reason = "no plan of the space fits or is valid; the search ended before it found out why";
      return;
    }
  }
  if (problem.degrees.empty() && !refusal.empty()) {
    result.reason = refusal;
  } else if (problem.degrees.empty()) {
    result.reason = "no combination of the degrees fits the batch, the layers and the devices";
  } else if (options.slowest) {
    result.reason = fmt::format("no plan of the space takes {} or less", format(*options.slowest));
  } else if (rule != nullptr) {
    result.reason = rule->sentence;
  } else {
    result.reason = "no plan of the space is valid, or reaches the target";
  }
}

SearchResult nothing_found(std::string reason) {
  SearchResult result;
  result.status = PlanStatus::limit;
  result.reason = std::move(reason);
  return result;
}

// What the tree of one space reads. The question outlives it.
struct Space {
  SearchCosts costs;
  SearchProblem problem;
  Placements placements;
  std::string refusal;  // of its first strategy that is refused

  Space(const PlanQuestion& question, Workers& workers)
      : costs(question.inputs, question.training, question.space,
              micro_batch_values(question.inputs, question.training, question.space), question.options),
        problem(problem_of(question, costs)),
        placements(question.inputs.cluster, costs.constants(), problem.strategies, question.space,
                   problem.prunings.same_network && !question.space.mixed, question.options.deadline,
                   question.options.objective == Objective::cost) {
    problem.placements = &placements;
    add_degrees(problem, question, workers, refusal);
  }

 private:
  static SearchProblem problem_of(const PlanQuestion& question, SearchCosts& costs) {
    const SearchSpace& space = question.space;
    SearchProblem problem;
    problem.costs = &costs;
    problem.space = &space;
    problem.pipeline_model = question.options.pipeline_model;
    problem.prunings = prunings_of(question.options);
    problem.strategies = strategy_values(question.inputs, question.training, space);
    problem.recompute =
        RecomputeChoices(space.recompute, points_of(question.inputs, question.training, space));
    if (!costs.selective()) problem.recompute.drop_selective();
    if (space.rules != nullptr && space.rules->whole_recompute) problem.recompute.drop_parts();
    problem.bills = question.options.objective == Objective::cost;
    return problem;
  }
};

// The plans of the space in which all stages are alike, before the much larger one in which they may differ: half of
// the time and the work is theirs, so that the larger space has no worse plan than they had with that half alone.
void search_alike(const PlanQuestion& question, Workers& workers, BestPlans& best, SearchStats& stats) {
  PlanQuestion alike = question;
  alike.space.mixed = false;
  SearchOptions& options = alike.options;
  if (options.work_limit) *options.work_limit /= 2;
  if (const auto left = options.deadline.left()) options.deadline = options.deadline.within(*left / 2);
  if (options.progress) {
    options.progress = [told = question.options.progress](SearchProgress progress) {
      progress.bound = {};  // of the larger space nothing is known yet
      told(progress);
    };
  }
  try {
    Space space(alike, workers);
    SearchTree tree(space.problem, options, best, workers);
    tree.run();
    tree.count(stats);
    stats.networks = space.placements.networks();
  } catch (const Stopped&) {
    return;  // before the tree: the larger space has the other half
  }
}

SearchResult find_plans(const PlanQuestion& question) {
  Stopwatch watch;
  const PlanInputs& inputs = question.inputs;
  const Training& wanted = question.training;
  SearchOptions options = question.options;
  SearchResult result;
  Workers workers(static_cast<std::size_t>(
      options.threads > 0 ? options.threads
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))));
  const double tokens = static_cast<double>(wanted.global_batch) * static_cast<double>(wanted.sequence);
  const bool fewest = options.objective == Objective::devices;
  const int proved = std::max(1, options.top) + std::max(0, options.runners_up);
  const Seconds enough = fewest && options.target_tokens_per_s > 0
                             ? Seconds{tokens / options.target_tokens_per_s * kReached}
                             : Seconds::most();
  BestPlans best(options.objective, proved, std::min(enough, options.slowest.value_or(Seconds::most())));
  SearchStats alike;
  if (question.space.mixed) {
    search_alike(question, workers, best, alike);
    if (auto& limit = options.work_limit) limit = std::max(*limit / 2, *limit - alike.work);
    const Seconds before = watch.lap();
    result.stats.times.emplace_back("stages that are alike", before);
    if (options.progress) {
      options.progress = [told = question.options.progress, before](SearchProgress progress) {
        progress.elapsed = progress.elapsed + before;
        told(progress);
      };
    }
  }
  Space space(question, workers);
  SearchCosts& costs = space.costs;
  SearchProblem& problem = space.problem;
  // First plans have stages that are alike.
  if (question.space.mixed && best.best() != nullptr) problem.prunings.dive = false;
  result.stats.strategies = static_cast<std::int64_t>(problem.strategies.size() * costs.batches().size());
  result.stats.times.emplace_back("costs and groups", watch.lap());

  SearchTree tree(problem, options, best, workers);
  tree.run();
  tree.count(result.stats);
  result.stats.networks = space.placements.networks();
  result.stats.add(alike);
  result.stats.times.emplace_back("search", watch.lap());

  Seconds bound = tree.left_out();
  // Of costs, from here on: as seconds of a step of the devices that the best plan rents.
  if (best.best() != nullptr) bound = bound / best.best()->weight;
  if (best.best() == nullptr) {
    if (tree.stopped()) {
      result.status = PlanStatus::limit;
      result.lower_bound = bound;
      result.reason = tree.full() ? kNothingFoundInMemory : kNothingFound;
    } else {
      explain_lack(problem, options, space.refusal, tree.broken(), result);
    }
    result.stats.times.emplace_back("why nothing fits", watch.lap());
    return result;
  }
  const Seconds step = best.best()->step;
  // What the gap left out may be better than the plan, what was stopped too.
  result.lower_bound = fewest ? step : std::min(step, bound);
  result.status = !tree.stopped() && costs.whole() && (fewest || bound >= step) ? PlanStatus::optimal
                                                                                : PlanStatus::feasible;
  Pricer pricer(inputs, options.price_options());
  const auto ranked = static_cast<std::size_t>(proved);
  const auto near = static_cast<std::size_t>(std::max(0, options.near_ties));
  for (const BestPlans::Entry* entry : best.all()) {
    const bool ties = result.plans.size() >= ranked;
    if (ties && (result.near_ties.size() >= near || entry->step > step * (1 + kNoise))) break;
    Plan plan;
    const PlanStatus status = result.plans.empty() ? result.status : PlanStatus::feasible;
    if (std::string difference = finish(pricer, problem, *entry, status, options, plan);
        !difference.empty()) {
      result.status = PlanStatus::disagreement;
      result.lower_bound = {};
      result.reason = std::move(difference);
      result.instance = plan_value(plan, inputs);
      result.plans.clear();
      result.near_ties.clear();
      break;
    }
    if (ties) {
      result.near_ties.push_back(std::move(plan));
      continue;
    }
    if (result.plans.empty()) {
      plan.lower_bound = result.lower_bound;
      if (result.status == PlanStatus::optimal && !fewest) {
        plan.lower_bound = plan.predicted->step;
        result.lower_bound = plan.predicted->step;
      }
    }
    result.plans.push_back(std::move(plan));
  }
  for (const Degrees& own : problem.degrees) {
    if (own.bound > step * (1 + kNear) || problem.too_large(own)) continue;
    Parallelism degrees;
    degrees.strategy = problem.strategies[own.strategy];
    degrees.pipeline = own.pipeline;
    degrees.data = own.copies * degrees.strategy.side();
    result.near_degrees.push_back(degrees);
  }
  result.stats.times.emplace_back("check and price", watch.lap());
  return result;
}

}  // namespace

SearchResult search(const PlanInputs& inputs, const Asked& asked) {
  return ask(make_question(inputs, asked));
}

SearchResult ask(const PlanQuestion& question) {
  check_question(question);
  if (question.batches.size() > 1) return ask_batches(question, question.batches, ask);
  const std::vector<States> states = state_values(question.inputs, question.training, question.space);
  if (states.size() != 1) return ask_states(question, states, ask);
  if (!(states.front() == question.training.states)) return ask(with_only(question, states.front()));
  try {
    return find_plans(question);
  } catch (const Stopped&) {  // before the tree: nothing is known of any plan
    return nothing_found(kNothingFound);
  } catch (const TableTooLarge&) {
    return nothing_found("the ways to cut the layers into stages take more memory than the limit allows");
  }
}

}  // namespace nest::solve
