#include "nest/report/answer/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/uncertainty.hpp"
#include "nest/report/answer/bar_chart.hpp"
#include "nest/report/answer/stage_rows.hpp"
#include "nest/solve/baselines/baselines.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

std::string heading(std::string_view text, const ScreenOptions& options) {
  return options.heading ? options.heading(text) : std::string(text);
}

std::string title_of(const PlanQuestion& question) {
  return fmt::format("{} on {}: {} x {}; global batch {} of {} tokens", question.inputs.model_name(),
                     question.inputs.cluster.name(), format_digits(question.inputs.cluster.devices()),
                     question.inputs.cluster.device_name(), format_digits(question.training.global_batch),
                     format_digits(question.training.sequence));
}

const StageMemory* fullest(const Plan& plan) {
  const StageMemory* most = nullptr;
  for (const Stage& stage : plan.stages)
    if (stage.memory && (most == nullptr || stage.memory->total() > most->total())) most = &*stage.memory;
  return most;
}

bool fits(const ComparedPlan& plan) {
  return plan.result.plan &&
         (plan.result.status == PlanStatus::optimal || plan.result.status == PlanStatus::feasible);
}

// `sure`: whether there are columns of intervals.
std::vector<std::string> row_of(const ComparedPlan& one, bool sure) {
  const BaselineResult& r = one.result;
  std::vector<std::string> cells{one.name};
  if (fits(one)) {
    const Prediction& p = *r.plan->predicted;
    cells.insert(cells.end(), {format_count(p.tokens_per_s),
                               one.relative ? format_percent(*one.relative) : "-", format(p.step)});
    if (sure)
      cells.push_back(p.interval.coverage > 0 ? text_range(format(p.interval.low), format(p.interval.high))
                                              : "-");
  } else {
    cells.insert(cells.end(), sure ? 4 : 3, "-");
  }
  cells.push_back(r.plan ? brief_degrees(*r.plan) : "-");
  const StageMemory* memory = r.plan ? fullest(*r.plan) : nullptr;
  cells.push_back(memory != nullptr ? format_memory(memory->total()) : "-");
  if (sure) {
    const auto ends = fits(one) ? r.plan->predicted->memory : std::nullopt;
    cells.push_back(ends ? text_range(format_memory(ends->low), format_memory(ends->high)) : "-");
  }
  cells.push_back(format(r.search_time));
  if (!fits(one))
    cells.emplace_back(r.status == PlanStatus::limit          ? "stopped at a limit"
                       : r.status == PlanStatus::disagreement ? "search and price disagree"
                                                              : "does not fit");
  else
    cells.push_back(one.loses ? fmt::format("{} +{}", one.loses->name, format(one.loses->change())) : "");
  return cells;
}

// "full/17": full on 17 layers of each stage; "mixed" where stages differ.
std::string brief_recompute(std::span<const Stage> stages) {
  const Recompute first = stages.empty() ? Recompute{} : stages.front().recompute;
  const bool same =
      std::all_of(stages.begin(), stages.end(), [&](const Stage& s) { return s.recompute == first; });
  if (!same) return "mixed";
  if (first.policy == RecomputePolicy::full && first.layers > 0) return fmt::format("full/{}", first.layers);
  return spell(first);
}

// What the table has no room for: why there is no plan, what the baseline itself believed, its notes.
std::vector<std::string> remarks_of(const ComparedPlan& one) {
  std::vector<std::string> list;
  const BaselineResult& r = one.result;
  if (one.name == "nest" && r.status == PlanStatus::feasible && r.plan->lower_bound)
    list.push_back(fmt::format("a limit was reached before the proof; no plan takes less than {} a step",
                               format(*r.plan->lower_bound)));
  if (!fits(one) && !r.reason.empty()) list.push_back(r.reason);
  if (one.name != "nest" && fits(one) && r.believed && r.plan->predicted) {
    const double priced = r.plan->predicted->step.value;
    if (std::abs(r.believed->value - priced) > 0.005 * priced)
      list.push_back(fmt::format("its own model says {} a step", format(*r.believed)));
  }
  list.insert(list.end(), r.notes.begin(), r.notes.end());
  return list;
}

Value curve_value(const std::vector<BestSoFar>& curve) {
  Value list = Value::array();
  for (const BestSoFar& point : curve) {
    Value v = Value::object();
    v.set("evaluations", point.evaluations)
        .set("elapsed_s", point.elapsed.value)
        .set("step_s", point.step.value);
    list.push(std::move(v));
  }
  return list;
}

Value plan_row(const ComparedPlan& one) {
  const BaselineResult& r = one.result;
  Value v = Value::object();
  v.set("name", one.name).set("status", name_of(r.status));
  if (!r.reason.empty()) v.set("reason", r.reason);
  if (one.relative) v.set("relative", *one.relative);
  v.set("search_s", r.search_time.value).set("evaluations", r.evaluations);
  if (r.believed) v.set("believed_step_s", r.believed->value);
  if (one.loses) {
    Value loss = Value::object();
    loss.set("name", one.loses->name).set("change_s", one.loses->change().value);
    v.set("loses_most_by", std::move(loss));
  }
  if (r.plan) {
    const Plan& plan = *r.plan;
    v.set("predicted", to_value(*plan.predicted));
    v.set("parallelism", to_value(plan.parallelism, plan.stages));
    Value training = Value::object();
    training.set("global_batch", plan.training.global_batch).set("sequence", plan.training.sequence);
    training.set("micro_batch", plan.training.micro_batch).set("micro_batches", plan.training.micro_batches);
    v.set("training", std::move(training));
    Value stages = Value::array();
    for (const Stage& stage : plan.stages) {
      Value layers = Value::array();
      for (const LayerId layer : stage.layers) layers.push(static_cast<std::int64_t>(layer.index()));
      Value s = Value::object();
      s.set("layers", std::move(layers)).set("recompute", spell(stage.recompute));
      if (stage.memory) s.set("memory", to_value(*stage.memory));
      stages.push(std::move(s));
    }
    v.set("stages", std::move(stages));
  }
  if (!r.curve.empty()) v.set("curve", curve_value(r.curve));
  Value notes = Value::array();
  for (const std::string& note : r.notes) notes.push(note);
  if (!r.notes.empty()) v.set("notes", std::move(notes));
  return v;
}

}  // namespace

