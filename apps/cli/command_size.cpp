// nest size: how many devices a training run needs, which plan, and what it costs.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "command.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/comparison_text.hpp"
#include "nest/solve/ask/sizing.hpp"
#include "option_values.hpp"
#include "plan_options.hpp"
#include "plan_progress.hpp"
#include "plan_question.hpp"
#include "stop_search.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

// "15T", "1.4 trillion" is not taken: a number with K, M, B or T behind it.
std::optional<double> parse_amount(std::string text) {
  double unit = 1;
  constexpr std::array<std::pair<char, double>, 5> kUnits{
      {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}}};
  std::erase(text, ',');
  std::erase(text, '_');
  for (const auto& [letter, size] : kUnits) {
    if (text.empty() || std::toupper(static_cast<unsigned char>(text.back())) != letter) continue;
    unit = size;
    text.pop_back();
    break;
  }
  while (text.ends_with(' ')) text.pop_back();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value * unit;
}

double positive(const Arguments& arguments, const std::string& option, const std::string& typed,
                const char* example) {
  if (!arguments.has(option)) throw UsageError(fmt::format("size needs {}, such as {}", option, example));
  const auto value = parse_amount(typed);
  if (!value || !(*value > 0) || *value > 1e30)
    throw UsageError(fmt::format("{}: '{}' is not a number above 0; try {}", option, typed, example));
  return *value;
}

// "2.5/h", "$2.5/h" or "2.5": of one device for one hour, in whatever currency.
std::optional<double> read_price(const Arguments& arguments) {
  const auto typed = arguments.text("--price");
  if (!typed) return std::nullopt;
  std::string digits = *typed;
  if (digits.ends_with("/h")) digits.resize(digits.size() - 2);
  if (digits.starts_with('$')) digits.erase(0, 1);
  return positive(arguments, "--price", digits, "2.5/h");
}

SizingTask read_task(const Arguments& arguments) {
  SizingTask task;
  task.tokens = positive(arguments, "--tokens", arguments.text("--tokens").value_or(""), "15T");
  std::string days = arguments.text("--days").value_or("");
  for (const std::string unit : {" days", " day", "d"}) {
    if (days.ends_with(unit)) days.resize(days.size() - unit.size());
  }
  task.days = positive(arguments, "--days", days, "60");
  if (arguments.has("--uptime")) task.uptime = read_share(arguments, "--uptime");
  if (!(task.uptime > 0) || task.uptime > 1)
    throw UsageError("--uptime: a share above 0 and up to 100% is expected, such as 95%");
  return task;
}

std::string money(double amount) {
  return amount < 1e6 ? format_digits(std::llround(amount)) : format_count(amount);
}

Value value_of(const SizedPlan& one, std::optional<double> price) {
  Value v = Value::object();
  v.set("devices", one.devices).set("rented_devices", one.rented).set("days", one.days);
  v.set("device_hours", one.device_hours());
  if (price) v.set("cost", one.device_hours() * *price);
  v.set("tokens_per_s", one.plan.predicted->tokens_per_s).set("micro_batch", one.plan.training.micro_batch);
  v.set("parallelism", to_value(one.plan.parallelism, one.plan.stages));
  return v;
}

Value value_of(const Sizing& sizing, const SizingTask& task, std::optional<double> price) {
  Value v = Value::object();
  v.set("status", name_of(sizing.status));
  if (!sizing.reason.empty()) v.set("reason", sizing.reason);
  v.set("tokens", task.tokens).set("days", task.days).set("uptime", task.uptime);
  v.set("target_tokens_per_s", sizing.target_tokens_per_s);
  if (!sizing.answer) return v;
  v.set("answer", value_of(*sizing.answer, price));
  Value others = Value::array();
  for (const SizedPlan& other : sizing.others) others.push(value_of(other, price));
  v.set("others", std::move(others));
  v.set("plan", plan_value(sizing.answer->plan, sizing.answer->inputs));
  return v;
}

