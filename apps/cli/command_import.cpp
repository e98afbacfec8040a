// nest import: somebody else's description of a training run as a plan.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "command.hpp"
#include "import_question.hpp"
#include "nest/base/error.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/price.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

int import_as(const Importer& importer, const Arguments& arguments, Terminal& terminal) {
  const std::string& file = arguments.positionals.front();
  if (!arguments.has("-o") && !arguments.has("--json"))
    throw UsageError("give -o FILE to write the plan to a file, or --json to print it");
  check_output(arguments, "-o");
  Warnings warnings;
  OpenPlan open = importer.read(read_import_question(arguments), warnings);
  calibrate_inputs(open.inputs, arguments, warnings);
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

// What each kind is asked for.
constexpr std::array<std::array<std::string_view, 2>, 4> kExamples{{
    {"megatron-launch/megatron_args.txt -o plan.json", "train_gpt3.sh --devices 64 -o plan.json"},
    {"train.toml --devices 64 -o plan.json",
     "llama3_405b.toml --cluster dgx-h100-superpod --devices 128 --json"},
    {"ds_config.json --model llama3.1-8b --sequence 4096 --devices 16 -o plan.json",
     "ds_config.json --model mixtral-8x7b --expert 8 --devices 64 --json"},
    {"fsdp.yaml --model llama3.1-8b --sequence 4096 --micro-batch 2 -o plan.json",
     "accelerate.yaml --model qwen3-8b --sequence 8192 --global-batch 128 --json"},
}};

std::string details_of(const Importer& importer) {
  return fmt::format(
      "Reads {} and writes the plan that it describes, with its price. Rank r runs on device r unless "
      "--ranks "
      "says otherwise. Sizes that contradict each other are refused. What concerns parallelism and is not "
      "understood is listed.",
      importer.file);
}

}  // namespace

std::vector<Command> import_commands() {
  std::vector<Option> options = import_options();
  options.push_back(calibration_option());
  options.push_back({"-o", "FILE", "the file to write the plan to"});
  options.push_back(json_option());
  std::vector<Command> out;
  for (std::size_t i = 0; i < kExamples.size(); ++i) {
    const Importer& importer = importers()[i];
    const std::string name = fmt::format("import {}", importer.name);
    out.push_back({name,
                   "FILE",
                   1,
                   1,
                   fmt::format("read a plan from {}", importer.file),
                   details_of(importer),
                   options,
                   {{fmt::format("nest {} {}", name, kExamples[i][0]), "write the plan of a file"},
                    {fmt::format("nest {} {}", name, kExamples[i][1]), "with what the file does not say"}},
                   [&importer](const Arguments& arguments, Terminal& terminal) {
                     return import_as(importer, arguments, terminal);
                   },
                   std::string(importer.sample)});
  }
  return out;
}

}  // namespace nest::cli
