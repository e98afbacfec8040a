#include "nest/frameworks/accelerate/accelerate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "nest/frameworks/accelerate/accelerate_settings.hpp"
#include "nest/frameworks/common/hub_model.hpp"
#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/deepspeed/deepspeed.hpp"

namespace nest::frameworks {
namespace {

using Problem = std::optional<std::string>;

Problem heads_over_sequence(const ExportFacts& f) {
  const AttentionSpec* a = f.attention();
  const std::int64_t ranks = mesh_of(f).sequence;
  if (a == nullptr || a->heads % ranks == 0) return std::nullopt;
  return fmt::format("{} heads, {} ranks", a->heads, ranks);
}

constexpr std::array kRules{
    ExportRule{"world", "Accelerate's ranks are replicate x shard x context x sequence x tensor",
               world_does_not_split},
    ExportRule{"batch", "Accelerate's batch is micro-batch x accumulation steps x data ranks",
               batch_does_not_split},
    ExportRule{"heads", "Transformers splits attention heads evenly over tensor ranks", heads_do_not_split},
    ExportRule{"query-groups", "Transformers' query groups divide the tensor degree or are divided by it",
               query_groups_do_not_split},
    ExportRule{"ffn", "Transformers splits the ffn evenly over tensor ranks", ffn_does_not_split},
    ExportRule{"sequence", "Accelerate splits the sequence evenly over context ranks",
               sequence_does_not_split},
    ExportRule{"context-heads", "Ulysses splits heads evenly over its ranks", heads_over_sequence},
};

constexpr std::string_view kCommand = R"sh(#!/bin/bash
# accelerate.sh LAUNCHER..: a script that takes its plan from nest_plan.py; without TRAIN_SCRIPT, the check of the plan.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
read -ra own <<< "${TRAIN_ARGS:-}"
exec "$@" "${TRAIN_SCRIPT:-$here/train_smoke.py}" "${own[@]}"
)sh";

// Types whose models AutoModelForCausalLM builds.
bool is_language_model(const ExportFacts& f) {
  constexpr std::array<std::string_view, 6> kOthers{"bert", "clip", "t5", "vit", "whisper", ""};
  const std::string_view family = f.spec == nullptr ? "" : std::string_view(f.spec->family);
  return std::find(kOthers.begin(), kOthers.end(), family) == kOthers.end();
}

// Accelerate takes the optimizer from the script, and refuses a second one in the file.
Value without_optimizer(Value config) {
  std::erase_if(*config.as_object(), [](const Value::Member& member) { return member.first == "optimizer"; });
  return config;
}

std::vector<std::string> losses(const ExportFacts& f, const RankMap& map) {
  const Recipe& r = f.recipe();
  const AccelerateMesh mesh = mesh_of(f);
  std::vector<std::string> lost;
  if (!is_language_model(f))
    lost.emplace_back(
        "the model: train_smoke.py builds language models only; nest_plan.py serves a script of your own");
  if (mesh.way != AccelerateWay::deepspeed && held_weights(f) != r.parameter_dtype)
    lost.emplace_back(
        "Accelerate holds 32-bit weights and no 16-bit copy of them: the recipe 'accelerate' has its memory");
  if (mesh.way == AccelerateWay::fsdp && r.reduce_dtype != StateDType::bf16 && mixed_precision(f) == "bf16")
    lost.emplace_back("FSDP reduces gradients in 16 bits where Accelerate's mixed precision is bf16");
  if (mesh.way != AccelerateWay::deepspeed && mixed_precision(f) == "no" &&
      r.gradient_dtype != r.parameter_dtype)
    lost.emplace_back("gradients have the dtype of the weights");
  if (mesh.way != AccelerateWay::deepspeed && mesh.way != AccelerateWay::fsdp && mixed_precision(f) == "bf16")
    lost.emplace_back(
        "without FSDP, mixed precision is torch.autocast, which keeps the residual stream in 32 bits: steps "
        "and "
        "memory are larger than predicted (docs/accelerate-runs.md)");
  if (!launchable(map))
    lost.emplace_back(
        "accelerate launch numbers devices host by host, equally many on each: run_host.sh puts ranks where "
        "the "
        "plan does");
  return lost;
}

std::vector<std::string> remarks(const ExportFacts& f) {
  std::vector<std::string> out{
      "the training script: TRAIN_SCRIPT, which takes its plan from nest_plan.py; without it, train_smoke.py "
      "runs"};
  if (mesh_of(f).tensor > 1)
    out.emplace_back(
        "tensor parallelism: from_pretrained(.., tp_plan=\"auto\", "
        "device_mesh=accelerator.torch_device_mesh[\"tp\"])");
  return out;
}

}  // namespace

std::span<const ExportRule> accelerate_rules() {
  return kRules;
}

ExportResult export_accelerate(const ExportQuestion& question, const ExportSink& sink) {
  ExportResult result;
  const ExportFacts facts = export_facts(question, "accelerate");
  result.releases = {facts.release};
  if (auto broken = first_broken(facts, "accelerate", kRules)) {
    result.rule = broken->name;
    result.sentence = broken->sentence;
    return result;
  }
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  const bool one = map.ranks.size() == 1;
  result.lost = losses(facts, map);
  for (std::string& sentence : placement_losses(map)) result.lost.push_back(std::move(sentence));
  if (one) {
    result.next = {
        "python3 train_smoke.py, which trains the model for a few steps and shows what was predicted"};
  } else {
    result.next = {"./run_host.sh on each host of placement/hosts.txt: a few steps beside what was predicted",
                   "or sbatch run_slurm.sh"};
    if (launchable(map))
      result.next.emplace_back(
          "or accelerate launch --config_file accelerate.yaml --machine_rank N train_smoke.py");
  }
  sink({"accelerate.yaml", accelerate_yaml(facts, map)});
  sink({"nest_plan.json", to_json(accelerate_plan(facts)) + "\n"});
  for (const EmbeddedFile& file : accelerate_files())
    sink({std::string(file.name), std::string(file.text), file.text.starts_with("#!")});
  if (const auto config = hub_config(question.inputs, question.plan.training.sequence))
    sink({"model_config.json", to_json(*config) + "\n"});
  if (mesh_of(facts).way == AccelerateWay::deepspeed)
    sink({"ds_config.json", to_json(without_optimizer(deepspeed_config(facts))) + "\n"});
  sink({"accelerate.sh", std::string(kCommand), true});
  sink({"run_host.sh", host_script(map, "accelerate.sh"), true});
  sink({"run_slurm.sh", slurm_script(map, "nest-accelerate", "accelerate.sh"), true});
  write_placement(map, "placement/", sink);
  const Tuning& tuning = question.plan.training.tuning;
  std::vector<std::string> left = remarks(facts);
  for (std::string& sentence : peft_remarks(tuning)) left.push_back(std::move(sentence));
  if (!tuning.whole()) sink({"adapter_config.json", to_json(peft_config(tuning)) + "\n"});
  sink({"NOTES.md", export_notes(question, map, "Accelerate", result, left)});
  return result;
}

}  // namespace nest::frameworks