std::string text_of(const Sizing& sizing, const SizingTask& task, std::optional<double> price,
                    const PlanInputs& inputs) {
  std::string out =
      wrap(fmt::format("{} on {}: {} tokens in {:g} days are {} tokens/s{}", inputs.model_name(),
                       inputs.cluster.name(), format_count(task.tokens), task.days,
                       format_count(sizing.target_tokens_per_s),
                       task.uptime < 1 ? fmt::format(" at {:g} % uptime", 100 * task.uptime) : ""),
           kTextWidth, 0);
  if (!sizing.answer) {
    return out + "\n\n" +
           wrap(sizing.status == PlanStatus::limit ? "stopped at a limit before a plan was found"
                : sizing.status == PlanStatus::disagreement
                    ? "this is a bug in nest, not in your input: " + sizing.reason
                    : "no number of devices is enough: " + sizing.reason,
                kTextWidth, 0) +
           "\n";
  }
  const SizedPlan& a = *sizing.answer;
  out += fmt::format(
      "\n\nDevices  {} x {}{}\n", format_digits(a.rented), inputs.cluster.device_name(),
      a.rented > a.devices ? fmt::format(", of which the plan uses {}", format_digits(a.devices)) : "");
  out += "Plan     " + wrap(spell_degrees(a.plan), kTextWidth, 9) + "\n";
  out += fmt::format("Time     {:.1f} days; step {}; MFU {:.1f} %\n", a.days, format(a.plan.predicted->step),
                     100 * a.plan.predicted->mfu);
  out +=
      fmt::format("Cost     {} device-hours{}\n", money(a.device_hours()),
                  price ? fmt::format("; {} at {:g} an hour", money(a.device_hours() * *price), *price) : "");
  out +=
      "Proof    " +
      std::string(sizing.status == PlanStatus::optimal ? "optimal: no plan with fewer devices is fast enough"
                                                       : "feasible: fewer devices may be enough") +
      "\n\n";
  std::vector<Table::Column> columns{{"devices", Align::right},
                                     {"tokens/s", Align::right},
                                     {"MFU", Align::right},
                                     {"days", Align::right},
                                     {"device-hours", Align::right}};
  if (price) columns.push_back({"cost", Align::right});
  columns.push_back({"plan"});
  Table table(std::move(columns));
  bool answered = false;
  const auto row = [&](const SizedPlan& one) {
    const Prediction& p = *one.plan.predicted;
    std::vector<std::string> cells{format_digits(one.rented), format_count(p.tokens_per_s),
                                   format_percent(p.mfu), fmt::format("{:.1f}", one.days),
                                   money(one.device_hours())};
    if (price) cells.push_back(money(one.device_hours() * *price));
    cells.push_back(brief_degrees(one.plan));
    table.add(std::move(cells));
  };
  for (const SizedPlan& other : sizing.others) {
    if (!answered && other.rented > a.rented) {
      row(a);
      answered = true;
    }
    row(other);
  }
  if (!answered) row(a);
  return out + table.str();
}

int run_size(const Arguments& arguments, Terminal& terminal) {
  const SizingTask task = read_task(arguments);
  const std::optional<double> price = read_price(arguments);
  PlanQuestion question = read_question(arguments, terminal);
  ProgressLine progress(terminal);
  question.options.progress = [&](const SearchProgress& p) { progress.show(p); };
  const StopSearch stop(question.options.deadline);
  const Sizing sizing = size_cluster(question, task, [&](std::int64_t devices) {
    progress.phase(fmt::format("{} devices", format_digits(devices)));
  });
  terminal.end_progress();
  if (stop.interrupted()) terminal.note("nest: interrupted; this is what was found so far");
  if (sizing.answer && sizing.stopped)
    terminal.note("nest: other numbers of devices were not finished within the time limit");
  if (sizing.answer) {
    const SizedPlan& a = *sizing.answer;
    write_output(arguments, "-o", [&] { return to_json(plan_value(a.plan, a.inputs)) + "\n"; }, terminal);
  }
  if (arguments.has("--json"))
    terminal.json(value_of(sizing, task, price));
  else
    terminal.out(text_of(sizing, task, price, question.inputs));
  if (sizing.answer) return kOk;
  return code_without_plan(sizing.status);
}

}  // namespace

std::vector<Command> size_commands() {
  std::vector<Option> options{
      {"--tokens", "N", "the number of tokens to train on, such as 15T"},
      {"--days", "D", "the number of days that the training may take"},
      {"--price", "P/h", "the price of one device for one hour, in any currency, such as 2.5/h"},
      {"--uptime", "SHARE", "the share of the time that is spent training, such as 95% (default 100%)"}};
  for (Option& option : input_options()) options.push_back(std::move(option));
  for (Option& option :
       asked_options({AskedSection::training, AskedSection::choices, AskedSection::search}, kOfPlanOnly))
    options.push_back(std::move(option));
  options.push_back(pipeline_model_option());
  options.push_back({"-o", "FILE", "also write the plan to a file"});
  options.push_back(json_option());
  return {{"size",
           "",
           0,
           0,
           "find how many devices a training run needs, and what it costs",
           "Finds the fewest devices that train on the given number of tokens within the given number of "
           "days. It shows the plan, the days and the device-hours, and compares them with a quarter, half, "
           "twice and four times as many devices. The cluster supplies the accelerator and the levels; if it "
           "is too small, it is enlarged to up to 131,072 devices. Devices are added in whole nodes (domains "
           "of the innermost level). The exit code is 3 if no number of devices is enough.",
           std::move(options),
           {{"nest size --model llama3.1-70b --tokens 15T --days 60 --price 2.5/h",
             "find the fewest H100 and the cost"},
            {"nest size --model llama3.1-8b --tokens 1T --days 14 --cluster dgx-a100-superpod --uptime 95%",
             "use another cluster, and allow for lost time"}},
           run_size}};
}

}  // namespace nest::cli
