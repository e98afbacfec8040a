#include "nest/solve/ask/why_not.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/price/price.hpp"
#include "nest/question/make_question.hpp"
#include "nest/solve/ask/counted.hpp"
#include "nest/solve/tree/best_plans.hpp"

namespace nest::solve {
namespace {

std::string sample_value(const SpaceOption& option) {
  if (std::holds_alternative<Choice SearchSpace::*>(option.member))
    return std::to_string(std::min<std::int64_t>(4, option.most));
  if (std::holds_alternative<std::vector<bool> SearchSpace::*>(option.member)) return "on";
  const std::string_view values = option.all.empty() ? option.text : option.all;
  return std::string(values.substr(0, values.find_first_of(", ")));
}

std::optional<SpaceProblem> pin_choice(std::string_view text, SearchSpace& space) {
  const std::size_t equals = text.find('=');
  std::string name(text.substr(0, equals));
  if (name.starts_with("--")) name.erase(0, 2);
  std::replace(name.begin(), name.end(), '_', '-');
  const SpaceOption* option = find_space_option(name);
  if (option == nullptr) {
    std::vector<std::string> known;
    for (const SpaceOption& o : space_options()) known.emplace_back(o.name);
    const std::string guess = did_you_mean(name, known);
    return SpaceProblem{
        fmt::format("there is no choice '{}'; {}", name,
                    guess.empty() ? "write one as tensor=4, zero=3 or schedule=gpipe" : guess)};
  }
  if (equals == std::string_view::npos)
    return SpaceProblem{fmt::format("'{}' needs a value, as in {}={}", name, name, sample_value(*option))};
  auto problem = read_space_option(*option, text.substr(equals + 1), space);
  if (problem) problem->what = name + ": " + problem->what;
  return problem;
}

void compare(WhyNot& answer, const PlanQuestion& question, const Plan& taken) {
  const Plan& other = answer.found.plans.front();
  answer.cost = other.predicted->step - taken.predicted->step;
  answer.more = counted_more(question.options.objective, other, taken, question.inputs.cluster);
  answer.chosen = same_plan(other, taken);
}

}  // namespace

bool same_plan(const Plan& a, const Plan& b) {
  const double step = a.predicted->step.value;
  return a.parallelism == b.parallelism && a.training == b.training &&
         std::abs(b.predicted->step.value - step) <= kTie * step;
}

std::optional<SpaceProblem> pin_choices(std::string_view text, SearchSpace& space) {
  bool any = false;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string_view one = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (one.empty()) continue;
    if (auto problem = pin_choice(one, space)) return problem;
    any = true;
  }
  if (!any) return SpaceProblem{"a choice is expected, as in tensor=4"};
  return std::nullopt;
}

PlanQuestion with_choice(const PlanQuestion& question, const std::string& choice) {
  Asked asked = question.asked;
  if (const auto problem = pin_choices(choice, asked.choices))
    throw InputError("", "--why-not", problem->what);
  PlanQuestion changed = ask_otherwise(question, asked);
  // The cluster may be another one than that which was asked about.
  changed.inputs = question.inputs;
  return changed;
}

WhyNot why_not(const PlanQuestion& question, const std::string& choice, const Plan& taken,
               const SearchFunction& searching) {
  WhyNot out;
  out.choice = choice;
  std::optional<PlanQuestion> changed;
  try {
    changed = with_choice(question, choice);
  } catch (const AskedError& error) {  // the framework or the model has no such choice
    out.found.reason = error.problem();
    return out;
  }
  changed->options.top = 1;
  changed->options.runners_up = 0;
  out.found = searching(*changed);
  if (out.found.plans.empty()) return out;
  compare(out, question, taken);
  return out;
}

WhyNot why_not_plan(const PlanQuestion& question, const std::string& name, Plan plan, const Plan& taken) {
  WhyNot out;
  out.choice = name;
  out.given = true;
  try {
    Pricer pricer(question.inputs, question.options.price_options());
    plan = pricer.complete(std::move(plan));
    const PricedPlan priced = pricer.price(plan);
    out.found.reason = priced.reason;
    if (priced.status == PriceStatus::invalid) return out;
    plan = pricer.place(std::move(plan));
    out.found.status = priced.status == PriceStatus::feasible ? PlanStatus::feasible : PlanStatus::infeasible;
    out.found.plans.push_back(with_results(std::move(plan), priced));
  } catch (const InputError& error) {  // it cannot be completed
    out.found.reason = error.problem();
    return out;
  }
  compare(out, question, taken);
  return out;
}

}  // namespace nest::solve
