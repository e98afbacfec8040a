#include "nest/report/answer/why_not_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "nest/base/drawing/table.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/report/answer/why_text.hpp"
#include "nest/solve/tree/best_plans.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

std::string signed_time(Seconds time) {
  return (time.value < 0 ? "-" : "+") + format(Seconds{std::abs(time.value)});
}

// "tensor=8 zero=3" in words.
std::string spell_choice(const std::string& choice) {
  std::string text;
  for (const char c : choice) text += c == '=' ? std::string(" ") : c == ' ' ? ", " : std::string(1, c);
  return text;
}

std::string loss_sentence(const Plan& other, const Beside& beside) {
  if (!beside.compares_steps(other, beside.taken())) return "";
  const auto loss = largest_loss(beside.taken(), other);
  return loss ? fmt::format(" It loses most time in {}: {}.", loss->name, signed_time(loss->change())) : "";
}

// How the plan stands beside the best one, where that is not the plan above.
std::string beside_best(const Plan& other, const Beside& beside) {
  if (!beside.found.simpler) return "";
  const double more = beside.more(other, beside.best());
  if (std::abs(more) <= solve::kTie)
    return " It is the best plan, for which the plan above stands in; --strict takes it.";
  return fmt::format(" It {} the best plan, for which the plan above stands in.",
                     beside.than(other, beside.best()));
}

// Of a plan that fits and beats all that the search has found.
std::string beyond_sentence(const Beside& beside) {
  return beside.found.status == PlanStatus::optimal
             ? " It is outside the space that was searched: no plan of that is better than the best plan."
             : " The search was stopped before it had proved its best plan, and may have missed this one.";
}

// Of the memory of the fullest stage of a plan that does not fit, or leaves too little of it free; ends where it is
// said how the plan would stand otherwise.
std::string unfit_sentence(const Plan& plan) {
  const std::size_t full = fullest_stage(plan);
  const StageMemory& m = *plan.stages[full].memory;
  const bool by_estimate = m.total() <= m.capacity;
  std::string out = by_estimate ? "It leaves too little memory free" : "It does not fit";
  out += fmt::format(": {} needs {}, and a device has {}",
                     plan.stages.size() == 1 ? "every device" : fmt::format("stage {}, its fullest,", full),
                     format_memory(m.total()), format_memory(m.capacity));
  if (m.margin.value > 0) out += fmt::format(", of which {} are kept free", format_memory(m.margin));
  out +=
      fmt::format(". That is {} too much, and most of it is {}.", format_memory(m.over()), largest_memory(m));
  if (!by_estimate) return out + " If it fitted, it";
  const std::string fitting = spell_fitting(*plan.predicted);
  return out + " Without a margin it fits" + (fitting.empty() ? "" : " with " + fitting) + ", and";
}

// Of a plan as it is.
std::string given_sentence(const WhyNot& answer, const Beside& beside) {
  const Plan& other = answer.found.plans.front();
  const auto stands = [&](const char* verb) {
    std::string than = beside.than(other, beside.taken());
    if (than.starts_with("is ")) than = verb + than.substr(2);
    return fmt::format("{} {}: {}.", than, beside.name(), beside.has(other));
  };
  if (answer.found.status == PlanStatus::infeasible)
    return unfit_sentence(other) + " " + stands("would be") + loss_sentence(other, beside);
  if (beside.more(other, beside.best()) < -solve::kTie) return "It " + stands("is") + beyond_sentence(beside);
  const double more = beside.more(other, beside.taken());
  if (std::abs(more) <= solve::kTie)
    return fmt::format("It {} as {}: {}.",
                       beside.asked.objective == Objective::cost ? "costs as much" : "takes as long",
                       beside.name(), beside.has(other));
  const std::string out = "It " + stands("is");
  return more < -solve::kTie ? out + beside_best(other, beside) : out + loss_sentence(other, beside);
}

