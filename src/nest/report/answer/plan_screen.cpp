#include "nest/report/answer/plan_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/plan_keys.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/report/answer/plans_beside.hpp"
#include "nest/report/answer/stage_rows.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

constexpr std::size_t kIndent = 9;  // of what stands beside a heading
constexpr std::array<char, kBreakdownKeys.size()> kLetters{'#', 'r', 't', 'e', 'c', 'p',
                                                           '.', 'd', 'z', 'o', 'h'};

// A degree of the runners-up's table; shown where a plan has another value than the usual.
struct DegreeColumn {
  const char* title;
  std::optional<std::int64_t> usual;  // none: the best plan's
  std::int64_t (*of)(const Plan& plan);
};
constexpr std::array<DegreeColumn, 10> kDegrees{{
    {"devices", std::nullopt, [](const Plan& p) { return p.parallelism.devices(); }},
    {"tensor", 1, [](const Plan& p) { return p.parallelism.strategy.tensor; }},
    {"context", 1, [](const Plan& p) { return p.parallelism.strategy.context; }},
    {"all-to-all", 1,
     [](const Plan& p) {
       const Strategy& s = p.parallelism.strategy;
       return s.hybrid() ? s.trading_ranks() : 1;
     }},
    {"expert", 1, [](const Plan& p) { return p.parallelism.strategy.expert; }},
    {"pipeline", 0, [](const Plan& p) { return p.parallelism.pipeline; }},
    {"chunks", 1, [](const Plan& p) { return p.parallelism.interleave; }},
    {"data", 0, [](const Plan& p) { return p.parallelism.data; }},
    {"ZeRO", 0, [](const Plan& p) { return p.parallelism.zero.number(); }},
    {"b", 0, [](const Plan& p) { return p.training.micro_batch; }},
}};

std::string recompute_word(const Plan& plan) {
  const std::string all = spell_recompute(plan.stages);
  return all.find('(') == std::string::npos ? all : "mixed";
}

class Screen {
 public:
  Screen(const SearchResult& found, const PlanInputs& inputs, const SearchOptions& asked,
         const ScreenOptions& options)
      : found_(found), inputs_(inputs), asked_(asked), options_(options), best_(found.plan()) {}

  [[nodiscard]] std::string text() const {
    std::string out = title() + "\n" + plan(best_) + simpler() + idle() + step(best_);
    if (options_.brief) return out + proof();
    out += memory(best_) + proof() + "\n" + stages(best_) + runners_up() + warnings();
    for (std::size_t i = 1; i < std::min(options_.complete, found_.plans.size()); ++i) {
      const Plan& other = found_.plans[i];
      out += "\n" + heading(fmt::format("Number {}", i + 1)) + "\n" + plan(other) + step(other) +
             memory(other) + "\n" + stages(other);
    }
    return out;
  }

 private:
  [[nodiscard]] std::string heading(std::string_view text) const {
    return options_.heading ? options_.heading(text) : std::string(text);
  }

  // "Plan     first sentence", later lines below it.
  [[nodiscard]] std::string beside(std::string_view head, const std::string& text) const {
    return (head.empty() ? "" : heading(head)) + std::string(kIndent - head.size(), ' ') +
           wrap(text, kTextWidth, kIndent) + "\n";
  }

  [[nodiscard]] std::string title() const {
    return wrap(fmt::format("{} on {}: {} x {}; {}", inputs_.model_name(), inputs_.cluster.name(),
                            format_digits(inputs_.cluster.devices()), inputs_.cluster.device_name(),
                            spell_training(best_.training)),
                kTextWidth, 0) +
           "\n" + calibration();
  }

  [[nodiscard]] std::string calibration() const {
    const std::string moved = inputs_.calibration ? spell_calibration(*inputs_.calibration) : "";
    if (moved.empty()) return "";
    return wrap(fmt::format("calibrated ({}): {}", inputs_.calibration->name, moved), kTextWidth, 0) + "\n";
  }

  [[nodiscard]] std::string plan(const Plan& one) const {
    const Parallelism& p = one.parallelism;
    const Training& t = one.training;
    std::string out = beside("Plan", spell_degrees(one));
    std::string more =
        fmt::format("{} micro-batch{} of {}; recomputation {}", format_digits(t.micro_batches),
                    t.micro_batches == 1 ? "" : "es", t.micro_batch, spell_recompute(one.stages));
    if (p.zero.shards_anything()) more += fmt::format("; ZeRO over {} ranks", format_digits(p.zero_shards));
    if (p.copies() > 1 && p.pipeline > 1)
      more += fmt::format("; {} of {} copies side by side", p.data_inner, p.copies());
    more += fmt::format("; {} of {} devices", format_digits(p.devices()),
                        format_digits(inputs_.cluster.devices()));
    return out + beside("", more);
  }

