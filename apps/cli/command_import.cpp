// nest import: somebody else's description of a training run as a plan.
#include <fmt/format.h>

#include <utility>

#include "command.hpp"
#include "import_question.hpp"
#include "nest/base/error.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/price.hpp"

namespace nest::cli {
namespace {

int run_import(const Arguments& arguments, Terminal& terminal) {
  const std::string& file = arguments.positionals.front();
  if (!arguments.has("-o") && !arguments.has("--json"))
    throw UsageError("give -o FILE to write the plan to a file, or --json to print it");
  check_output(arguments, "-o");
  Warnings warnings;
  OpenPlan open = import_megatron(read_import_question(arguments), warnings);
  terminal.warn(warnings);
  Pricer pricer(open.inputs);
  const PricedPlan priced = pricer.price(open.plan);
  if (priced.status == PriceStatus::invalid) throw InputError(file, "", priced.reason);
  const bool fits = priced.status == PriceStatus::feasible;
  if (!fits) terminal.note("nest: warning: the plan does not fit: " + priced.reason);
  Plan plan = with_results(pricer.place(std::move(open.plan)), priced);
  plan.status = fits ? PlanStatus::feasible : PlanStatus::infeasible;
  const Value value = plan_value(plan, open.inputs);
  write_output(arguments, "-o", [&] { return to_json(value) + "\n"; }, terminal);
  if (arguments.has("--json")) {
    terminal.json(value);
    return kOk;
  }
  terminal.out(fmt::format("{} on {}: {} devices, {}; step {}, MFU {:.1f} %\n", open.inputs.model_name(),
                           open.inputs.cluster.name(), plan.parallelism.devices(), spell_degrees(plan),
                           format(priced.predicted.step), 100 * priced.predicted.mfu));
  return kOk;
}

}  // namespace

std::vector<Command> import_commands() {
  std::vector<Option> options = import_options();
  options.push_back({"-o", "FILE", "the file to write the plan to"});
  options.push_back(json_option());
  return {
      {"import megatron",
       "ARGS",
       1,
       1,
       "read a plan from Megatron-LM's arguments",
       "Reads an argument file or a launch script of Megatron-LM and writes the plan that it describes, with "
       "its price. Rank r runs on device r unless --ranks says otherwise. Sizes that contradict each other "
       "are refused. Flags about parallelism that are not understood are listed.",
       std::move(options),
       {{"nest import megatron megatron-launch/megatron_args.txt -o plan.json", "read an export back"},
        {"nest import megatron train_gpt3.sh --devices 64 -o plan.json", "read a launch script"}},
       run_import},
  };
}

}  // namespace nest::cli
