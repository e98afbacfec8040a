// nest lint: what is wrong with a Megatron-LM launch line, and what is slow about it.
#include <utility>

#include "command.hpp"
#include "import_question.hpp"
#include "nest/base/error.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/lint.hpp"
#include "plan_options.hpp"
#include "plan_progress.hpp"
#include "plan_question.hpp"

namespace nest::cli {
namespace {

int run_lint(const Arguments& arguments, Terminal& terminal) {
  const Asked asked = read_asked(arguments);
  Warnings warnings;
  OpenPlan open = import_megatron(read_import_question(arguments), warnings);
  terminal.warn(warnings);
  const Plan plan = Pricer(open.inputs).place(std::move(open.plan));
  ProgressLine progress(terminal);
  const LintReport report =
      lint(plan, open.inputs, asked, [&](const SearchProgress& p) { progress.show(p); });
  terminal.end_progress();
  if (arguments.has("--json"))
    terminal.json(to_value(report, plan));
  else
    terminal.out(lint_text(report, plan, open.inputs));
  if (report.priced.status == PriceStatus::feasible) return kOk;
  return report.priced.status == PriceStatus::infeasible ? kInfeasible : kBadInput;
}

}  // namespace

std::vector<Command> lint_commands() {
  std::vector<Option> options = import_options();
  for (Option& option : asked_options({AskedSection::search}, kOfPlanOnly))
    options.push_back(std::move(option));
  options.push_back(pipeline_model_option());
  options.push_back(json_option());
  return {
      {"lint",
       "ARGS-FILE",
       1,
       1,
       "find mistakes and slow settings in a Megatron-LM launch line",
       "Reads an argument file or a launch script of Megatron-LM and prices it on the given cluster. It "
       "reports what does not fit in memory, which groups cross node boundaries and where time is lost. It "
       "then shows how much faster the best plan for the same model, devices and batch is, and which flags "
       "to change to get it. Rank r runs on device r unless --ranks says otherwise. The exit code is 3 if "
       "the run does not fit in memory.",
       std::move(options),
       {{"nest lint train_llama.sh --cluster dgx-h100-superpod", "check a launch script on a DGX SuperPOD"},
        {"nest lint megatron_args.txt --devices 64 --json", "for programs"}},
       run_lint}};
}

}  // namespace nest::cli
