#include "nest/frameworks/maxtext/maxtext.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "nest/base/document/yaml_text.hpp"
#include "nest/frameworks/common/model_details.hpp"
#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/common/tuning_words.hpp"
#include "nest/frameworks/maxtext/maxtext_adapters.hpp"
#include "nest/frameworks/maxtext/maxtext_details.hpp"
#include "nest/frameworks/maxtext/maxtext_models.hpp"
#include "nest/frameworks/maxtext/maxtext_settings.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {
namespace {

using Problem = std::optional<std::string>;

Problem key_heads_do_not_split(const ExportFacts& f) {
  const AttentionSpec* a = f.attention();
  if (a == nullptr || a->kv_heads % f.strategy().tensor == 0) return std::nullopt;
  return fmt::format("{} heads of keys, tensor {}", a->kv_heads, f.strategy().tensor);
}

Problem fewer_layers_than_stages(const ExportFacts& f) {
  if (f.parallelism().pipeline == 1 || maxtext_stages(f).layers > 0) return std::nullopt;
  return fmt::format("pipeline {}", f.parallelism().pipeline);
}

Problem modules_beside_experts(const ExportFacts& f) {
  const Recompute& recompute = f.plan().stages.front().recompute;
  if (recompute.policy != RecomputePolicy::modules || f.experts() == nullptr) return std::nullopt;
  return spell(recompute);
}

constexpr std::array kRules{
    ExportRule{"world", "MaxText's devices are data x pipeline x fsdp x context x tensor x expert",
               world_does_not_split},
    ExportRule{"batch", "MaxText's batch is micro-batch x data x accumulation steps", batch_does_not_split},
    ExportRule{"heads", "MaxText splits attention heads evenly over tensor ranks", heads_do_not_split},
    ExportRule{"query-groups", "MaxText splits heads of keys evenly over tensor ranks",
               key_heads_do_not_split},
    ExportRule{"ffn", "MaxText splits the ffn evenly over tensor ranks", ffn_does_not_split},
    ExportRule{"experts", "MaxText splits experts evenly over expert ranks", experts_do_not_split},
    ExportRule{"sequence", "MaxText splits the sequence evenly over context and tensor ranks",
               sequence_does_not_split},
    ExportRule{"one-decoder", "MaxText's pipeline has an embedding, blocks and a head in a chain",
               not_a_decoder},
    ExportRule{"modules", "MaxText's policies that leave out the MLP are of models without experts",
               modules_beside_experts},
    ExportRule{"stages", "MaxText's stages have a layer each at least", fewer_layers_than_stages},
};

std::string train_script(bool tuned) {
  return fmt::format(R"sh(#!/bin/bash
# maxtext.sh [KEY=VALUE ..]: one process of MaxText with maxtext.yml; words after it go before the file's settings.
set -euo pipefail
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
exec python3 -m maxtext.trainers.{} "$here/maxtext.yml" "$@"
)sh",
                     tuned ? "post_train.sft.train_sft" : "pre_train.train");
}

constexpr std::string_view kHost = R"sh(#!/bin/bash
# run_host.sh [KEY=VALUE ..]: the process of this host; HOST names it if the host's own name is not in the list.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mapfile -t hosts < "$here/placement/hosts.txt"
host=${HOST:-$(hostname -s)}
for i in "${!hosts[@]}"; do
  if [[ ${hosts[i]} == "$host" ]]; then export NODE_RANK=$i; fi
done
: "${NODE_RANK:?$host is not in placement/hosts.txt}"
export NNODES=${#hosts[@]} JAX_COORDINATOR_IP=${JAX_COORDINATOR_IP:-${hosts[0]}}
export JAX_COORDINATOR_PORT=${JAX_COORDINATOR_PORT:-12345}
exec "$here/maxtext.sh" "$@"
)sh";

std::string compile_script(const std::string& topology, std::int64_t slices) {
  return fmt::format(R"sh(#!/bin/bash
# compile.sh [KEY=VALUE ..]: compiles the step of the plan for its TPUs on a machine that has none, which shows
# whether it fits in their memory.
set -euo pipefail
here=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
exec python3 -m maxtext.trainers.pre_train.train_compile "$here/maxtext.yml" compile_topology={} \
  compile_topology_num_slices={} "$@"
)sh",
                     topology, slices);
}

std::vector<std::string> detail_losses(const ModelSpec& spec) {
  const std::string_view name = find_maxtext_model(spec);
  if (!name.empty())
    return differing_details(spec, maxtext_own_model(name), fmt::format("MaxText's {}", name));
  std::vector<std::string> lost;
  static_cast<void>(maxtext_model_keys(spec, lost));
  return lost;
}

