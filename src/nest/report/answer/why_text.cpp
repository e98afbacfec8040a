#include "nest/report/answer/why_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "nest/report/answer/plan_notes.hpp"

namespace nest::report {
namespace {

constexpr double kNothing = 0.0005;  // of the step: less is shown as nothing

// What time is lost to, by the name of a part of the step.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kLostTo{{
    {"compute", "slower or less even compute"},
    {"recompute", "recomputation"},
    {"tensor", "tensor-parallel collectives"},
    {"expert", "exchanges of tokens with experts"},
    {"context", "exchanges of context parallelism"},
    {"pipeline", "sends between stages"},
    {"bubble", "the pipeline's bubble"},
    {"data", "the reduction of gradients"},
    {"zero", "ZeRO's gathering of parameters"},
    {"optimizer", "the optimizer"},
}};

std::string_view lost_to(const std::string& term) {
  const auto* row =
      std::find_if(kLostTo.begin(), kLostTo.end(), [&](const auto& r) { return r.first == term; });
  return row == kLostTo.end() ? std::string_view(term) : row->second;
}

std::string slower_sentence(const std::string& what, const WhyNot& answer, const Plan& best) {
  const Plan& other = answer.found.plans.front();
  const double share = answer.cost->value / best.predicted->step.value;
  const std::string proved = answer.found.status == PlanStatus::optimal ? "" : " in the best plan found";
  if (share < kNothing) return fmt::format("{} costs nothing: a plan with it takes as long{}", what, proved);
  std::string out = fmt::format("{} takes {} longer{}", what, format_percent(share), proved);
  const auto loss = largest_loss(best, other);
  if (!loss) return out;
  out += fmt::format(": it loses {} to {}", format(loss->change()), lost_to(loss->name));
  if (loss->name == "bubble")
    out += fmt::format(", idling {} of the step", format_percent(other.predicted->bubble_fraction));
  return out;
}

const StageMemory& fullest(const Plan& plan) {
  return *plan.stages[fullest_stage(plan)].memory;
}

// "ZeRO 2", "recomputation full"
std::string spell(const Alternative& one) {
  const std::string name = one.degree == "zero"        ? "ZeRO"
                           : one.degree == "recompute" ? "recomputation"
                                                       : one.degree;
  return name + " " + one.value;
}

bool same_plan(const Alternative& a, const Alternative& b) {
  if (a.answer.found.plans.empty() || b.answer.found.plans.empty()) return false;
  const Plan& left = a.answer.found.plans.front();
  const Plan& right = b.answer.found.plans.front();
  return left.parallelism == right.parallelism && left.training == right.training &&
         left.predicted->step == right.predicted->step;
}

std::string sentence_of(const std::string& what, const Alternative& one, const Plan& best, Bytes memory) {
  const SearchResult& found = one.answer.found;
  if (!found.plans.empty()) return slower_sentence(what, one.answer, best);
  if (found.status == PlanStatus::limit) return what + ": no plan was found in time";
  if (found.least_memory.value == 0) return fmt::format("{} is not possible: {}", what, found.reason);
  return fmt::format(
      "{} does not fit: it needs {} or more{}, and a device has {}", what, format_memory(found.least_memory),
      one.smallest ? ", most of it " + largest_memory(fullest(*one.smallest)) : "", format_memory(memory));
}

}  // namespace

std::string why_sentence(const Alternative& one, const Plan& best, Bytes memory) {
  return sentence_of(spell(one), one, best, memory);
}

std::string why_text(const Why& why, const Plan& best, Bytes memory, const ScreenOptions& options) {
  std::string out = options.title("Why this plan?") + "\n";
  if (why.all.empty()) return out + "The question leaves no other choice of any degree.\n";
  std::string late;
  std::vector<bool> said(why.all.size(), false);
  for (std::size_t i = 0; i < why.all.size(); ++i) {
    const Alternative& one = why.all[i];
    if (one.answer.found.status == PlanStatus::limit) late += (late.empty() ? "" : ", ") + spell(one);
    if (one.answer.found.status == PlanStatus::limit || said[i]) continue;
    // Others whose best plan is the same one.
    std::string with;
    for (std::size_t j = i + 1; j < why.all.size(); ++j) {
      if (!same_plan(one, why.all[j])) continue;
      said[j] = true;
      with += (with.empty() ? "" : ", ") + spell(why.all[j]);
    }
    out += "- " +
           wrap(sentence_of(spell(one) + (with.empty() ? "" : " (with " + with + ")"), one, best, memory),
                kTextWidth, 2) +
           "\n";
  }
  if (!late.empty())
    out += wrap("No plan was found in time (raise --time-limit) for " + late + ".", kTextWidth, 0) + "\n";
  return out;
}

Value to_value(const Why& why, const Plan& best, Bytes memory) {
  Value list = Value::array();
  for (const Alternative& one : why.all) {
    const SearchResult& found = one.answer.found;
    Value v = Value::object();
    v.set("choice", one.answer.choice).set("degree", one.degree).set("value", one.value);
    v.set("status", name_of(found.status)).set("sentence", why_sentence(one, best, memory));
    if (!found.plans.empty()) {
      const Plan& other = found.plans.front();
      v.set("step_s", other.predicted->step.value).set("cost_s", one.answer.cost->value);
      v.set("share", one.answer.cost->value / best.predicted->step.value);
      if (const auto loss = largest_loss(best, other)) v.set("loses_most_by", loss_value(*loss));
    } else {
      v.set("reason", found.reason);
      if (found.least_memory.value > 0) v.set("least_memory_bytes", found.least_memory.value);
    }
    list.push(std::move(v));
  }
  return list;
}

std::string relaxations_text(const Relaxations& list, const ScreenOptions& options) {
  if (!list.tried()) return "";
  std::string out = options.title("What would make it the best plan") + "\n";
  for (const Relaxation& one : list.all) {
    out +=
        "- " +
        wrap(fmt::format("{}: {} a step{}", one.change, format(one.step), one.proved ? "" : " (not proved)"),
             kTextWidth, 2) +
        "\n";
  }
  if (list.all.empty()) {
    std::string tried;
    if (list.bandwidth)
      tried =
          fmt::format("the bandwidth of each level, up to {:g} times as much or as little", kMostBandwidth);
    if (list.memory)
      tried += fmt::format("{}up to {:g} times the memory{}", list.bandwidth ? ", and " : "", kMostMemory,
                           list.bandwidth ? "" : " that it needs");
    out += wrap("None of the single changes that were tried: " + tried + ".", kTextWidth, 0) + "\n";
  }
  if (list.stopped) out += "Not all changes were tried within the time limit.\n";
  return out;
}

Value to_value(const Relaxations& list) {
  Value all = Value::array();
  for (const Relaxation& one : list.all) {
    Value v = Value::object();
    v.set("kind", name_of(one.kind)).set("change", one.change);
    if (!one.level.empty()) v.set("level", one.level);
    v.set("factor", one.factor).set("step_s", one.step.value).set("proved", one.proved);
    all.push(std::move(v));
  }
  return all;
}

Value why_not_value(const WhyNot& answer, const Relaxations& relaxations, const Plan& best,
                    const PlanInputs& inputs) {
  Value v = to_value(answer, best, inputs);
  if (!relaxations.tried()) return v;
  v.set("relaxations", to_value(relaxations));
  if (relaxations.stopped) v.set("relaxations_stopped", true);
  return v;
}

}  // namespace nest::report
