#include "nest/frameworks/megatron_core/verl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/frameworks/common/tuning_words.hpp"
#include "nest/frameworks/megatron/megatron.hpp"
#include "nest/frameworks/megatron_core/bridge_recipes.hpp"
#include "nest/frameworks/megatron_core/core_adapters.hpp"
#include "nest/frameworks/megatron_core/core_export.hpp"
#include "nest/frameworks/megatron_core/hydra_file.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::frameworks {
namespace {

constexpr CoreTarget kTarget{"verl", kVerlCore, CoreDialect::verl, "key in verl"};

// The table's keys are those of an actor; each trainer has the engine and the optimizer somewhere else.
std::vector<Setting> moved(const std::vector<Setting>& settings, std::string_view engine,
                           std::string_view optimizer) {
  std::vector<Setting> out;
  out.reserve(settings.size());
  for (const Setting& setting : settings) {
    std::string_view key = setting.key;
    const std::string_view plus = key.starts_with('+') ? "+" : "";
    key.remove_prefix(plus.size());
    const std::size_t dot = key.find('.');
    const std::string_view place = key.substr(0, dot) == "optim" ? optimizer : engine;
    out.push_back({fmt::format("{}{}{}", plus, place, key.substr(dot)), setting.value});
  }
  return out;
}

// Megatron Bridge puts adapters in, in place of mbridge, which verl uses otherwise. The file for fine-tuning leaves out
// the key that its class has.
void add_adapters(const Tuning& tuning, const CoreAdapters& adapters, std::string_view model,
                  std::string_view engine, std::vector<Setting>& settings) {
  if (tuning.whole()) return;
  const auto add = [&](std::string_view place, std::string_view key, std::string value) {
    settings.push_back({fmt::format("{}.{}", place, key), std::move(value)});
  };
  add(engine, "vanilla_mbridge", "false");
  add(model, "lora.type", adapters.canonical ? "canonical_lora" : "lora");
  add(model, "lora.rank", std::to_string(tuning.rank));
  add(model, "lora.target_modules", fmt::format("[{}]", fmt::join(adapters.modules, ",")));
}

std::string ppo_text(const CoreExport& out, const CoreAdapters& adapters) {
  const Training& t = out.facts.plan().training;
  constexpr std::string_view kActor = "actor_rollout_ref.actor";
  std::vector<Setting> settings =
      moved(out.settings, fmt::format("{}.megatron", kActor), fmt::format("{}.optim", kActor));
  const auto add = [&](std::string_view key, const auto& value) {
    settings.push_back({fmt::format("{}.{}", kActor, key), fmt::format("{}", value)});
  };
  add("ppo_mini_batch_size", t.global_batch);
  add("ppo_micro_batch_size_per_gpu", t.micro_batch);
  add("use_dynamic_bsz", false);
  add_adapters(t.tuning, adapters, "actor_rollout_ref.model", fmt::format("{}.megatron", kActor), settings);
  settings.push_back({"trainer.nnodes", std::to_string(out.map.hosts.size())});
  settings.push_back({"trainer.n_gpus_per_node", std::to_string(out.map.host_devices)});
  return core_header(out, "Overrides for main_ppo") + hydra_text(settings);
}

std::string sft_text(const CoreExport& out, const CoreAdapters& adapters) {
  const Training& t = out.facts.plan().training;
  std::vector<Setting> settings = moved(out.settings, "engine", "optim");
  settings.push_back({"data.train_batch_size", std::to_string(t.global_batch)});
  settings.push_back({"data.micro_batch_size_per_gpu", std::to_string(t.micro_batch)});
  settings.push_back({"data.max_length", std::to_string(t.sequence)});
  settings.push_back({"data.use_dynamic_bsz", "false"});
  add_adapters(t.tuning, adapters, "+model", "engine", settings);
  return core_header(out, "Overrides for sft_trainer") + hydra_text(settings);
}

std::string model_line(const ExportFacts& f) {
  const BridgeRecipe* known = find_bridge_recipe(f.spec);
  if (known != nullptr) return fmt::format("model=${{MODEL_PATH:-{}}}\n", known->hub);
  return "model=${MODEL_PATH:?set it to the model on Hugging Face, or to its folder}\n";
}

std::string sft_script(const ExportFacts& f) {
  return fmt::format(
      R"sh(#!/bin/bash
# verl.sh LAUNCHER..: verl's fine-tuning with the overrides of sft_overrides.txt.
set -euo pipefail
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
{}{}data=${{DATA_ARGS:?set it to the data, such as data.train_files=FILE.parquet}}
train=${{TRAIN_ARGS:-trainer.total_training_steps=20 trainer.logger=[console]}}
{}read -ra own <<< "$data $train"
exec "$@" -m verl.trainer.sft_trainer engine=megatron optim=megatron "model.path=$model" "${{overrides[@]}}" "${{own[@]}}"
)sh",
      connections_line(f.parallelism()), model_line(f), hydra_reader("sft_overrides.txt", "overrides"));
}

