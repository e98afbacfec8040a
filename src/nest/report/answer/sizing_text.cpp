#include "nest/report/answer/sizing_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/comparison_text.hpp"
#include "nest/report/answer/plan_screen.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

constexpr std::size_t kIndent = 9;      // of what stands beside a heading
constexpr double kWorthKnowing = 0.01;  // of the target

// The days of the whole task if a step takes so long.
double days_in(const SizedPlan& one, Seconds step) {
  return one.cost.days * (step / one.plan.predicted->step);
}

// "26.7 to 31.2"; empty where nothing is known.
std::string days_interval(const SizedPlan& one, const char* between) {
  const StepInterval& interval = one.plan.predicted->interval;
  if (interval.coverage <= 0) return "";
  return fmt::format("{:.1f}{}{:.1f}", days_in(one, interval.low), between, days_in(one, interval.high));
}

Value value_of(const SizedPlan& one, const SizingTask& task, const RunCosts& costs) {
  Value v = Value::object();
  v.set("devices", one.devices).set("rented_devices", one.rented).set("days", one.cost.days);
  add_cost(v, costs, {one.rented, one.plan.predicted->tokens_per_s, task.uptime}, task.tokens);
  v.set("reach", one.reach);
  if (const Prediction& p = *one.plan.predicted; p.interval.coverage > 0) {
    Value ends = Value::array();
    ends.push(days_in(one, p.interval.low)).push(days_in(one, p.interval.high));
    v.set("days_interval", std::move(ends));
  }
  v.set("step_s", one.plan.predicted->step.value);
  put_certainty(v, *one.plan.predicted);
  v.set("tokens_per_s", one.plan.predicted->tokens_per_s).set("micro_batch", one.plan.training.micro_batch);
  v.set("parallelism", to_value(one.plan.parallelism, one.plan.stages));
  return v;
}

std::string line(const char* heading, const std::string& text) {
  return fmt::format("{:<9}", heading) + wrap(text, kTextWidth, kIndent) + "\n";
}

// What is proved of the number of devices: no fewer are enough, but nodes are rented whole.
std::string fewest_sentence(const Sizing& sizing) {
  if (sizing.status != PlanStatus::optimal) return "feasible: fewer devices may be enough";
  const std::int64_t rented = sizing.answer->rented;
  if (sizing.fewest <= 0 || sizing.fewest >= rented)
    return "optimal: no plan with fewer devices is fast enough";
  return fmt::format(
      "optimal: {} device{} the fewest that are enough; {} are rented, because nodes and slices are rented "
      "whole",
      format_digits(sizing.fewest), sizing.fewest == 1 ? " is" : "s are", format_digits(rented));
}

// "1,008 devices reach 98.4 % of the target, 504 reach 51.2 %"
std::string near_sentence(const Sizing& sizing) {
  std::vector<const SizedPlan*> fewer;
  fewer.reserve(sizing.near_misses.size() + 1);
  for (const SizedPlan& one : sizing.near_misses) fewer.push_back(&one);
  for (auto other = sizing.others.rbegin(); fewer.empty() && other != sizing.others.rend(); ++other) {
    if (other->rented < sizing.answer->rented && other->reach < 1) fewer.push_back(&*other);
  }
  std::string out;
  for (auto one = fewer.rbegin(); one != fewer.rend(); ++one) {
    out += out.empty()
               ? fmt::format("{} devices reach {} of the target", format_digits((*one)->rented),
                             format_percent((*one)->reach))
               : fmt::format(", {} reach {}", format_digits((*one)->rented), format_percent((*one)->reach));
  }
  return out;
}

std::string table_of(const Sizing& sizing, const RunCosts& costs) {
  std::vector<Table::Column> columns{
      {"devices", Align::right}, {"tokens/s", Align::right}, {"MFU", Align::right}};
  if (costs.fails()) columns.push_back({"goodput", Align::right});
  columns.push_back({"days", Align::right});
  const bool sure = sizing.answer->plan.predicted->interval.coverage > 0;
  if (sure)
    columns.push_back({format_percent(sizing.answer->plan.predicted->interval.coverage, 0), Align::right});
  columns.push_back({"device-hours", Align::right});
  if (costs.costs_money()) columns.push_back({"cost", Align::right});
  columns.push_back({"plan"});
  Table table(std::move(columns));
  std::vector<const SizedPlan*> rows{&*sizing.answer};
  for (const SizedPlan& one : sizing.near_misses) rows.push_back(&one);
  for (const SizedPlan& one : sizing.others) {
    const bool known =
        std::any_of(rows.begin(), rows.end(), [&](auto* r) { return r->rented == one.rented; });
    if (!known) rows.push_back(&one);
  }
  std::sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->rented < b->rented; });
  for (const SizedPlan* one : rows) {
    const Prediction& p = *one->plan.predicted;
    std::vector<std::string> cells{format_digits(one->rented), format_count(p.tokens_per_s),
                                   format_percent(p.mfu)};
    if (costs.fails()) cells.push_back(format_percent(one->goodput.share));
    cells.push_back(fmt::format("{:.1f}", one->cost.days));
    if (sure) cells.push_back(days_interval(*one, "-"));
    cells.push_back(format_money(one->cost.device_hours));
    if (one->cost.money) cells.push_back(format_money(*one->cost.money));
    cells.push_back(brief_degrees(one->plan));
    table.add(std::move(cells));
  }
  return table.str();
}

}  // namespace

