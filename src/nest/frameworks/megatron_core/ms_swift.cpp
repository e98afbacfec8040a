#include "nest/frameworks/megatron_core/ms_swift.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/megatron/megatron.hpp"
#include "nest/frameworks/megatron_core/bridge_recipes.hpp"
#include "nest/frameworks/megatron_core/core_export.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::frameworks {
namespace {

constexpr CoreTarget kTarget{"ms-swift", kMsSwiftCore, CoreDialect::ms_swift, "argument in ms-swift"};

std::string arguments(const std::vector<Setting>& settings) {
  FlagSection section{"Arguments of megatron pt and megatron sft", {}};
  for (const Setting& setting : settings) section.add("--" + setting.key, setting.value);
  return flag_text({section});
}

std::string command_script(const ExportFacts& f) {
  const BridgeRecipe* known = find_bridge_recipe(f.spec);
  return fmt::format(
      R"sh(#!/bin/bash
# swift.sh LAUNCHER..: ms-swift's megatron pt, or what SWIFT_COMMAND names (sft), with the arguments of swift_args.txt.
set -euo pipefail
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
{}model=${{MODEL_ARGS:{}}}
data=${{DATA_ARGS:?set it to the data, such as --dataset FILE}}
train=${{TRAIN_ARGS:---train_iters 20 --packing true --logging_steps 1 --eval_iters 0}}
mapfile -t args < <(sed -e 's/^#.*//' "$here/swift_args.txt" | tr -s ' ' '\n' | sed -e '/^$/d')
read -ra own <<< "$model $data $train"
exec "$@" -m "swift.cli._megatron.${{SWIFT_COMMAND:-pt}}" "${{args[@]}}" "${{own[@]}}"
)sh",
      connections_line(f.parallelism()),
      known != nullptr ? fmt::format("---model {} --use_hf true", known->hub)
                       : "?set it to the model, such as --model NAME --use_hf true");
}

}  // namespace

ExportResult export_ms_swift(const ExportQuestion& question, const ExportSink& sink) {
  CoreExport out = begin_core_export(question, kTarget);
  if (!out.result.rule.empty()) return out.result;
  const Tuning& tuning = question.plan.training.tuning;
  if (!tuning.whole()) {
    out.settings.push_back({"tuner_type", "lora"});
    out.settings.push_back({"lora_rank", std::to_string(tuning.rank)});
    out.settings.push_back({"target_modules", fmt::format("{}", fmt::join(tuning.targets, " "))});
  }
  if (const BridgeRecipe* known = find_bridge_recipe(out.facts.spec); known == nullptr) {
    out.result.lost.emplace_back("the model: MODEL_ARGS names it");
  } else {
    for (std::string& sentence : recipe_losses(*out.facts.spec, *known))
      out.result.lost.push_back(std::move(sentence));
  }
  out.result.next = {
      "DATA_ARGS='--dataset ..' ./run_host.sh on each host of placement/hosts.txt, with ms-swift "
      "installed",
      "or DATA_ARGS='--dataset ..' sbatch run_slurm.sh"};
  sink({"swift_args.txt", core_header(out, "Arguments") + arguments(out.settings)});
  end_core_export(
      question, out, "ms-swift", {"swift.sh", command_script(out.facts), "nest-ms-swift"},
      {"data: DATA_ARGS", "the model and where it comes from: MODEL_ARGS",
       "iterations, learning rate, packing, checkpoints: TRAIN_ARGS; sequences are full, as in the "
       "plan, only with packing",
       tuning.whole()
           ? "adapters, preferences and reinforcement learning: the plan is of all parameters and of the "
             "training of one model"
           : "lora_alpha, dropout, preferences and reinforcement learning: the plan is of the training of "
             "one model with its adapters"},
      sink);
  return out.result;
}

}  // namespace nest::frameworks
