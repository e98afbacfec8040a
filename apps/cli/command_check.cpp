// nest check: whether a launch file stays within a budget; for the tests of a repository that holds it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "command.hpp"
#include "import_question.hpp"
#include "nest/frameworks/open_launch.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/budget.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

constexpr const char* kUsual = "memory=100%";

std::vector<Budget> read_budget_option(const Arguments& arguments) {
  std::string typed = arguments.text("--budget").value_or(kUsual);
  std::replace(typed.begin(), typed.end(), '\n', ',');
  try {
    return read_budgets(typed);
  } catch (const InputError& error) {
    throw UsageError("--budget: " + error.problem() + (error.hint().empty() ? "" : "; " + error.hint()));
  }
}

int run_check(const Arguments& arguments, Terminal& terminal) {
  const std::string& file = arguments.positionals.front();
  const std::vector<Budget> budgets = read_budget_option(arguments);
  const auto kind = arguments.text("--kind");
  Warnings warnings;
  OpenPlan open = open_launch(read_import_question(arguments), kind ? &kind_named(*kind) : nullptr, warnings);
  calibrate_inputs(open.inputs, arguments, warnings);
  terminal.warn(warnings);
  Pricer pricer(open.inputs, {read_pipeline_model(arguments)});
  const Plan plan = pricer.complete(std::move(open.plan));
  const PricedPlan priced = pricer.price(plan);
  if (priced.status == PriceStatus::invalid) throw InputError(file, "", priced.reason);
  const std::vector<BudgetCheck> checks = check_budgets(budgets, with_results(plan, priced));
  const bool within = all_within(checks);
  if (arguments.has("--json")) {
    Value value = to_value(checks);
    value.set("status", name_of(priced.status)).set("reason", priced.reason);
    value.set("predicted", to_value(priced.predicted));
    terminal.json(value);
  } else {
    for (const BudgetCheck& check : checks)
      terminal.out(fmt::format("{:<6} {}\n", check.within ? "within" : "over", check.sentence));
  }
  return within ? kOk : kBadInput;
}

}  // namespace

std::vector<Command> check_commands() {
  std::vector<Option> options = import_options();
  options.insert(
      options.begin(),
      {{"--budget", "WHAT=LIMIT",
        "what must hold: memory=95% of a device or memory=70GiB, step=9.5s, tokens-per-s=500000, "
        "mfu=40%; several with commas between them (default memory=100%)",
        true},
       {"--kind", "KIND", "megatron, torchtitan, deepspeed or accelerate (default: what the file holds)"}});
  options.push_back(calibration_option());
  options.push_back(pipeline_model_option());
  options.push_back(json_option());
  return {
      {"check",
       "FILE",
       1,
       1,
       "check that a launch file or a plan stays within a budget",
       "Reads a launch file as 'nest lint' does, or a plan, prices the run, and compares it with budgets of "
       "memory, step time, throughput or MFU. It prints a line for each budget. The exit code is 1 if any of "
       "them is exceeded, so that a repository with training configurations can run it as a test. It "
       "searches for nothing and takes milliseconds.",
       std::move(options),
       {{"nest check train.sh --cluster dgx-h100-superpod --devices 64 --budget memory=95%",
         "fail if a device's memory is fuller than 95 %"},
        {"nest check train.toml --devices 64 --budget memory=95%,mfu=35% --json",
         "two budgets, for programs"},
        {"nest check plan.json --budget step=10s", "check a plan"}},
       run_check}};
}

}  // namespace nest::cli
