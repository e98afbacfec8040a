#include "nest/report/answer/answer_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/plan_notes.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

std::string signed_time(Seconds time) {
  return (time.value < 0 ? "-" : "+") + format(Seconds{std::abs(time.value)});
}

// "tensor=8 zero=3" in words.
std::string spell_choice(const WhyNot& answer) {
  if (answer.given) return "it";
  std::string text;
  for (const char c : answer.choice)
    text += c == '=' ? std::string(" ") : c == ' ' ? ", " : std::string(1, c);
  return text;
}

// Of a plan as it is.
std::string given_sentence(const WhyNot& answer, const Plan& best) {
  const Plan& other = answer.found.plans.front();
  const auto loss = largest_loss(best, other);
  const double share = answer.cost->value / best.predicted->step.value;
  std::string out;
  if (answer.found.status == PlanStatus::infeasible) {
    const StageMemory& m = *other.stages[fullest_stage(other)].memory;
    out = fmt::format(
        "It does not fit: {}. That is {} too much, and most of it is {}. If it fitted, it would be ",
        answer.found.reason, format_memory(m.over()), largest_memory(m));
  } else {
    out = "It is ";
  }
  out += fmt::format("{} ({}) {} than the best plan: {} a step.",
                     format(Seconds{std::abs(answer.cost->value)}), format_percent(std::abs(share)),
                     share < 0 ? "faster" : "slower", format(other.predicted->step));
  if (share < 0 && answer.found.status == PlanStatus::feasible)
    return out + " It is outside the space that was searched, or leaves less memory free than is asked for" +
           (other.predicted->fits_probability
                ? fmt::format(" (it fits with {})", format_percent(*other.predicted->fits_probability, 0))
                : "") +
           ".";
  if (loss) out += fmt::format(" It loses most time in {}: {}.", loss->name, signed_time(loss->change()));
  return out;
}

std::string cost_sentence(const WhyNot& answer, const Plan& best) {
  if (answer.given) return given_sentence(answer, best);
  const Plan& other = answer.found.plans.front();
  const std::string it = spell_choice(answer);
  const std::string proved = answer.found.status == PlanStatus::optimal
                                 ? "the best plan with it"
                                 : "the best plan found with it (not proved)";
  const double share = answer.cost->value / best.predicted->step.value;
  if (share <= 0) {
    return fmt::format("{} costs nothing: {} takes {} a step, and the plan above takes {}.", it, proved,
                       format(other.predicted->step), format(best.predicted->step));
  }
  const auto loss = largest_loss(best, other);
  return fmt::format(
      "{} costs {} ({:.1f} %): {} takes {} a step.{}", it, format(*answer.cost), 100 * share, proved,
      format(other.predicted->step),
      loss ? fmt::format(" It loses most time in {}: {}.", loss->name, signed_time(loss->change())) : "");
}

std::string comparison(const WhyNot& answer, const Plan& best) {
  const PlanDifference difference = diff(best, answer.found.plans.front());
  Table choices({{"choice"}, {"best"}, {answer.choice}});
  constexpr std::size_t kMostChoices = 14;
  std::size_t stages = 0;
  std::size_t rows = 0;
  for (const ChoiceDifference& c : difference.choices) {
    const bool of_stage = c.what.starts_with("stage ") && c.what != "stage at device 0";
    if (of_stage) ++stages;
    if (of_stage || rows == kMostChoices) continue;
    choices.add({c.what, c.first, c.second});
    ++rows;
  }
  if (stages > 0)
    choices.add({"stages", "",
                 fmt::format("{} choice{} in single stages", stages, stages == 1 ? " differs" : "s differ")});
  Table terms({{"part"}, {"best", Align::right}, {answer.choice, Align::right}, {"change", Align::right}});
  for (const TermDifference& t : difference.terms) {
    if (t.first.value == 0 && t.second.value == 0) continue;
    terms.add({t.name, format(t.first), format(t.second), signed_time(t.change())});
  }
  terms.add({"step", format(difference.first), format(difference.second),
             signed_time(difference.second - difference.first)});
  return choices.str() + "\n" + terms.str();
}

}  // namespace

std::string why_not_text(const WhyNot& answer, const Plan& best, const ScreenOptions& options) {
  std::string out = options.title("Why not " + answer.choice + "?") + "\n";
  if (answer.found.plans.empty()) {
    const bool limit = answer.found.status == PlanStatus::limit;
    const std::string why =
        limit          ? "No such plan was found before the limit was reached, but there may be one."
        : answer.given ? "This is no valid plan: " + answer.found.reason + "."
                       : fmt::format("{} is not possible: {}.", spell_choice(answer), answer.found.reason);
    return out + wrap(why, kTextWidth, 0) + "\n";
  }
  if (answer.chosen && answer.given)
    return out + "It is the best plan, or takes as long with the same degrees.\n";
  if (answer.chosen) return out + "The best plan makes this choice already.\n";
  return out + wrap(cost_sentence(answer, best), kTextWidth, 0) + "\n\n" + comparison(answer, best);
}

std::string unfit_text(const SearchResult& found, const PlanInputs& inputs, const AdviceList& advice) {
  const Cluster& cluster = inputs.cluster;
  std::string out =
      wrap(fmt::format("no plan for {} on {} ({} x {}): {}", inputs.model_name(), cluster.name(),
                       format_digits(cluster.devices()), cluster.device_name(), found.reason),
           kTextWidth, 0) +
      "\n";
  if (advice.all.empty() && advice.stopped)
    return out +
           "No change that would make a plan possible was found before a limit, but there may be one.\n";
  if (advice.all.empty()) return out + "None of the changes that were tried would make a plan possible.\n";
  out += "\nEach of these changes would make a plan possible:\n";
  for (const Advice& a : advice.all) {
    out += "- " + wrap(a.sentence, kTextWidth, 2) + "\n";
    if (!a.plan) continue;
    const Training& t = a.plan->training;
    const std::string plan =
        fmt::format("{}, {} micro-batch{} of {}, recomputation {}", spell_degrees(*a.plan),
                    format_digits(t.micro_batches), t.micro_batches == 1 ? "" : "es", t.micro_batch,
                    spell_recompute(a.plan->stages));
    out += "  " + wrap(plan, kTextWidth, 2) + "\n";
  }
  if (advice.stopped) out += "There may be others: not all searches were finished within the time limit.\n";
  return out;
}

std::string stats_text(const SearchStats& stats, const ScreenOptions& options) {
  Table counts({{"count"}, {"", Align::right}});
  const auto count = [&](const char* name, std::int64_t n) { counts.add({name, format_digits(n)}); };
  count("strategies and micro-batch sizes", stats.strategies);
  count("configurations", stats.configurations);
  count("placements", stats.networks);
  count("tables filled", stats.fills);
  count("labels kept", stats.labels);
  count("transitions tried (--work-limit)", stats.work);
  for (const auto& [name, n] : stats.pruned) count(("pruned by " + name).c_str(), n);
  for (const auto& [name, time] : stats.times) counts.add({"time: " + name, format(time)});
  return options.title("Search") + "\n" + counts.str();
}

}  // namespace nest::report