std::string brief_degrees(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  const Strategy& s = p.strategy;
  std::vector<std::string> words;
  const auto add = [&](const char* letter, std::int64_t degree) {
    if (degree > 1) words.push_back(letter + std::to_string(degree));
  };
  add("t", s.tensor);
  add("c", s.context);
  if (s.hybrid()) words.back() += fmt::format("/{}", s.trading_ranks());
  add("e", s.expert);
  if (p.pipeline > 1)
    words.push_back(
        fmt::format("p{}{}", p.pipeline, p.interleave > 1 ? fmt::format("x{}", p.interleave) : ""));
  add("d", p.data);
  if (p.zero.shards_anything()) words.push_back(fmt::format("z{}", p.zero.number()));
  words.push_back(fmt::format("b{}", plan.training.micro_batch));
  const std::string again = brief_recompute(plan.stages);
  if (again != "none") words.push_back(again);
  return fmt::format("{}", fmt::join(words, " "));
}

std::string comparison_text(const Comparison& all, const PlanQuestion& question,
                            const ScreenOptions& options) {
  std::string out = wrap(title_of(question), kTextWidth, 0) + "\n\n";
  const bool sure = std::any_of(all.plans.begin(), all.plans.end(), [](const ComparedPlan& one) {
    return fits(one) && one.result.plan->predicted->interval.coverage > 0;
  });
  std::vector<Table::Column> columns{
      {""}, {"tokens/s", Align::right}, {"of ours", Align::right}, {"step", Align::right}};
  if (sure) columns.push_back({format_percent(kCoverage, 0), Align::right});
  columns.insert(columns.end(), {{"plan"}, {"memory", Align::right}});
  if (sure) columns.push_back({format_percent(kCoverage, 0), Align::right});
  columns.insert(columns.end(), {{"search", Align::right}, {"loses most by"}});
  Table table(std::move(columns));
  for (const ComparedPlan& one : all.plans) table.add(row_of(one, sure));
  out += table.str();
  std::string remarks;
  for (const ComparedPlan& one : all.plans) {
    for (const std::string& remark : remarks_of(one))
      remarks += "- " + wrap(one.name + ": " + remark, kTextWidth, 2) + "\n";
  }
  if (!remarks.empty()) out += "\n" + heading("Remarks", options) + "\n" + remarks;
  out += "\n" +
         wrap(
             "Plans are abbreviated: t tensor, c context, e expert, p pipeline (x chunks), d data, z ZeRO "
             "stage, b micro-batch, then recomputation (/ layers of a stage). 'nest compare --list' "
             "describes the baselines.",
             kTextWidth, 0) +
         "\n";
  return out;
}

Value to_value(const Comparison& all) {
  Value plans = Value::array();
  for (const ComparedPlan& one : all.plans) plans.push(plan_row(one));
  Value v = Value::object();
  v.set("plans", std::move(plans));
  return v;
}

std::string comparison_svg(const Comparison& all, const PlanQuestion& question) {
  BarPanel panel;
  BarCluster& group = panel.groups.emplace_back();
  for (const ComparedPlan& one : all.plans) {
    Bar bar{one.name, std::nullopt, "", one.name + ": " + one.result.reason};
    if (fits(one)) {
      bar.value = one.result.plan->predicted->tokens_per_s;
      bar.tooltip = fmt::format("{}: {} tokens/s, {}", one.name, format_count(*bar.value),
                                brief_degrees(*one.result.plan));
    }
    group.bars.push_back(std::move(bar));
  }
  return bar_chart({.title = title_of(question), .y_label = "tokens/s", .x_label = "", .panels = {panel}});
}

std::string baselines_text(const ScreenOptions& options) {
  std::string out;
  for (const Baseline& b : baselines()) {
    out += (out.empty() ? "" : "\n") + heading(b.name, options) + ": " + std::string(b.title) + "\n";
    const std::array<std::pair<const char*, std::string_view>, 4> parts{
        {{"does", b.does}, {"knows", b.knows}, {"ignores", b.ignores}, {"simplified", b.simplified}}};
    for (const auto& [head, text] : parts) {
      if (!text.empty()) out += fmt::format("  {:<11}", head) + wrap(text, kTextWidth, 13) + "\n";
    }
  }
  return out;
}

Value baselines_value() {
  Value list = Value::array();
  for (const Baseline& b : baselines()) {
    Value v = Value::object();
    v.set("name", b.name).set("title", b.title).set("does", b.does).set("knows", b.knows);
    v.set("ignores", b.ignores).set("simplified", b.simplified);
    list.push(std::move(v));
  }
  return list;
}

}  // namespace nest::report
