#include "nest/frameworks/megatron_core/bridge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/frameworks/common/tuning_words.hpp"
#include "nest/frameworks/megatron/megatron.hpp"
#include "nest/frameworks/megatron/megatron_model.hpp"
#include "nest/frameworks/megatron_core/bridge_recipes.hpp"
#include "nest/frameworks/megatron_core/core_adapters.hpp"
#include "nest/frameworks/megatron_core/core_export.hpp"
#include "nest/frameworks/megatron_core/core_knobs.hpp"
#include "nest/frameworks/megatron_core/hydra_file.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::frameworks {
namespace {

bool has_adapters(const ExportFacts& f) {
  return !f.plan().training.tuning.whole();
}

// Where the model comes from.
struct Base {
  const BridgeRecipe* recipe = nullptr;  // one of its own
  bool plain = false;                    // or a plain GPT, which the overrides describe

  // "" where there is none.
  [[nodiscard]] std::string name(bool adapters) const {
    if (recipe == nullptr) return plain ? std::string(kPlainRecipe) : "";
    return adapters ? recipe->adapter_recipe() : std::string(recipe->name);
  }
};

Base base_of(const ExportFacts& f) {
  const BridgeRecipe* recipe = find_bridge_recipe(f.spec);
  if (has_adapters(f)) return {recipe != nullptr && recipe->adapters ? recipe : nullptr, false};
  if (recipe != nullptr) return {recipe, false};
  const AttentionSpec* attention = f.attention();
  return {nullptr, f.decoder && f.spec != nullptr && megatron_describes(*f.spec) && attention != nullptr &&
                       !attention->latent};
}

// What runs a recipe: its script, the data that it has where nobody names others, and options before the overrides.
struct Runner {
  std::string script;
  std::string data;
  std::string options;
};

Runner runner_of(const ExportFacts& f) {
  if (has_adapters(f))
    return {
        "$here/bridge_adapters.py", "",
        "--mode lora \"checkpoint.pretrained_checkpoint=${PRETRAINED_CHECKPOINT:?set it to the folder of the "
        "model's weights}\""};
  const std::int64_t vocab = f.spec != nullptr ? f.spec->stacks.front().stem.vocab : 0;
  return {"$BRIDGE_PATH/scripts/training/run_recipe.py",
          fmt::format("tokenizer.tokenizer_type=NullTokenizer tokenizer.tokenizer_model=null "
                      "tokenizer.vocab_size={}",
                      vocab),
          "--mode pretrain"};
}

std::string command_script(const ExportFacts& f, const Base& base) {
  const std::string recipe = base.name(has_adapters(f));
  const Runner runner = runner_of(f);
  return fmt::format(
      R"sh(#!/bin/bash
# bridge.sh LAUNCHER..: {0} of Megatron Bridge with the overrides of overrides.txt.
set -euo pipefail
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
: "${{BRIDGE_PATH:?set it to the folder of Megatron Bridge}}"
{1}{2}{3}data=${{DATA_ARGS:-{4}}}
train=${{TRAIN_ARGS:-train.train_iters=20 scheduler.lr_warmup_iters=2 validation.eval_iters=0 logger.log_interval=1 checkpoint.save=null checkpoint.load=null}}
read -ra own <<< "${{MODEL_ARGS:-}} $data $train"
exec "$@" "{5}" --recipe "$recipe" {6} "${{overrides[@]}}" "${{own[@]}}"
)sh",
      recipe.empty() ? "a recipe" : "the recipe " + recipe, connections_line(f.parallelism()),
      recipe.empty() ? "recipe=${BRIDGE_RECIPE:?set it to the name of the model's recipe}\n"
                     : fmt::format("recipe=${{BRIDGE_RECIPE:-{}}}\n", recipe),
      hydra_reader("overrides.txt", "overrides"), runner.data, runner.script, runner.options);
}

// No override reaches them: Bridge leaves objects that can be called out of what overrides change, and puts the
// recipe's own back afterwards.
std::string adapters_script(const Tuning& tuning, const CoreAdapters& adapters) {
  return fmt::format(
      R"py("""run_recipe.py of Megatron Bridge with the plan's adapters in place of the recipe's; alpha and dropout stay its own."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["BRIDGE_PATH"], "scripts", "training"))

import run_recipe
from megatron.bridge.peft.{0} import {1}

load_recipe = run_recipe.load_recipe


def with_adapters(*args, **kwargs):
    config = load_recipe(*args, **kwargs)
    config.peft = {1}(
        target_modules=["{2}"],
        dim={3},
        alpha=config.peft.alpha,
        dropout=config.peft.dropout,
        share_expert_adapters=False,
    )
    return config


run_recipe.load_recipe = with_adapters
run_recipe.main()
)py",
      adapters.canonical ? "canonical_lora" : "lora", adapters.canonical ? "CanonicalLoRA" : "LoRA",
      fmt::join(adapters.modules, "\", \""), tuning.rank);
}