std::string choice_sentence(const WhyNot& answer, const Beside& beside) {
  const Plan& other = answer.found.plans.front();
  const Plan& taken = beside.taken();
  const std::string it = spell_choice(answer.choice);
  const std::string proved = answer.found.status == PlanStatus::optimal
                                 ? "the best plan with it"
                                 : "the best plan found with it (not proved)";
  const double more = beside.more(other, taken);
  if (more < -solve::kTie)
    return fmt::format("{} costs nothing: {} {} {}: {}.{}", it, proved, beside.than(other, taken),
                       beside.name(), beside.has(other), beside_best(other, beside));
  if (more <= solve::kTie)
    return fmt::format("{} costs nothing: {} takes {}, and {} takes {}.", it, proved, beside.has(other),
                       beside.name(), beside.has(taken));
  // Of steps the share tells the rest.
  const std::string besides = beside.asked.objective == Objective::step_time
                                  ? ""
                                  : fmt::format(", and {} {}", beside.name(), beside.has(taken));
  return fmt::format("{} {}: {} takes {}{}.{}", it, beside.costs(other, taken), proved, beside.has(other),
                     besides, loss_sentence(other, beside));
}

std::string comparison(const WhyNot& answer, const Beside& beside) {
  const PlanDifference difference = diff(beside.taken(), answer.found.plans.front());
  Table choices({{"choice"}, {beside.column()}, {answer.choice}});
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
  Table terms(
      {{"part"}, {beside.column(), Align::right}, {answer.choice, Align::right}, {"change", Align::right}});
  for (const TermDifference& t : difference.terms) {
    if (t.first.value == 0 && t.second.value == 0) continue;
    terms.add({t.name, format(t.first), format(t.second), signed_time(t.change())});
  }
  terms.add({"step", format(difference.first), format(difference.second),
             signed_time(difference.second - difference.first)});
  return choices.str() + "\n" + terms.str();
}

// Of the plan above itself.
std::string chosen_sentence(const WhyNot& answer, const Beside& beside) {
  if (!answer.given)
    return (beside.found.simpler ? "The plan above" : "The best plan") +
           std::string(" makes this choice already.");
  if (!beside.found.simpler) return "It is the best plan, or takes as long with the same degrees.";
  return fmt::format("It is the plan above, which stands in for the best plan and {}; --strict takes that.",
                     beside.longer(beside.taken(), beside.best()));
}

}  // namespace

std::string why_not_sentence(const WhyNot& answer, const Beside& beside) {
  if (answer.found.plans.empty()) {
    return answer.found.status == PlanStatus::limit
               ? "No such plan was found before the limit was reached, but there may be one."
           : answer.given
               ? "This is no valid plan: " + answer.found.reason + "."
               : fmt::format("{} is not possible: {}.", spell_choice(answer.choice), answer.found.reason);
  }
  if (answer.chosen && answer.found.status != PlanStatus::infeasible) return chosen_sentence(answer, beside);
  return answer.given ? given_sentence(answer, beside) : choice_sentence(answer, beside);
}

std::string why_not_text(const WhyNot& answer, const Beside& beside, const ScreenOptions& options) {
  const std::string out = options.title("Why not " + answer.choice + "?") + "\n" +
                          wrap(why_not_sentence(answer, beside), kTextWidth, 0) + "\n";
  if (answer.found.plans.empty() || answer.chosen) return out;
  return out + "\n" + comparison(answer, beside);
}

Value to_value(const WhyNot& answer, const Beside& beside) {
  Value v = Value::object();
  const bool invalid = answer.given && answer.found.plans.empty();
  v.set("choice", answer.choice);
  v.set("status", invalid ? name_of(PriceStatus::invalid) : name_of(answer.found.status));
  v.set("sentence", why_not_sentence(answer, beside));
  if (!answer.found.reason.empty() || answer.found.plans.empty()) v.set("reason", answer.found.reason);
  if (answer.found.plans.empty()) return v;
  const Plan& other = answer.found.plans.front();
  v.set("chosen", answer.chosen).set("step_s", other.predicted->step.value).set("cost_s", answer.cost->value);
  beside.put_counted(v, other);
  if (const auto loss = largest_loss(beside.taken(), other)) v.set("loses_most_by", loss_value(*loss));
  v.set("plan", plan_value(other, beside.inputs));
  return v;
}

Value why_not_value(const WhyNot& answer, const Relaxations& relaxations, const Beside& beside) {
  Value v = to_value(answer, beside);
  if (!relaxations.tried()) return v;
  v.set("relaxations", to_value(relaxations));
  if (relaxations.stopped) v.set("relaxations_stopped", true);
  return v;
}

}  // namespace nest::report