std::string format_money(double amount) {
  if (amount < 100) return fmt::format("{:.4g}", amount);
  return amount < 1e6 ? format_digits(std::llround(amount)) : format_count(amount);
}

std::string run_cost_sentence(const RunCosts& costs, const RunRate& rate, double tokens) {
  const RunCost all = costs.of(rate, tokens);
  const RunCost trillion = costs.of(rate, kTrillion);
  std::string out = format_money(all.device_hours) + " device-hours";
  if (all.money) {
    out += "; cost " + format_money(*all.money);
    if (costs.price()) out += fmt::format(" at {:g} an hour", *costs.price());
    if (costs.terms().electricity)
      out += fmt::format("{} {:g} a kWh", costs.price() ? " and" : " at", *costs.terms().electricity);
    if (tokens != kTrillion) out += "; " + format_money(*trillion.money) + " for a trillion tokens";
  }
  if (all.energy_kwh && costs.costs_money())
    out +=
        fmt::format("; {} MWh at {} a device", format_money(*all.energy_kwh / 1e3), format(*costs.power()));
  return out;
}

std::string plan_cost_sentence(const Plan& plan, const PlanInputs& inputs, const RunCosts& costs) {
  const RunRate rate{rented_devices(plan, inputs.cluster), plan.predicted->tokens_per_s, 1};
  return fmt::format(
      "a trillion tokens take {:.3g} days on {} rented devices: {}{}", costs.of(rate, kTrillion).days,
      format_digits(rate.devices), run_cost_sentence(costs, rate, kTrillion),
      costs.fails() ? "; " + goodput_sentence(costs.goodput(rate.devices), costs.checkpoint()) : "");
}

Value plan_cost_value(const Plan& plan, const PlanInputs& inputs, const RunCosts& costs) {
  const RunRate rate{rented_devices(plan, inputs.cluster), plan.predicted->tokens_per_s, 1};
  Value v = Value::object();
  v.set("rented_devices", rate.devices).set("tokens", kTrillion).set("days", costs.of(rate, kTrillion).days);
  add_cost(v, costs, rate, kTrillion);
  return v;
}

std::string goodput_sentence(const Goodput& goodput, Bytes checkpoint) {
  const Failures& f = goodput.failures;
  return fmt::format(
      "{} of the time makes progress: a failure every {}, a checkpoint of {} ({}) every {}, a restart of {}",
      format_percent(goodput.share), format_long(f.between), format(checkpoint), format_long(f.checkpoint),
      format_long(goodput.interval), format_long(f.restart));
}

std::string sizing_text(const Sizing& sizing, const SizingTask& task, const RunCosts& costs,
                        const PlanInputs& inputs) {
  std::string out =
      wrap(fmt::format("{} on {}: {} tokens in {:g} day{} are {} tokens/s{}", inputs.model_name(),
                       inputs.cluster.name(), format_count(task.tokens), task.days, task.days == 1 ? "" : "s",
                       format_count(sizing.target_tokens_per_s),
                       task.uptime < 1 ? fmt::format(" at {:g} % uptime", 100 * task.uptime) : ""),
           kTextWidth, 0) +
      "\n\n";
  if (!sizing.answer) {
    out += wrap(sizing.status == PlanStatus::limit ? "stopped at a limit before a plan was found"
                : sizing.status == PlanStatus::disagreement
                    ? "this is a bug in nest, not in your input: " + sizing.reason
                    : "no number of devices is enough: " + sizing.reason,
                kTextWidth, 0) +
           "\n";
    const std::string near = near_sentence(sizing);
    // Far below the target it is no near miss, but worth knowing.
    const double reach = sizing.near_misses.empty() ? 0 : sizing.near_misses.back().reach;
    return near.empty() || reach < kWorthKnowing
               ? out
               : out + "\n" + line(reach < kNearly ? "At most" : "Nearly", near);
  }
  const SizedPlan& a = *sizing.answer;
  const Prediction& p = *a.plan.predicted;
  out += line("Devices", fmt::format("{} x {}{}", format_digits(a.rented), inputs.cluster.device_name(),
                                     a.rented > a.devices ? fmt::format(", of which the plan uses {}",
                                                                        format_digits(a.devices))
                                                          : ""));
  out += line("Plan", spell_degrees(a.plan));
  out += line("Time", fmt::format("{:.1f} days{}; step {}{}; MFU {:.1f} %", a.cost.days,
                                  p.interval.coverage > 0
                                      ? fmt::format(" ({}: {})", format_percent(p.interval.coverage, 0),
                                                    days_interval(a, " to "))
                                      : "",
                                  format(p.step), spell_interval(p.interval), 100 * p.mfu));
  out += line("Memory", spell_memory_use(a.plan));
  if (costs.fails()) out += line("Goodput", goodput_sentence(a.goodput, costs.checkpoint()));
  out += line("Cost", run_cost_sentence(costs, {a.rented, p.tokens_per_s, task.uptime}, task.tokens));
  out += line("Proof", fewest_sentence(sizing));
  if (const std::string near = near_sentence(sizing); !near.empty()) out += line("Nearly", near);
  return out + "\n" + table_of(sizing, costs);
}