std::string ppo_script(const ExportFacts& f) {
  return fmt::format(
      R"sh(#!/bin/bash
# ppo.sh: verl's reinforcement learning with the overrides of ppo_overrides.txt, once on a Ray cluster of the plan's hosts.
set -euo pipefail
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
{}{}data=${{DATA_ARGS:?set it to data, lengths and rollouts, such as data.train_files=FILE.parquet}}
train=${{TRAIN_ARGS:-trainer.total_training_steps=20 trainer.logger=[console]}}
{}read -ra own <<< "$data $train"
exec python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer "actor_rollout_ref.model.path=$model" "${{overrides[@]}}" "${{own[@]}}"
)sh",
      connections_line(f.parallelism()), model_line(f), hydra_reader("ppo_overrides.txt", "overrides"));
}

std::string adapter_problem(const CoreAdapters& adapters) {
  if (!adapters.problem.empty()) return adapters.problem;
  if (!adapters.experts) return "";
  return "verl has no key for an adapter beside each expert, and without it Megatron Bridge has one for all "
         "of a "
         "rank";
}

}  // namespace

ExportResult export_verl(const ExportQuestion& question, const ExportSink& sink) {
  CoreExport out = begin_core_export(question, kTarget);
  if (!out.result.rule.empty()) return out.result;
  const Tuning& tuning = question.plan.training.tuning;
  const CoreAdapters adapters = tuning.whole() ? CoreAdapters{} : core_adapters(tuning, out.facts.spec);
  if (std::string problem = adapter_problem(adapters); !problem.empty()) {
    ExportResult refused;
    refused.rule = kTrainedPart;
    refused.sentence = std::move(problem);
    return refused;
  }
  out.result.lost.emplace_back(
      "in reinforcement learning, Ray chooses the devices of ranks: placement/ holds for fine-tuning only");
  if (const BridgeRecipe* known = find_bridge_recipe(out.facts.spec); known == nullptr) {
    out.result.lost.emplace_back("the model: MODEL_PATH names it");
  } else {
    for (std::string& sentence : recipe_losses(*out.facts.spec, *known))
      out.result.lost.push_back(std::move(sentence));
  }
  out.result.next = {
      "DATA_ARGS='data.train_files=..' ./run_host.sh on each host of placement/hosts.txt, for "
      "fine-tuning",
      "or DATA_ARGS='data.train_files=..' sbatch run_slurm.sh",
      "or DATA_ARGS='data.train_files=.. ..' ./ppo.sh on a Ray cluster, for reinforcement learning"};
  sink({"ppo_overrides.txt", ppo_text(out, adapters)});
  sink({"sft_overrides.txt", sft_text(out, adapters)});
  sink({"ppo.sh", ppo_script(out.facts), true});
  std::vector<std::string> remarks{
      "data: DATA_ARGS; verl packs sequences of different lengths, the plan has full ones",
      "the model: MODEL_PATH; steps, learning rate, checkpoints: TRAIN_ARGS",
      "rollouts, the reference and the critic: the plan is of the actor's training alone. Their memory "
      "comes on top of the plan's, or is shared by offloading",
      "ppo_mini_batch_size counts prompts: divide it by rollout.n for more answers to each"};
  if (!tuning.whole())
    remarks.emplace_back(
        "the adapters are Megatron Bridge's, which must be installed, newer than 0.2.0; alpha is 32 and "
        "dropout 0 "
        "without lora.alpha and lora.dropout");
  end_core_export(question, out, "verl", {"verl.sh", sft_script(out.facts), "nest-verl"}, remarks, sink);
  return out.result;
}

}  // namespace nest::frameworks
