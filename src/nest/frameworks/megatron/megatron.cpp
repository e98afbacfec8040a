#include "nest/frameworks/megatron/megatron.hpp"

#include <fmt/format.h>

#include "nest/frameworks/common/export_rule.hpp"
#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/megatron/megatron_args.hpp"

namespace nest::frameworks {
namespace {

std::string command_script(const Parallelism& p) {
  return fmt::format(
      R"sh(#!/bin/bash
# megatron.sh LAUNCHER..: Megatron-LM's pretraining with the arguments of megatron_args.txt.
set -euo pipefail
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
: "${{MEGATRON_PATH:?set it to the folder of Megatron-LM}}"
{}mapfile -t args < <(sed -e 's/#.*//' "$here/megatron_args.txt" | tr -s ' ' '\n' | sed -e '/^$/d')
data=${{DATA_ARGS:---mock-data --tokenizer-type NullTokenizer}}
train=${{TRAIN_ARGS:---train-iters 20 --lr 1e-4 --eval-iters 0 --log-interval 1 --log-throughput}}
read -ra own <<< "${{MODEL_ARGS:-}} $data $train"
exec "$@" "$MEGATRON_PATH/${{MEGATRON_SCRIPT:-pretrain_gpt.py}}" "${{args[@]}}" "${{own[@]}}"
)sh",
      connections_line(p));
}

// The releases that run the plan with the very same arguments.
std::vector<const Release*> releases_alike(ExportFacts facts, RankOrder order, const std::string& text) {
  std::vector<const Release*> alike;
  for (const Release& release : find_releases("megatron")->releases) {
    facts.release = &release;
    std::vector<std::string> lost;
    if (!first_broken(facts, "megatron", megatron_rules()) &&
        flag_text(megatron_arguments(facts, order, lost)) == text)
      alike.push_back(&release);
  }
  return alike;
}

}  // namespace

RankMap megatron_ranks(const ExportQuestion& question) {
  RankMap usual = make_rank_map(question, RankOrder::data_before_stage);
  const Parallelism& p = question.plan.parallelism;
  if (usual.consecutive || p.zero.shards_gradients() || p.pipeline == 1 || !allows_stage_before_data(p))
    return usual;
  RankMap other = make_rank_map(question, RankOrder::stage_before_data);
  return other.consecutive ? other : usual;
}

std::string connections_line(const Parallelism& p) {
  if (p.zero.shards_gradients()) return "export CUDA_DEVICE_MAX_CONNECTIONS=8  # Megatron-FSDP: any but 1\n";
  if (p.strategy.tensor > 1 || p.strategy.context > 1)
    return "export CUDA_DEVICE_MAX_CONNECTIONS=1  # tensor and context parallelism before Blackwell\n";
  return "";
}

ExportResult export_megatron(const ExportQuestion& question, const ExportSink& sink) {
  ExportResult result;
  const ExportFacts facts = export_facts(question, "megatron");
  if (auto broken = first_broken(facts, "megatron", megatron_rules())) {
    result.rule = broken->name;
    result.sentence = broken->sentence;
    return result;
  }
  const RankMap map = megatron_ranks(question);
  const std::string arguments = flag_text(megatron_arguments(facts, map.order, result.lost));
  result.releases = releases_alike(facts, map.order, arguments);
  const std::optional<FlagSection> language = megatron_language_arguments(facts, result.lost);
  for (std::string& sentence : placement_losses(map)) result.lost.push_back(std::move(sentence));
  result.next = {"MEGATRON_PATH=.. ./run_host.sh on each host of placement/hosts.txt",
                 "or MEGATRON_PATH=.. sbatch run_slurm.sh"};
  sink({"megatron_args.txt", fmt::format("# Arguments of a plan by nest for {}; world size: {}\n\n{}",
                                         spell_releases(result.releases), map.ranks.size(), arguments)});
  if (language)
    sink({"language_args.txt",
          fmt::format("# The language part of a model with towers, for {}: MODEL_ARGS\n\n{}",
                      facts.release->name, flag_text({*language}))});
  sink({"megatron.sh", command_script(question.plan.parallelism), true});
  sink({"run_host.sh", host_script(map, "megatron.sh"), true});
  sink({"run_slurm.sh", slurm_script(map, "nest-megatron", "megatron.sh"), true});
  write_placement(map, "placement/", sink);
  sink({"NOTES.md", export_notes(question, map, "Megatron-LM", result,
                                 {"data and tokenizer: DATA_ARGS, which is mock data otherwise",
                                  "iterations, learning rate and its schedule, evaluation: TRAIN_ARGS",
                                  "initialisation, and what was lost above: MODEL_ARGS"})});
  return result;
}

}  // namespace nest::frameworks