// Recipes with adapters pack documents into sequences, which Bridge takes one at a time.
void add_data(const Training& t, std::vector<Setting>& settings) {
  if (t.micro_batch == 1) return;
  settings.push_back({"dataset.enable_offline_packing", "false"});
  settings.push_back({"dataset.offline_packing_specs", "null"});
}

// Bridge's kinds of mixed precision say in which bits gradients are reduced, and outrank what ddp says.
std::optional<std::string> reduce_loss(const ExportFacts& f) {
  const bool fp16 = f.plan().training.precision == Precision::fp16;
  const bool wide = f.recipe().reduce_dtype == StateDType::fp32;
  if (wide != fp16) return std::nullopt;
  return fmt::format("gradients are reduced in {} bits, as Bridge's {} has it", fp16 ? 16 : 32,
                     fp16 ? "fp16_mixed" : "bf16_mixed");
}

std::vector<std::string> losses(const ExportFacts& f, const Base& base) {
  std::vector<std::string> lost;
  if (base.plain) {
    lost.push_back(
        fmt::format("the recipe: Megatron Bridge has none for this model, so the overrides make "
                    "{} this model",
                    kPlainRecipe));
  } else if (base.recipe == nullptr && has_adapters(f)) {
    lost.emplace_back(
        "the model: Megatron Bridge has no recipe with adapters for it; BRIDGE_RECIPE names yours");
  } else if (base.recipe == nullptr) {
    lost.emplace_back(
        "the model: Megatron Bridge has no recipe for it, and a plain GPT cannot be it; BRIDGE_RECIPE names "
        "yours");
  }
  if (base.recipe != nullptr && f.spec->mtp_layers > 0 && !f.plan().training.mtp)
    lost.emplace_back("multi-token prediction modules are not part of the plan");
  if (base.recipe != nullptr) {
    for (std::string& sentence : recipe_losses(*f.spec, *base.recipe)) lost.push_back(std::move(sentence));
  }
  if (const auto loss = reduce_loss(f)) lost.push_back(*loss);
  if (!f.recipe().flash_attention)
    lost.emplace_back("attention runs in fused kernels, the recipe means others");
  return lost;
}

constexpr CoreTarget kTarget{
    "megatron-bridge",          kBridgeCore, CoreDialect::bridge,
    "field in Megatron Bridge", true,        [](const ExportFacts& f) { return base_of(f).plain; }};

}  // namespace

ExportResult export_bridge(const ExportQuestion& question, const ExportSink& sink) {
  CoreExport out = begin_core_export(question, kTarget);
  ExportResult& result = out.result;
  if (!result.rule.empty()) return result;
  const Tuning& tuning = question.plan.training.tuning;
  const bool tuned = !tuning.whole();
  const CoreAdapters adapters = tuned ? core_adapters(tuning, out.facts.spec) : CoreAdapters{};
  if (!adapters.problem.empty()) {
    ExportResult refused;
    refused.rule = kTrainedPart;
    refused.sentence = adapters.problem;
    return refused;
  }
  if (tuned) add_data(question.plan.training, out.settings);
  const Base base = base_of(out.facts);
  std::vector<std::string> own = losses(out.facts, base);
  result.lost.insert(result.lost.begin(), own.begin(), own.end());
  result.next = {
      "BRIDGE_PATH=.. ./run_host.sh on each host of placement/hosts.txt",
      "or BRIDGE_PATH=.. sbatch run_slurm.sh",
      "to look at the configuration first: BRIDGE_PATH=.. TRAIN_ARGS=--dry-run ./bridge.sh python3"};
  if (tuned) {
    for (std::string& command : result.next)
      command.insert(command.find("BRIDGE_PATH"), "PRETRAINED_CHECKPOINT=.. ");
  }
  std::vector<std::string> remarks{
      tuned ? "data: DATA_ARGS, which are the recipe's otherwise (SQuAD)"
            : "data and tokenizer: DATA_ARGS, which is mock data and no tokenizer otherwise",
      "iterations, learning rate and its schedule, evaluation, checkpoints: TRAIN_ARGS",
      "another recipe of the same model: BRIDGE_RECIPE; other fields, which come last and win: MODEL_ARGS"};
  if (tuned) {
    remarks.emplace_back(
        "the weights: PRETRAINED_CHECKPOINT, the whole path of a checkpoint of Megatron or of a model's "
        "folder "
        "from Hugging Face; alpha and dropout of the adapters are the recipe's");
    sink({"bridge_adapters.py", adapters_script(tuning, adapters)});
  }
  if (base.recipe != nullptr)
    remarks.push_back(
        fmt::format("access to {} on Hugging Face, whose configuration the recipe reads", base.recipe->hub));
  sink({"overrides.txt", core_header(out, "Overrides") + hydra_text(out.settings)});
  end_core_export(question, out, "Megatron Bridge",
                  {"bridge.sh", command_script(out.facts, base), "nest-bridge"}, remarks, sink);
  return result;
}

}  // namespace nest::frameworks
