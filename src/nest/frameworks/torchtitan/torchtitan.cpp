#include "nest/frameworks/torchtitan/torchtitan.hpp"

#include <fmt/format.h>

#include <array>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/common/tuning_words.hpp"
#include "nest/frameworks/torchtitan/schedule_csv.hpp"
#include "nest/frameworks/torchtitan/titan_adapters.hpp"
#include "nest/frameworks/torchtitan/titan_flavors.hpp"
#include "nest/frameworks/torchtitan/titan_settings.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {
namespace {

using Problem = std::optional<std::string>;

Problem mesh_does_not_fit(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  const std::int64_t shards = p.zero.shards_anything() ? p.zero_shards : p.strategy.context;
  if (p.data * p.strategy.context % shards == 0) return std::nullopt;
  return fmt::format("{} shards of {} ranks", shards, p.data * p.strategy.context);
}

Problem tied_over_stages(const ExportFacts& f) {
  if (f.parallelism().pipeline == 1 || f.spec == nullptr || !f.spec->head.tied) return std::nullopt;
  return fmt::format("pipeline {}", f.parallelism().pipeline);
}

constexpr std::array kRules{
    ExportRule{"world", "torchtitan's ranks are replicate x shard x context x tensor x pipeline",
               world_does_not_split},
    ExportRule{"mesh", "torchtitan's shards divide the data and context ranks", mesh_does_not_fit},
    ExportRule{"batch", "torchtitan's global batch is micro-batch x data x a number of micro-batches",
               batch_does_not_split},
    ExportRule{"heads", "torchtitan splits attention heads evenly over tensor ranks", heads_do_not_split},
    ExportRule{"query-groups", "torchtitan's query groups divide the tensor degree or are divided by it",
               query_groups_do_not_split},
    ExportRule{"ffn", "torchtitan splits the ffn evenly over tensor ranks", ffn_does_not_split},
    ExportRule{"experts", "torchtitan splits experts evenly over expert ranks", experts_do_not_split},
    ExportRule{"sequence", "torchtitan splits the sequence evenly over context and tensor ranks",
               sequence_does_not_split},
    ExportRule{"one-decoder", "torchtitan's pipeline has an embedding, blocks and a head in a chain",
               not_a_decoder},
    ExportRule{"tied-weights", "torchtitan has no pipeline for a head with the embedding's weights",
               tied_over_stages},
};

std::string command_script(bool release) {
  return fmt::format(
      R"sh(#!/bin/bash
# torchtitan.sh LAUNCHER..: torchtitan {0}; TITAN_ARGS adds to it.
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")"
read -ra own <<< "${{TITAN_ARGS:-}}"
{1}exec "$@" -m torchtitan.train {2} "${{own[@]}}"
)sh",
      release ? "0.2.2 with train.toml" : "of its main branch with nest_plan.py",
      release ? "" : "export PYTHONPATH=\"$PWD${PYTHONPATH:+:$PYTHONPATH}\"\n",
      release ? "--job.config_file train.toml" : "--module nest_plan --config plan");
}

std::vector<std::string> losses(const ExportFacts& f, bool release, bool main) {
  const Parallelism& p = f.parallelism();
  const Recipe& r = f.recipe();
  std::vector<std::string> lost;
  if (release && find_flavor(f.spec, "v0.2.2") == nullptr)
    lost.emplace_back(
        "the model: the registry of torchtitan 0.2.2 does not hold it; put its names for your_model and "
        "your_flavor");
  const bool known = find_flavor(f.spec, "main") != nullptr;
  if (main && !known)
    lost.emplace_back(
        "the model: the registry of torchtitan's main branch does not hold it; put its names for your_model "
        "and your_config");
  if (const TitanFlavor* flavor = find_flavor(f.spec, main ? "main" : "v0.2.2"); flavor != nullptr) {
    for (std::string& sentence : differing_details(*f.spec, titan_model(*flavor), "torchtitan's model"))
      lost.push_back(std::move(sentence));
  }
  if (r.reduce_dtype != StateDType::fp32) lost.emplace_back("gradients are reduced in 32 bits");
  if (release && r.compiled && refuses_compiled(f))
    lost.push_back(
        fmt::format("compilation: torch's schedule {} refuses blocks as torchtitan 0.2.2 compiles them",
                    word_of(p.schedule, "torchtitan")));
  if (p.zero.shards_gradients() && !p.zero.shards_parameters())
    lost.emplace_back(
        "ZeRO 2: FSDP shards parameters too, and keeps what it gathers in 16 bits (--zero 3 --reshard "
        "never)");
  if (p.pipeline > 1 && p.zero.shards_parameters() && !p.zero.resharding().keeps())
    lost.emplace_back(
        "under a pipeline torch keeps gathered parameters after a backward pass: they take as much memory as "
        "with --reshard never");
  if (p.pipeline > 1 && p.zero.shards_gradients() && !r.late_reduces)
    lost.emplace_back(
        "under a pipeline torchtitan reduces gradients after the last micro-batch and holds them whole until "
        "then");
  const Recompute& recompute = f.plan().stages.front().recompute;
  if (recompute.policy == RecomputePolicy::selective &&
      r.selective_recompute != SelectiveRecompute::operators)
    lost.emplace_back("selective recomputation is of single operators, the recipe means the attention core");
  if (r.parameter_dtype != StateDType::fp32)
    lost.emplace_back("torchtitan holds 32-bit weights: the recipe 'torchtitan' has its memory");
  if (f.plan().training.precision == Precision::fp8 && main && !known)
    lost.emplace_back("fp8 products are a converter of the model's configuration");
  return lost;
}

