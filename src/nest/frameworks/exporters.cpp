#include "nest/frameworks/exporters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/frameworks/accelerate/accelerate.hpp"
#include "nest/frameworks/chakra/chakra.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/deepspeed/deepspeed.hpp"
#include "nest/frameworks/kubernetes/kubernetes.hpp"
#include "nest/frameworks/maxtext/maxtext.hpp"
#include "nest/frameworks/megatron/megatron.hpp"
#include "nest/frameworks/megatron_core/bridge.hpp"
#include "nest/frameworks/megatron_core/ms_swift.hpp"
#include "nest/frameworks/megatron_core/verl.hpp"
#include "nest/frameworks/slurm/slurm.hpp"
#include "nest/frameworks/torchtitan/torchtitan.hpp"

namespace nest::frameworks {
namespace {

// "deepspeed, accelerate and ms-swift take it": those that have words for the plan's part, or else those that need none.
std::string takers(const ExportQuestion& question) {
  const Tuning& tuning = question.plan.training.tuning;
  ExportQuestion usual = question;
  usual.release = nullptr;
  std::vector<std::string_view> all;
  std::vector<std::string_view> wordless;
  for (const Exporter& e : exporters()) {
    if (e.tuning == TuningWords::any) {
      wordless.push_back(e.name);
    } else if (!tuning_refusal(tuning, e.tuning, e.title) &&
               e.run(usual, [](const ExportFile&) {}).rule.empty()) {
      all.push_back(e.name);
    }
  }
  if (all.empty()) all = std::move(wordless);
  const std::string_view last = all.back();
  all.pop_back();
  return all.empty() ? fmt::format("{} takes it", last)
                     : fmt::format("{} and {} take it", fmt::join(all, ", "), last);
}

}  // namespace

ExportResult Exporter::write(const ExportQuestion& question, const ExportSink& sink) const {
  ExportResult result;
  if (auto sentence = tuning_refusal(question.plan.training.tuning, tuning, title)) {
    result.rule = kTrainedPart;
    result.sentence = std::move(*sentence);
  } else {
    result = run(question, sink);
  }
  if (result.rule == kTrainedPart) result.sentence += "; " + takers(question);
  return result;
}

std::span<const Exporter> exporters() {
  static constexpr std::array kAll{
      Exporter{"megatron", "Megatron-LM", "arguments, scripts for torchrun and Slurm, placement",
               export_megatron},
      Exporter{"torchtitan", "torchtitan", "a TOML for 0.2.2, Python for main, scripts, placement",
               export_torchtitan, TuningWords::adapters},
      Exporter{"deepspeed", "DeepSpeed", "JSON, Python for stages and context, host file, scripts, placement",
               export_deepspeed, TuningWords::packed},
      Exporter{"accelerate", "Accelerate",
               "YAML, a module for Trainers and scripts, a script that checks the plan, placement",
               export_accelerate, TuningWords::packed},
      Exporter{"maxtext", "MaxText", "YAML, commands to train and to compile ahead of time, map of ranks",
               export_maxtext, TuningWords::packed},
      Exporter{
          "chakra", "Chakra and ASTRA-sim",
          "a trace of every rank, communicator groups, system and network files",
          [](const ExportQuestion& question, const ExportSink& sink) { return write_chakra(question, sink); },
          TuningWords::any},
      Exporter{"megatron-bridge", "Megatron Bridge", "overrides of a recipe, scripts, placement",
               export_bridge, TuningWords::adapters},
      Exporter{"verl", "verl", "overrides for fine-tuning and PPO, scripts, placement", export_verl,
               TuningWords::adapters},
      Exporter{"ms-swift", "ms-swift", "arguments, scripts for torchrun and Slurm, placement",
               export_ms_swift, TuningWords::core},
      Exporter{"slurm", "Slurm", "a script for sbatch that starts any program, placement", export_slurm,
               TuningWords::any},
      Exporter{"kubernetes", "Kubernetes", "a JobSet that starts any program, queues of Kueue, placement",
               export_kubernetes, TuningWords::any},
      Exporter{"placement", "placement",
               "rank map, host files of Slurm and Open MPI, scripts for every launcher", export_placement,
               TuningWords::any},
  };
  return kAll;
}

const Exporter* find_exporter(std::string_view name) {
  const auto all = exporters();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Exporter& e) { return e.name == name; });
  return at == all.end() ? nullptr : &*at;
}

Value exporters_value() {
  Value list = Value::array();
  for (const Exporter& e : exporters()) {
    Value one = Value::object();
    one.set("name", e.name).set("title", e.title).set("text", e.text);
    Value rows = Value::array();
    if (const ReleaseTable* own = e.releases()) {
      one.set("usual_release", own->usual_name);
      for (const Release& r : own->releases) {
        Value row = Value::object();
        row.set("name", r.name).set("released", r.released).set("tried", r.tried).set("how", r.how);
        rows.push(std::move(row));
      }
    }
    list.push(std::move(one.set("releases", std::move(rows))));
  }
  return list;
}

ExportTarget read_target(std::string_view spelling) {
  const SpelledRelease spelled = split_release(spelling);
  const Exporter* exporter = find_exporter(spelled.framework);
  if (exporter == nullptr) {
    std::vector<std::string> names;
    for (const Exporter& e : exporters()) names.emplace_back(e.name);
    const std::string guess = did_you_mean(spelled.framework, names);
    throw InputError("", "", fmt::format("there is no target '{}'", spelled.framework),
                     guess.empty() ? "'nest export --list' shows them" : guess);
  }
  if (!spelled.named) return {exporter, nullptr};
  const ReleaseTable* table = exporter->releases();
  if (table == nullptr) throw InputError("", "", fmt::format("{} has no releases", exporter->name));
  const Release* release = table->find(spelled.release);
  if (release == nullptr) throw InputError("", "", table->problem(spelled.release));
  return {exporter, release};
}

}  // namespace nest::frameworks