std::vector<std::string> losses(const ExportFacts& f, const MaxTextMesh& mesh) {
  const Parallelism& p = f.parallelism();
  const Recompute& recompute = f.plan().stages.front().recompute;
  std::vector<std::string> lost;
  lost.emplace_back(
      on_tpus(f) ? "the places of ranks: JAX lays the axes on the torus itself; rank_map.csv has the plan's"
                 : "the places of ranks: JAX numbers devices host by host, the data axis first and the "
                   "experts last");
  if (!mesh.whole)
    lost.push_back(fmt::format(
        "the plan leaves devices of its slices idle, and JAX uses all: ask for {} of {}",
        mesh.slices == 1 ? "a slice" : fmt::format("{} slices", mesh.slices), mesh.slice_devices));
  if (!mesh.as_planned)
    lost.emplace_back("which axes cross slices: data goes first, then stages, then shards");
  if (p.pipeline > 1) {
    lost.emplace_back("the ends: MaxText runs the embedding and the head on all ranks, outside the pipeline");
    if (maxtext_stages(f).left_over > 0) {
      lost.push_back(fmt::format("{} layers that the stages cannot share evenly run outside the pipeline",
                                 maxtext_stages(f).left_over));
    } else if (!f.even()) {
      lost.emplace_back("the stages: MaxText gives each the same number of layers");
    }
  }
  if (recompute.policy == RecomputePolicy::none || recompute.policy == RecomputePolicy::modules)
    lost.emplace_back("MaxText keeps all products and attention's output, and computes the rest again");
  if (p.strategy.context > 1 && on_tpus(f))
    lost.emplace_back("keys and values are gathered, not sent around a ring");
  if (!f.plan().training.tuning.whole()) {
    lost.emplace_back(
        "adapters and their optimizer states are whole on every device, the plan cuts them as it does "
        "products");
    const std::vector<std::string>& targets = f.plan().training.tuning.targets;
    if (f.spec->family != "gpt2" && std::ranges::find(targets, "linear_qkv") != targets.end())
      lost.emplace_back("queries, keys and values have an adapter each, the plan one for all of them");
  }
  for (std::string& sentence : detail_losses(*f.spec)) lost.push_back(std::move(sentence));
  if (f.recipe().master_weights)
    lost.emplace_back("MaxText holds 32-bit weights and no 16-bit copy: the recipe 'maxtext' has its memory");
  return lost;
}

std::vector<std::string> remarks(const ExportFacts& f) {
  std::vector<std::string> out{
      "data, tokenizer, steps, learning rate: KEY=VALUE after the command, or in maxtext.yml"};
  if (!f.plan().training.tuning.whole())
    out = {
        "data, tokenizer, steps, learning rate: KEY=VALUE after the command, or MaxText's "
        "post_train/sft.yml; "
        "documents are filled up to the plan's sequences, not packed",
        "the weights: load_parameters_path. The trainer needs Tunix and Qwix; alpha is twice the rank"};
  if (f.plan().training.precision == Precision::fp8)
    out.emplace_back(on_tpus(f) ? "fp8 is Qwix's" : "fp8 is Transformer Engine's, which must be installed");
  return out;
}

}  // namespace

std::span<const ExportRule> maxtext_rules() {
  return kRules;
}

ExportResult export_maxtext(const ExportQuestion& question, const ExportSink& sink) {
  ExportResult result;
  const ExportFacts facts = export_facts(question, "maxtext");
  result.releases = {facts.release};
  if (auto broken = first_broken(facts, "maxtext", kRules)) {
    result.rule = broken->name;
    result.sentence = broken->sentence;
    return result;
  }
  const bool tuned = !question.plan.training.tuning.whole();
  if (std::string problem = tuned ? maxtext_adapters(facts).problem : ""; !problem.empty()) {
    result.rule = kTrainedPart;
    result.sentence = std::move(problem);
    return result;
  }
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  const MaxTextMesh mesh = maxtext_mesh(facts, map);
  // The command that compiles ahead knows no adapters.
  const std::string topology = tuned ? "" : maxtext_topology(facts, mesh);
  result.lost = losses(facts, mesh);
  result.next = {on_tpus(facts)
                     ? "./maxtext.sh on every host of the slices, with MaxText installed"
                     : "./run_host.sh on each host of placement/hosts.txt, with MaxText installed"};
  if (!topology.empty())
    result.next.emplace_back("./compile.sh first, on a machine without TPUs: whether it fits");
  sink({"maxtext.yml", (tuned ? "# MaxText reads its own post_train/sft.yml first.\n"
                              : "# MaxText reads its own base.yml first.\n") +
                           to_yaml(maxtext_settings(facts, mesh))});
  sink({"maxtext.sh", train_script(tuned), true});
  if (!on_tpus(facts)) sink({"run_host.sh", std::string(kHost), true});
  if (!topology.empty()) sink({"compile.sh", compile_script(topology, mesh.slices), true});
  // JAX starts one process for a host and numbers devices itself, so that no launcher's files are of use.
  write_placement(map, "placement/", [&](const ExportFile& file) {
    if (file.name == "placement/rank_map.csv" || file.name == "placement/hosts.txt") sink(file);
  });
  sink({"NOTES.md", export_notes(question, map, "MaxText", result, remarks(facts))});
  return result;
}

}  // namespace nest::frameworks
