// nest lint: what is wrong with a launch file of a framework, and what is slow about it.
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
  Asked asked = read_asked(arguments);
  asked.choices = {};  // options of that name say what the file does not, and bind no other plan
  Warnings warnings;
  const ImportQuestion question = read_import_question(arguments);
  const auto kind = arguments.text("--kind");
  const Importer& importer = kind ? kind_named(*kind) : importer_of(question);
  OpenPlan open = importer.read(question, warnings);
  calibrate_inputs(open.inputs, arguments, warnings);
  terminal.warn(warnings);
  const Plan plan = Pricer(open.inputs).place(std::move(open.plan));
  ProgressLine progress(terminal);
  const LintReport report = lint(
      plan, open.inputs, asked, [&](const SearchProgress& p) { progress.show(p); },
      importer.dialect(question.text));
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
  options.insert(
      options.begin(),
      {"--kind", "KIND", "megatron, torchtitan, deepspeed or accelerate (default: what the file holds)"});
  for (Option& option : asked_options({AskedSection::search}, kOfPlanOnly))
    options.push_back(std::move(option));
  options.push_back(calibration_option());
  options.push_back(pipeline_model_option());
  options.push_back(json_option());
  return {
      {"lint",
       "FILE",
       1,
       1,
       "find mistakes and slow settings in a launch line or a file of settings",
       "Reads an argument file or a launch script of Megatron-LM, a TOML file of torchtitan, a JSON file of "
       "DeepSpeed or a YAML file of Accelerate, and prices the run on the given cluster. It reports what "
       "breaks "
       "the framework's rules, what does not fit in memory, which groups cross node boundaries and where "
       "time is "
       "lost. It then shows how much faster the best plan for the same model, devices and batch is that the "
       "framework can run, and which settings to change to get it. Rank r runs on device r unless --ranks "
       "says "
       "otherwise. The exit code is 3 if the run does not fit in memory.",
       std::move(options),
       {{"nest lint train_llama.sh --cluster dgx-h100-superpod", "check a launch script on a DGX SuperPOD"},
        {"nest lint train.toml --cluster h100-spine-leaf --devices 64", "check torchtitan's settings"},
        {"nest lint ds_config.json --model llama3.1-8b --sequence 4096 --devices 16",
         "DeepSpeed's name no model"},
        {"nest lint megatron_args.txt --devices 64 --json", "for programs"}},
       run_lint}};
}

}  // namespace nest::cli
