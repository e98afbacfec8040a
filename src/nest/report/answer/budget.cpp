#include "nest/report/answer/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/units.hpp"
#include "nest/report/answer/plan_notes.hpp"

namespace nest::report {
namespace {

struct Figure {
  double value = 0;
  std::string sentence;  // what the plan has
};

std::string memory_sentence(const Plan& plan, bool share) {
  const std::size_t stage = fullest_stage(plan);
  const StageMemory& m = *plan.stages[stage].memory;
  const std::string whole = fmt::format("{} of {}", format_memory(m.total()), format_memory(m.capacity));
  return share ? fmt::format("stage {} takes {} of a device's memory ({})", stage,
                             format_percent(memory_share(plan)), whole)
               : fmt::format("stage {} takes {} of a device's memory", stage, whole);
}

Figure memory_share_of(const Plan& plan) {
  return {memory_share(plan), memory_sentence(plan, true)};
}
Figure memory_of(const Plan& plan) {
  const Bytes total = plan.stages[fullest_stage(plan)].memory->total();
  return {static_cast<double>(total.value), memory_sentence(plan, false)};
}
Figure step_of(const Plan& plan) {
  const Seconds step = plan.predicted->step;
  return {step.value, fmt::format("a step takes {}", format(step))};
}
Figure tokens_of(const Plan& plan) {
  const double rate = plan.predicted->tokens_per_s;
  return {rate, fmt::format("the run trains on {} tokens a second", format_count(rate))};
}
Figure mfu_of(const Plan& plan) {
  return {plan.predicted->mfu, fmt::format("the MFU is {}", format_percent(plan.predicted->mfu))};
}

// A size needs its unit, and a share its sign, so that neither is mistaken for the other.
std::optional<double> read_memory(std::string_view text) {
  if (parse_number(text)) return std::nullopt;
  const auto bytes = parse_bytes(text);
  return bytes ? std::optional(static_cast<double>(bytes->value)) : std::nullopt;
}
std::optional<double> read_step(std::string_view text) {
  const auto time = parse_time(text);
  return time ? std::optional(time->value) : std::nullopt;
}
std::optional<double> read_share(std::string_view text) {
  return text.ends_with('%') ? parse_share(text) : std::nullopt;
}

std::string spell_bytes(double v) {
  return format_memory(round_up_bytes(v));
}
std::string spell_time(double v) {
  return format(Seconds{v});
}
std::string spell_share(double v) {
  return format_percent(v);
}

// One thing that may have a budget.
struct BudgetRow {
  BudgetKind kind;
  std::string_view name;  // in JSON
  std::string_view word;  // as it is typed
  bool at_most = true;
  std::string_view example;
  std::optional<double> (*read)(std::string_view);
  std::string (*spell)(double);
  Figure (*figure)(const Plan&);
};

constexpr std::array kRows{
    BudgetRow{BudgetKind::memory_share, "memory_share", "memory", true, "memory=95%", read_share, spell_share,
              memory_share_of},
    BudgetRow{BudgetKind::memory, "memory_bytes", "memory", true, "memory=70GiB", read_memory, spell_bytes,
              memory_of},
    BudgetRow{BudgetKind::step, "step_s", "step", true, "step=9.5s", read_step, spell_time, step_of},
    BudgetRow{BudgetKind::tokens_per_s, "tokens_per_s", "tokens-per-s", false, "tokens-per-s=500000",
              parse_number, format_count, tokens_of},
    BudgetRow{BudgetKind::mfu, "mfu", "mfu", false, "mfu=40%", read_share, spell_share, mfu_of},
};

const BudgetRow& row_of(BudgetKind kind) {
  return *std::ranges::find(kRows, kind, &BudgetRow::kind);
}

Budget read_budget(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view word = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  std::vector<std::string> examples;
  std::vector<std::string> words;
  for (const BudgetRow& row : kRows) {
    words.emplace_back(row.word);
    if (row.word != word) continue;
    examples.emplace_back(row.example);
    if (const auto limit = row.read(value); limit && *limit > 0) return {row.kind, *limit};
  }
  if (examples.empty())
    throw InputError("", "budget", fmt::format("'{}' is nothing that a budget can be set for", word),
                     did_you_mean(word, words));
  throw InputError("", "budget", fmt::format("'{}' is no budget", text),
                   fmt::format("try {}", fmt::join(examples, " or ")));
}

}  // namespace

std::vector<Budget> read_budgets(std::string_view text) {
  std::vector<Budget> out;
  for (bool more = true; more;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    out.push_back(read_budget(text.substr(0, comma)));
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  const bool of_memory = std::ranges::any_of(out, [](const Budget& b) {
    return b.kind == BudgetKind::memory || b.kind == BudgetKind::memory_share;
  });
  if (!of_memory) out.push_back({BudgetKind::memory_share, 1});
  return out;
}

std::vector<BudgetCheck> check_budgets(std::span<const Budget> budgets, const Plan& plan) {
  std::vector<BudgetCheck> out;
  for (const Budget& budget : budgets) {
    const BudgetRow& row = row_of(budget.kind);
    Figure figure = row.figure(plan);
    const bool within = row.at_most ? figure.value <= budget.limit : figure.value >= budget.limit;
    std::string sentence = fmt::format("{}, {} the budget is {}{}", figure.sentence, within ? "and" : "but",
                                       row.at_most ? "" : "at least ", row.spell(budget.limit));
    out.push_back({budget, figure.value, within, std::move(sentence)});
  }
  return out;
}

bool all_within(std::span<const BudgetCheck> checks) {
  return std::ranges::all_of(checks, &BudgetCheck::within);
}

Value to_value(std::span<const BudgetCheck> checks) {
  Value list = Value::array();
  for (const BudgetCheck& check : checks) {
    Value one = Value::object();
    one.set("what", row_of(check.budget.kind).name).set("limit", check.budget.limit);
    one.set("value", check.value).set("within", check.within).set("sentence", check.sentence);
    list.push(std::move(one));
  }
  Value v = Value::object();
  v.set("within", all_within(checks)).set("budgets", std::move(list));
  return v;
}

}  // namespace nest::report