TitanAdapters adapters_of(const ExportFacts& f, bool main) {
  TitanAdapters out;
  if (!main) {
    out.problem = "torchtitan 0.2.2 has no adapters; its main branch has";
  } else if (find_flavor(f.spec, "main") == nullptr) {
    out.problem =
        "torchtitan's adapters are a converter of a model of its registry, which does not hold this one";
  } else {
    out = titan_adapters(f.plan().training.tuning, *f.spec);
  }
  return out;
}

}  // namespace

std::span<const ExportRule> torchtitan_rules() {
  return kRules;
}

ExportResult export_torchtitan(const ExportQuestion& question, const ExportSink& sink) {
  ExportResult result;
  const ExportFacts facts = export_facts(question, "torchtitan");
  if (auto broken = first_broken(facts, "torchtitan", kRules)) {
    result.rule = broken->name;
    result.sentence = broken->sentence;
    return result;
  }
  const Parallelism& p = question.plan.parallelism;
  const ReleaseTable& table = *find_releases("torchtitan");
  const auto asked = [&](std::string_view name) {
    return question.release == nullptr || question.release->name == name;
  };
  const Tuning& tuning = question.plan.training.tuning;
  const bool tuned = !tuning.whole();
  const bool release = asked("v0.2.2") && runs_in_titan_022(p) && !tuned;
  const bool main = asked("main") && runs_in_titan_main(p);
  const TitanAdapters adapters = tuned ? adapters_of(facts, asked("main")) : TitanAdapters{};
  if (!adapters.problem.empty()) {
    result.rule = kTrainedPart;
    result.sentence = adapters.problem;
    return result;
  }
  if (!release && !main) {
    result.rule = "experts-in-shards";
    result.sentence = fmt::format("torchtitan {} cannot run this plan's tensor or expert degrees",
                                  question.release == nullptr ? "main" : question.release->name);
    return result;
  }
  if (release) result.releases.push_back(table.find("v0.2.2"));
  if (main) result.releases.push_back(table.find("main"));
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  if (!release && asked("v0.2.2"))
    result.lost.emplace_back(tuned ? "no train.toml: release 0.2.2 has no adapters"
                                   : "no train.toml: release 0.2.2 cannot run this plan's tensor or expert "
                                     "degrees");
  if (!main && asked("main"))
    result.lost.emplace_back(
        p.strategy.overlaps_experts()
            ? "no nest_plan.py: the main branch hides no exchange with experts in a pair of passes"
            : "no nest_plan.py: the main branch has no expert tensor degree");
  result.lost.insert(result.lost.end(), adapters.lost.begin(), adapters.lost.end());
  for (std::string& sentence : losses(facts, release, main)) result.lost.push_back(std::move(sentence));
  for (std::string& sentence : placement_losses(map)) result.lost.push_back(std::move(sentence));
  result.next = {"./run_host.sh on each host of placement/hosts.txt, with torchtitan installed",
                 "or sbatch run_slurm.sh"};
  if (release) sink({"train.toml", titan_toml(facts)});
  if (main) sink({"nest_plan.py", titan_python(facts)});
  if (p.pipeline > 1 && word_of(p.schedule, "torchtitan").empty())
    sink({"schedule.csv",
          schedule_csv(p.schedule, p.pipeline, p.interleave, question.plan.training.micro_batches)});
  sink({"torchtitan.sh", command_script(release), true});
  sink({"run_host.sh", host_script(map, "torchtitan.sh"), true});
  sink({"run_slurm.sh", slurm_script(map, "nest-torchtitan", "torchtitan.sh"), true});
  write_placement(map, "placement/", sink);
  std::vector<std::string> remarks{
      "data, tokenizer, steps, learning rate: TITAN_ARGS, or more lines in the file"};
  if (tuned)
    remarks.emplace_back(
        "the weights that the adapters stand beside: checkpoint.initial_load_path; alpha is twice the rank");
  sink({"NOTES.md", export_notes(question, map, "torchtitan", result, remarks)});
  return result;
}

}  // namespace nest::frameworks