  [[nodiscard]] std::string simpler() const {
    const std::string sentence = simpler_sentence(found_);
    return sentence.empty() ? "" : beside("", sentence);
  }

  [[nodiscard]] std::string idle() const {
    std::string out;
    for (const std::string& sentence : {idle_sentence(found_, inputs_, asked_), batch_sentence(found_)})
      out += sentence.empty() ? "" : beside("", sentence);
    return out;
  }

  [[nodiscard]] std::string step(const Plan& one) const {
    const Prediction& p = *one.predicted;
    return beside("Step", fmt::format("{}{}; {} tokens/s; {} per device; MFU {}", format(p.step),
                                      spell_interval(p.interval), format_count(p.tokens_per_s),
                                      format(p.flops_per_device), format_percent(p.mfu))) +
           beside("", breakdown_bar(p, kTextWidth - kIndent)) + std::string(kIndent, ' ') +
           breakdown_legend(p, kIndent) + "\n";
  }

  [[nodiscard]] std::string memory(const Plan& one) const {
    const std::size_t full = fullest_stage(one);
    const StageMemory& m = *one.stages[full].memory;
    const std::string fragmentation =
        m.fragmentation.value > 0 ? fmt::format(", fragmentation {}", format_memory(m.fragmentation)) : "";
    std::string out =
        beside("Memory",
               fmt::format(
                   "{} in {}: weights {}, gradients {}, optimizer {}, activations {}, workspace {}{}{}",
                   spell_memory_use(one),
                   one.stages.size() == 1 ? "every device" : fmt::format("stage {}, the fullest", full),
                   format_memory(m.weights), format_memory(m.gradients), format_memory(m.optimizer),
                   format_memory(m.activations), format_memory(m.workspace), fragmentation,
                   m.margin.value > 0 ? fmt::format("; margin {}, kept free", format_memory(m.margin)) : ""));
    std::vector<StageMemory> stages;
    stages.reserve(one.stages.size());
    for (const Stage& stage : one.stages) stages.push_back(*stage.memory);
    if (const std::string host = host_use(stages); !host.empty()) out += beside("", "besides " + host);
    const std::string safety = &one == &best_ ? safety_sentence(found_, asked_) : "";
    return safety.empty() ? out : out + beside("", safety);
  }

  [[nodiscard]] std::string proof() const {
    return (options_.cost.empty() ? "" : beside("Cost", options_.cost)) +
           beside("Proof", proof_sentence(found_, asked_));
  }

  [[nodiscard]] std::string stages(const Plan& one) const {
    const bool mixed = std::any_of(one.stages.begin(), one.stages.end(), [&](const Stage& s) {
      return !(s.strategy == one.stages.front().strategy);
    });
    std::vector<Table::Column> columns{{"stages"}, {"layers"}};
    if (mixed) columns.push_back({"strategy"});
    for (Table::Column column : {Table::Column{"recompute"},
                                 {"per micro-batch", Align::right},
                                 {"memory", Align::right},
                                 {"of a device"}})
      columns.push_back(std::move(column));
    Table table(std::move(columns));
    for (const StageRow& row : stage_rows(one)) {
      std::vector<std::string> cells{row.stages, row.layers};
      if (mixed) cells.push_back(row.strategy);
      cells.insert(cells.end(), {row.recompute, row.time, row.memory,
                                 text_bar(row.share, 20) + fmt::format(" {:.0f} %", 100 * row.share)});
      table.add(std::move(cells));
    }
    return table.str();
  }

  [[nodiscard]] std::string runners_up() const {
    if ((found_.plans.size() < 2 && !found_.simpler) || options_.runners_up == 0) return "";
    std::vector<const Plan*> shown = nest::report::runners_up(found_);
    shown.resize(std::min(shown.size(), std::max(options_.runners_up, options_.complete - 1)));
    const std::size_t others = shown.size();
    shown.insert(shown.begin(), &found_.plans.front());
    if (found_.simpler) shown.insert(shown.begin(), &*found_.simpler);
    std::vector<const DegreeColumn*> degrees;
    for (const DegreeColumn& column : kDegrees) {
      const std::int64_t usual = column.usual.value_or(column.of(best_));
      const bool said =
          std::any_of(shown.begin(), shown.end(), [&](const Plan* p) { return column.of(*p) != usual; });
      if (said) degrees.push_back(&column);
    }
    std::vector<Table::Column> columns{{""}};
    for (const DegreeColumn* column : degrees) columns.push_back({column->title, Align::right});
    columns.insert(columns.end(),
                   {{"recompute"}, {"step", Align::right}, {"", Align::right}, {"loses most by"}});
    Table table(std::move(columns));
    const std::size_t first = found_.simpler ? 1 : 0;  // the strict optimum
    const Plan& best = *shown[first];
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const Plan& one = *shown[i];
      std::vector<std::string> cells{i < first    ? "taken"
                                     : i == first ? "best"
                                                  : std::to_string(i + 1 - first)};
      for (const DegreeColumn* column : degrees) cells.push_back(std::to_string(column->of(one)));
      cells.insert(cells.end(), {recompute_word(one), format(one.predicted->step)});
      if (i != first) {
        const auto loss = largest_loss(best, one);
        cells.push_back("+" + format_percent(one.predicted->step.value / best.predicted->step.value - 1));
        cells.push_back(loss ? fmt::format("{} +{}", loss->name, format(loss->change())) : "nothing: a tie");
      }
      table.add(std::move(cells));
    }
    const std::string ties = ties_sentence(found_, others);
    return "\n" + table.str() + (ties.empty() ? "" : wrap(ties, kTextWidth, 0) + "\n");
  }

  [[nodiscard]] std::string warnings() const {
    Warnings list = plan_warnings(found_, inputs_);
    list.insert(list.end(), options_.warnings.begin(), options_.warnings.end());
    std::string out = list.empty() ? "" : "\n" + heading("Warnings") + "\n";
    for (const std::string& warning : list) out += "- " + wrap(warning, kTextWidth, 2) + "\n";
    return out;
  }

  const SearchResult& found_;
  const PlanInputs& inputs_;
  const SearchOptions& asked_;
  const ScreenOptions& options_;
  const Plan& best_;
};

}  // namespace

