#include "nest/report/answer/why_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

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

// A degree as why() names it, and what a plan has of it.
struct DegreeWord {
  std::string_view degree;
  std::string_view word;
  std::int64_t (*of)(const Plan& plan);
};
constexpr std::array<DegreeWord, 7> kDegreeWords{{
    {"tensor", "tensor", [](const Plan& p) { return p.parallelism.strategy.tensor; }},
    {"pipeline", "pipeline", [](const Plan& p) { return p.parallelism.pipeline; }},
    {"context", "context", [](const Plan& p) { return p.parallelism.strategy.context; }},
    {"expert", "expert", [](const Plan& p) { return p.parallelism.strategy.expert; }},
    {"data", "data", [](const Plan& p) { return p.parallelism.data; }},
    {"zero", "ZeRO", [](const Plan& p) { return static_cast<std::int64_t>(p.parallelism.zero.number()); }},
    {"micro-batch", "micro-batch", [](const Plan& p) { return p.training.micro_batch; }},
}};

// What else the plan with the alternative has otherwise: "data 32, micro-batch 2".
std::vector<std::string> also_changed(const Alternative& one, const Beside& beside) {
  std::vector<std::string> out;
  const Plan& other = one.answer.found.plans.front();
  for (const DegreeWord& row : kDegreeWords) {
    if (row.degree != one.degree && row.of(other) != row.of(beside.taken()))
      out.push_back(fmt::format("{} {}", row.word, row.of(other)));
  }
  return out;
}

std::string slower_sentence(const std::string& what, const WhyNot& answer, const Beside& beside) {
  const Plan& other = answer.found.plans.front();
  const Plan& taken = beside.taken();
  const double more = beside.more(other, taken);
  const std::string proved = answer.found.status == PlanStatus::optimal ? "" : " in the best plan found";
  if (beside.found.simpler && same_plan(other, beside.best()))
    return fmt::format("{} {}: it is the best plan, for which the plan above stands in", what,
                       beside.longer(other, taken));
  if (std::abs(more) < kNothing)
    return fmt::format("{} costs nothing: a plan with it {}{}", what,
                       beside.asked.objective == Objective::cost ? "costs as much" : "takes as long", proved);
  std::string out = fmt::format("{} {}{}", what, beside.longer(other, taken), proved);
  if (beside.asked.objective != Objective::step_time)
    out += fmt::format(": {} in place of {}", beside.has(other), beside.has(taken));
  const auto loss = largest_loss(taken, other);
  if (!loss || more < 0 || !beside.compares_steps(other, taken)) return out;
  out += fmt::format("{} it loses {} to {}", beside.asked.objective == Objective::step_time ? ":" : ";",
                     format(loss->change()), lost_to(loss->name));
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

// Alternatives whose best plan is one and the same.
bool share_plan(const Alternative& a, const Alternative& b) {
  if (a.answer.found.plans.empty() || b.answer.found.plans.empty()) return false;
  return same_plan(a.answer.found.plans.front(), b.answer.found.plans.front());
}

// `with`: other alternatives that lead to the same plan.
std::string sentence_of(const Alternative& one, const std::vector<std::string>& with, const Beside& beside) {
  const SearchResult& found = one.answer.found;
  const std::string what = spell(one);
  if (!found.plans.empty()) {
    std::vector<std::string> also = also_changed(one, beside);
    for (const std::string& other : with) {
      if (std::find(also.begin(), also.end(), other) == also.end()) also.push_back(other);
    }
    return slower_sentence(also.empty() ? what : fmt::format("{} (with {})", what, fmt::join(also, ", ")),
                           one.answer, beside);
  }
  if (found.status == PlanStatus::limit) return what + ": no plan was found in time";
  if (found.least_memory.value == 0) return fmt::format("{} is not possible: {}", what, found.reason);
  return fmt::format("{} does not fit: it needs {} or more{}, and a device has {}", what,
                     format_memory(found.least_memory),
                     one.smallest ? ", most of it " + largest_memory(fullest(*one.smallest)) : "",
                     format_memory(beside.inputs.cluster.device_memory()));
}

}  // namespace

std::string why_sentence(const Alternative& one, const Beside& beside) {
  return sentence_of(one, {}, beside);
}

std::string why_text(const Why& why, const Beside& beside, const ScreenOptions& options) {
  std::string out = options.title("Why this plan?") + "\n";
  if (why.all.empty()) return out + "The question leaves no other choice of any degree.\n";
  std::string late;
  std::vector<bool> said(why.all.size(), false);
  for (std::size_t i = 0; i < why.all.size(); ++i) {
    const Alternative& one = why.all[i];
    if (one.answer.found.status == PlanStatus::limit) late += (late.empty() ? "" : ", ") + spell(one);
    if (one.answer.found.status == PlanStatus::limit || said[i]) continue;
    std::vector<std::string> with;
    for (std::size_t j = i + 1; j < why.all.size(); ++j) {
      if (!share_plan(one, why.all[j])) continue;
      said[j] = true;
      with.push_back(spell(why.all[j]));
    }
    out += "- " + wrap(sentence_of(one, with, beside), kTextWidth, 2) + "\n";
  }
  if (!late.empty())
    out += wrap("No plan was found in time (raise --time-limit) for " + late + ".", kTextWidth, 0) + "\n";
  return out;
}

Value to_value(const Why& why, const Beside& beside) {
  Value list = Value::array();
  for (const Alternative& one : why.all) {
    const SearchResult& found = one.answer.found;
    Value v = Value::object();
    v.set("choice", one.answer.choice).set("degree", one.degree).set("value", one.value);
    v.set("status", name_of(found.status)).set("sentence", why_sentence(one, beside));
    if (!found.plans.empty()) {
      const Plan& other = found.plans.front();
      v.set("step_s", other.predicted->step.value).set("cost_s", one.answer.cost->value);
      v.set("share", one.answer.cost->value / beside.taken().predicted->step.value);
      beside.put_counted(v, other);
      if (const auto loss = largest_loss(beside.taken(), other)) v.set("loses_most_by", loss_value(*loss));
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
    const std::string then =
        list.objective == Objective::cost ? "a token costs least with it" : format(one.step) + " a step";
    out += "- " +
           wrap(fmt::format("{}: {}{}", one.change, then, one.proved ? "" : " (not proved)"), kTextWidth, 2) +
           "\n";
  }
  if (list.all.empty()) {
    std::vector<std::string> tried;
    if (list.bandwidth)
      tried.push_back(
          fmt::format("the bandwidth of each level, up to {:g} times as much or as little", kMostBandwidth));
    if (list.memory)
      tried.push_back(
          fmt::format("up to {:g} times the memory{}", kMostMemory, list.bandwidth ? "" : " that it needs"));
    if (list.margin) tried.emplace_back("a smaller margin of memory, or none");
    out += wrap(fmt::format("None of the single changes that were tried: {}.", fmt::join(tried, ", and ")),
                kTextWidth, 0) +
           "\n";
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
    if (one.kind == RelaxationKind::margin) v.set("memory_margin", one.margin);
    all.push(std::move(v));
  }
  return all;
}

}  // namespace nest::report