Value sizing_value(const Sizing& sizing, const SizingTask& task, const RunCosts& costs) {
  Value v = Value::object();
  v.set("status", name_of(sizing.status));
  if (!sizing.reason.empty()) v.set("reason", sizing.reason);
  v.set("tokens", task.tokens).set("days", task.days).set("uptime", task.uptime);
  v.set("target_tokens_per_s", sizing.target_tokens_per_s);
  const auto list = [&](const std::vector<SizedPlan>& plans) {
    Value out = Value::array();
    for (const SizedPlan& one : plans) out.push(value_of(one, task, costs));
    return out;
  };
  if (!sizing.answer) {
    if (!sizing.near_misses.empty()) v.set("near_misses", list(sizing.near_misses));
    return v;
  }
  v.set("fewest_devices", sizing.fewest);
  v.set("answer", value_of(*sizing.answer, task, costs));
  v.set("near_misses", list(sizing.near_misses)).set("others", list(sizing.others));
  v.set("plan", plan_value(sizing.answer->plan, sizing.answer->inputs));
  return v;
}

std::string portfolio_text(const Portfolio& portfolio) {
  std::vector<Table::Column> columns{{"nodes", Align::right},       {"devices", Align::right},
                                     {"tokens/s", Align::right},    {"must move", Align::right},
                                     {"most of one", Align::right}, {"lost", Align::right}};
  if (portfolio.tokens_per_s) columns.push_back({"of a month", Align::right});
  columns.push_back({"plan"});
  Table table(std::move(columns));
  bool first = true;
  for (const PortfolioStep& step : portfolio.steps) {
    std::vector<std::string> cells{format_digits(step.nodes)};
    const std::vector<std::string> moved =
        first ? std::vector<std::string>{"-", "-", "-"}
              : std::vector{format(step.moved.total), format(step.moved.most), format(step.moved.lost)};
    if (step.sized) {
      cells.push_back(format_digits(step.sized->devices));
      cells.push_back(format_count(step.sized->plan.predicted->tokens_per_s));
      cells.insert(cells.end(), moved.begin(), moved.end());
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-", "-"});
    }
    if (portfolio.tokens_per_s) cells.push_back(format_percent(step.share));
    cells.push_back(step.sized ? brief_degrees(step.sized->plan) : step.reason);
    table.add(std::move(cells));
    first = false;
  }
  std::string out = table.str();
  out +=
      wrap(
          "Must move: weights and optimizer states to be resharded, which devices of the plan did not hold "
          "under the plan above. Lost: what only a checkpoint has.",
          kTextWidth, 0) +
      "\n";
  if (portfolio.tokens_per_s && portfolio.waiting_tokens_per_s) {
    out += wrap(fmt::format(
                    "Over a month: {} tokens/s expected with these plans, {} if the run waited whenever "
                    "a node is away.",
                    format_count(*portfolio.tokens_per_s), format_count(*portfolio.waiting_tokens_per_s)),
                kTextWidth, 0) +
           "\n";
  } else {
    out += wrap("With --mtbf it says what a month can be expected to have.", kTextWidth, 0) + "\n";
  }
  return out;
}

Value portfolio_value(const Portfolio& portfolio) {
  Value steps = Value::array();
  for (const PortfolioStep& step : portfolio.steps) {
    Value one = Value::object();
    one.set("nodes", step.nodes);
    if (portfolio.tokens_per_s) one.set("month_share", step.share);
    if (!step.sized) {
      steps.push(std::move(one.set("reason", step.reason)));
      continue;
    }
    const Plan& plan = step.sized->plan;
    one.set("devices", step.sized->devices).set("status", name_of(*plan.status));
    one.set("tokens_per_s", plan.predicted->tokens_per_s).set("goodput", step.sized->goodput.share);
    one.set("resharded_bytes", step.moved.total.value).set("resharded_most_bytes", step.moved.most.value);
    one.set("lost_bytes", step.moved.lost.value).set("state_bytes", step.moved.state.value);
    one.set("parallelism", to_value(plan.parallelism, plan.stages));
    one.set("plan", plan_value(plan, step.sized->inputs));
    steps.push(std::move(one));
  }
  Value v = Value::object();
  v.set("steps", std::move(steps));
  if (portfolio.tokens_per_s) v.set("month_tokens_per_s", *portfolio.tokens_per_s);
  if (portfolio.waiting_tokens_per_s) v.set("month_waiting_tokens_per_s", *portfolio.waiting_tokens_per_s);
  return v;
}

}  // namespace nest::report