std::string spell_interval(const StepInterval& interval) {
  if (interval.coverage <= 0) return "";
  return fmt::format(" ({}: {} to {})", format_percent(interval.coverage, 0), format(interval.low),
                     format(interval.high));
}

std::string spell_memory_interval(const Prediction& predicted) {
  const std::optional<MemoryInterval>& memory = predicted.memory;
  if (predicted.interval.coverage <= 0 || !memory) return "";
  return fmt::format("{}: {} to {}", format_percent(predicted.interval.coverage, 0),
                     format_memory(memory->low), format_memory(memory->high));
}

std::string spell_memory_use(const Plan& plan) {
  const Stage& stage = plan.stages[fullest_stage(plan)];
  const StageMemory& m = *stage.memory;
  const std::string reserved =
      m.reserve.value > 0 ? fmt::format(" used and {} reserved", format_memory(m.reserve)) : "";
  const std::string interval = spell_memory_interval(*plan.predicted);
  return fmt::format("{}{} of {} ({}{}{}{})", format_memory(m.total() - m.reserve), reserved,
                     format_memory(m.capacity), format_percent(memory_share(stage)),
                     spell_fits(*plan.predicted), interval.empty() ? "" : "; ", interval);
}

std::string spell_fits(const Prediction& predicted) {
  return predicted.fits_probability ? "; fits with " + spell_fitting(predicted) : "";
}

std::string breakdown_bar(const Prediction& predicted, std::size_t width) {
  std::string bar;
  double sum = 0;
  for (std::size_t i = 0; i < kBreakdownKeys.size(); ++i) {
    sum += std::max(0.0, (predicted.breakdown.*kBreakdownKeys[i].member).value);
    const double share = predicted.step.value > 0 ? std::min(1.0, sum / predicted.step.value) : 0;
    const auto end = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    if (end > bar.size()) bar.append(end - bar.size(), kLetters[i]);
  }
  return bar;
}

std::string breakdown_legend(const Prediction& predicted, std::size_t indent) {
  constexpr double kWorthNaming = 0.005;  // of the step
  std::vector<std::string> items;
  Seconds rest;
  for (std::size_t i = 0; i < kBreakdownKeys.size(); ++i) {
    const Seconds time = predicted.breakdown.*kBreakdownKeys[i].member;
    if (time.value < kWorthNaming * predicted.step.value) {
      rest += time;
      continue;
    }
    const Seconds waits = kBreakdownKeys[i].member == &Breakdown::data ? predicted.stragglers : Seconds{};
    const std::string of = waits.value < kWorthNaming * predicted.step.value
                               ? ""
                               : fmt::format(", of it {} waiting for the slowest rank", format(waits));
    items.push_back(fmt::format("{} {} {} ({}{})", kLetters[i], spell_term(kBreakdownKeys[i].key),
                                format(time), format_percent(time.value / predicted.step.value), of));
  }
  if (rest.value > 0) items.push_back("rest " + format(rest));
  std::string text;
  std::size_t column = indent;
  for (const std::string& item : items) {
    const bool fits = column + 2 + item.size() <= kTextWidth;
    if (!text.empty()) text += fits ? "; " : ";\n" + std::string(indent, ' ');
    column = fits || text.empty() ? column + 2 + item.size() : indent + item.size();
    text += item;
  }
  return text;
}

std::string plan_screen(const SearchResult& found, const PlanInputs& inputs, const SearchOptions& asked,
                        const ScreenOptions& options) {
  return Screen(found, inputs, asked, options).text();
}

}  // namespace nest::report
