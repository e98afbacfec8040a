// nest size: how many devices a training run needs, which plan, and what it costs.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "command.hpp"
#include "nest/base/error.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/report/answer/sizing_text.hpp"
#include "nest/solve/ask/portfolio.hpp"
#include "option_values.hpp"
#include "plan_options.hpp"
#include "plan_progress.hpp"
#include "plan_question.hpp"
#include "stop_search.hpp"

namespace nest::cli {
namespace {

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

int run_size(const Arguments& arguments, Terminal& terminal) {
  const SizingTask task = read_task(arguments);
  const std::int64_t spares = whole_within(arguments, "--spares", 0, 0, kMostSpares);
  PlanQuestion question = read_question(arguments, terminal);
  if (!question.batches.empty()) throw UsageError("--global-batch: a cluster is sized for one batch");
  const RunCosts costs(question.asked.run, question.inputs, question.training);
  ProgressLine progress(terminal);
  question.options.progress = [&](const SearchProgress& p) { progress.show(p); };
  const StopSearch stop(question.options.deadline);
  const auto asking = [&](std::int64_t devices) {
    progress.phase(fmt::format("{} devices", format_digits(devices)));
  };
  const Sizing sizing = size_cluster(question, task, asking);
  std::optional<Portfolio> portfolio;
  Warnings refused;
  if (sizing.answer && spares > 0) {
    try {
      portfolio = find_portfolio(question, *sizing.answer, task, spares, asking);
    } catch (const InputError& error) {
      refused.push_back(fmt::format("--spares: {}", error.what()));
    }
  }
  terminal.end_progress();
  terminal.warn(refused);
  if (stop.interrupted()) terminal.note("nest: interrupted; this is what was found so far");
  if (sizing.answer && (sizing.stopped || (portfolio && portfolio->stopped)))
    terminal.note("nest: other numbers of devices were not finished within the time limit");
  if (sizing.answer) {
    const SizedPlan& a = *sizing.answer;
    write_output(arguments, "-o", [&] { return to_json(plan_value(a.plan, a.inputs)) + "\n"; }, terminal);
  }
  if (arguments.has("--json")) {
    Value value = sizing_value(sizing, task, costs);
    if (portfolio) value.set("portfolio", portfolio_value(*portfolio));
    terminal.json(value);
  } else {
    terminal.out(sizing_text(sizing, task, costs, question.inputs));
    if (portfolio) terminal.out("\n" + portfolio_text(*portfolio));
  }
  if (sizing.answer) return kOk;
  return code_without_plan(sizing.status);
}

}  // namespace

std::vector<Command> size_commands() {
  std::vector<Option> options{
      {"--tokens", "N", "the number of tokens to train on, such as 15T"},
      {"--days", "D", "the number of days that the training may take"},
      {"--uptime", "SHARE",
       "the share of the time that is spent training, besides failures, such as 95% (default 100%)"},
      {"--spares", "K", "also plan for 1 to K nodes fewer, and say what must move between the plans"}};
  for (Option& option : asked_options({AskedSection::run})) options.push_back(std::move(option));
  for (Option& option : input_options()) options.push_back(std::move(option));
  for (Option& option :
       asked_options({AskedSection::training, AskedSection::choices, AskedSection::search}, kOfPlanOnly))
    options.push_back(std::move(option));
  options.push_back(pipeline_model_option());
  options.push_back({"-o", "FILE", "also write the plan to a file"});
  options.push_back(json_option());
  return {
      {"size",
       "",
       0,
       0,
       "find how many devices a training run needs, and what it costs",
       "Finds the fewest devices that train on the given number of tokens within the given number of "
       "days. It shows the plan, the days, the device-hours and the cost, says what slightly fewer devices "
       "reach, and compares with a quarter, half, twice and four times as many devices. With --mtbf, the "
       "time that failures and checkpoints take is made up for (docs/money.md). The cluster supplies the "
       "accelerator and the levels; if it "
       "is too small, it is enlarged to up to 131,072 devices. Devices are added in whole nodes (domains "
       "of the innermost level), or slices of a torus. The exit code is 3 if no number of devices is enough.",
       std::move(options),
       {{"nest size --model llama3.1-70b --tokens 15T --days 60 --price 2.5/h",
         "find the fewest H100 and the cost"},
        {"nest size --model llama3.1-70b --tokens 15T --days 60 --mtbf 50000h --spares 2",
         "make up for failures, and plan for one and two nodes fewer"},
        {"nest size --model llama3.1-8b --tokens 1T --days 14 --cluster dgx-a100-superpod --uptime 95%",
         "use another cluster, and allow for lost time"}},
       run_size}};
}

}  // namespace nest::cli
