#include "nest/frameworks/torchtitan/torchtitan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/torchtitan/schedule_csv.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/rules/framework_rules.hpp"

namespace nest::frameworks {
namespace {

using Problem = std::optional<std::string>;

Problem mesh_does_not_fit(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  const std::int64_t shards = p.zero.shards_anything() ? p.zero_shards : p.strategy.context;
  if (p.data * p.strategy.context % shards == 0) return std::nullopt;
  return fmt::format("{} shards of {} ranks", shards, p.data * p.strategy.context);
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
};

// Models that torchtitan's registry holds.
struct Registered {
  std::string_view name;  // of our zoo
  std::string_view module;
  std::string_view flavor;
  std::string_view config;  // of the main branch
};
constexpr std::array kRegistry{
    Registered{"llama3-8b", "llama3", "8B", "llama3_8b"},
    Registered{"llama3.1-8b", "llama3", "8B", "llama3_8b"},
    Registered{"llama3-70b", "llama3", "70B", "llama3_70b"},
    Registered{"llama3.1-70b", "llama3", "70B", "llama3_70b"},
    Registered{"llama3.1-405b", "llama3", "405B", "llama3_405b"},
    Registered{"deepseek-v2-lite", "deepseek_v3", "16B", "deepseek_v3_16b"},
    Registered{"deepseek-v3", "deepseek_v3", "671B", "deepseek_v3_671b"},
    Registered{"qwen3-0.6b", "qwen3", "0.6B", "qwen3_0_6b"},
    Registered{"qwen3-1.7b", "qwen3", "1.7B", "qwen3_1_7b"},
    Registered{"qwen3-14b", "qwen3", "14B", "qwen3_14b"},
    Registered{"qwen3-32b", "qwen3", "32B", "qwen3_32b"},
    Registered{"qwen3-30b-a3b", "qwen3", "30B-A3B", "qwen3_30b_a3b"},
};
constexpr Registered kUnknown{"", "your_model", "your_flavor", "your_config"};

const Registered& registered(const ExportFacts& f) {
  const auto at = std::find_if(kRegistry.begin(), kRegistry.end(), [&](const Registered& r) {
    return r.name == f.question->inputs.model_name();
  });
  return at == kRegistry.end() ? kUnknown : *at;
}

struct Setting {
  std::string key;
  std::string value;  // as TOML writes it
};
struct Section {
  std::string name;
  std::vector<Setting> settings;

  void add(std::string key, std::string_view text) {
    settings.push_back({std::move(key), fmt::format("\"{}\"", text)});
  }
  void add(std::string key, const char* text) { add(std::move(key), std::string_view(text)); }
  void add(std::string key, std::int64_t number) {
    settings.push_back({std::move(key), std::to_string(number)});
  }
  void plain(std::string key, std::string value) { settings.push_back({std::move(key), std::move(value)}); }
};

std::string modules_of(const ExportFacts& f) {
  std::string out;
  for (const PipelinePart& part : f.parts) {
    std::vector<std::string> names;
    for (const LayerId id : part.layers) {
      if (id.value == 0) {
        names.emplace_back("\"tok_embeddings\"");
      } else if (id.index() + 1 == f.layers.size()) {
        names.emplace_back("\"norm\",\"output\"");
      } else {
        names.push_back(fmt::format("\"layers.{}\"", id.value - 1));
      }
    }
    out += fmt::format("{}[{}]", out.empty() ? "" : ",", fmt::join(names, ","));
  }
  return "[" + out + "]";
}

// The main branch has other names for a few settings.
enum class Version { release, main_branch };

std::vector<Section> sections(const ExportFacts& f, Version version) {
  const bool main = version == Version::main_branch;
  const Plan& plan = f.plan();
  const Parallelism& p = plan.parallelism;
  const Strategy& s = p.strategy;
  const Training& t = plan.training;
  const std::int64_t shard = p.zero.shards_anything() ? p.zero_shards / s.context : 1;
  std::vector<Section> all;
  if (!main) {
    Section model{"model", {}};
    model.add("name", registered(f).module);
    model.add("flavor", registered(f).flavor);
    if (t.precision == Precision::fp8) model.plain("converters", "[\"quantize.linear.float8\"]");
    all.push_back(std::move(model));
  }
  Section training{"training", {}};
  training.add("local_batch_size", p.pipeline > 1 ? t.micro_batch * t.micro_batches : t.micro_batch);
  training.add("global_batch_size", t.global_batch);
  training.add("seq_len", t.sequence);
  training.add("mixed_precision_param", "bfloat16");
  training.add("mixed_precision_reduce",
               f.recipe().reduce_dtype == StateDType::fp32 ? "float32" : "bfloat16");
  all.push_back(std::move(training));

  Section par{"parallelism", {}};
  par.add("data_parallel_replicate_degree", p.data / shard);
  par.add("data_parallel_shard_degree", shard);
  par.add("fsdp_reshard_after_forward", p.zero.shards_parameters()  ? "always"
                                        : p.zero.shards_gradients() ? "never"
                                                                    : "default");
  par.add("tensor_parallel_degree", s.tensor);
  if (main && s.tensor > 1) par.plain("enable_sequence_parallel", s.sequence_parallel ? "true" : "false");
  if (f.recipe().overlap.tensor > 0 && f.recipe().compiled && s.tensor > 1)
    par.plain("enable_async_tensor_parallel", "true");
  par.add("context_parallel_degree", s.context);
  if (f.experts() != nullptr) {
    par.add("expert_parallel_degree", s.expert);
    if (!main) par.add("expert_tensor_parallel_degree", s.expert > 1 ? s.expert_tensor_degree() : 1);
  }
  par.add("pipeline_parallel_degree", p.pipeline);
  if (p.pipeline > 1) {
    const std::string_view word = word_of(p.schedule, "torchtitan");
    if (word.empty()) {
      par.add("pipeline_parallel_schedule_csv", "schedule.csv");
    } else {
      par.add("pipeline_parallel_schedule", std::string(word));
    }
    if (main) {
      par.add("num_pp_microbatches", t.micro_batches);
    } else {
      par.add("pipeline_parallel_microbatch_size", t.micro_batch);
    }
    par.plain("module_fqns_per_model_part", modules_of(f));
  }
  all.push_back(std::move(par));

  Section checkpoint{"activation_checkpoint", {}};
  checkpoint.add("mode", name_of(plan.stages.front().recompute.policy));
  if (plan.stages.front().recompute.policy == RecomputePolicy::selective)
    checkpoint.add("selective_ac_option", "op");
  all.push_back(std::move(checkpoint));
  Section compile{"compile", {}};
  compile.plain("enable", f.recipe().compiled ? "true" : "false");
  all.push_back(std::move(compile));
  return all;
}

std::string toml_of(const ExportFacts& f) {
  std::string out = "# torchtitan 0.2.2; paths of schedules are of the folder that torchtitan starts in\n";
  for (const Section& section : sections(f, Version::release)) {
    out += fmt::format("\n[{}]\n", section.name);
    for (const Setting& s : section.settings) out += fmt::format("{} = {}\n", s.key, s.value);
  }
  return out;
}

std::string flags_of(const ExportFacts& f) {
  std::string out = fmt::format("# torchtitan's main branch\n--module {}\n--config {}\n",
                                registered(f).module, registered(f).config);
  for (const Section& section : sections(f, Version::main_branch)) {
    for (const Setting& s : section.settings) {
      const bool quoted = s.value.starts_with('"');
      out += fmt::format("--{}.{} {}\n", section.name, s.key,
                         quoted ? s.value.substr(1, s.value.size() - 2) : s.value);
    }
  }
  return out;
}

std::string command_script(bool release) {
  return fmt::format(
      R"sh(#!/bin/bash
# torchtitan.sh LAUNCHER..: torchtitan with {0}; TITAN_ARGS adds to it.
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")"
read -ra own <<< "${{TITAN_ARGS:-}}"
{1}exec "$@" -m torchtitan.train {2} "${{own[@]}}"
)sh",
      release ? "train.toml" : "main_flags.txt",
      release ? ""
              : "mapfile -t args < <(sed -e 's/#.*//' main_flags.txt | tr -s ' ' '\\n' | sed -e '/^$/d')\n",
      release ? "--job.config_file train.toml" : "\"${args[@]}\"");
}

std::vector<std::string> losses(const ExportFacts& f, bool release) {
  const Parallelism& p = f.parallelism();
  const Recipe& r = f.recipe();
  std::vector<std::string> lost;
  if (registered(f).name.empty())
    lost.emplace_back(
        "the model: torchtitan's registry does not hold it; put its names for your_model and your_flavor");
  if (p.pipeline > 1 && p.zero.shards_gradients())
    lost.emplace_back(
        "under a pipeline torchtitan reduces gradients after the last micro-batch and holds them whole until "
        "then");
  const Recompute& recompute = f.plan().stages.front().recompute;
  if (recompute.policy == RecomputePolicy::selective &&
      r.selective_recompute != SelectiveRecompute::operators)
    lost.emplace_back("selective recomputation is of single operators, the recipe means the attention core");
  if (r.parameter_dtype != StateDType::fp32)
    lost.emplace_back("torchtitan holds 32-bit weights: the recipe 'torchtitan' has its memory");
  if (f.plan().training.precision == Precision::fp8 && !release)
    lost.emplace_back("fp8 products are a converter of the model's configuration");
  return lost;
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
  const bool release = asked("v0.2.2") && runs_in_titan_022(p);
  const bool main = asked("main") && runs_in_titan_main(p);
  if (!release && !main) {
    result.rule = "experts-in-shards";
    result.sentence =
        fmt::format("torchtitan {} cannot run this plan's tensor or expert degrees", question.release->name);
    return result;
  }
  if (release) result.releases.push_back(table.find("v0.2.2"));
  if (main) result.releases.push_back(table.find("main"));
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  if (!release && asked("v0.2.2"))
    result.lost.emplace_back("no train.toml: release 0.2.2 cannot run this plan's tensor or expert degrees");
  if (!main && asked("main"))
    result.lost.emplace_back("no main_flags.txt: the main branch has no expert tensor degree");
  for (std::string& sentence : losses(facts, release)) result.lost.push_back(std::move(sentence));
  for (std::string& sentence : placement_losses(map)) result.lost.push_back(std::move(sentence));
  result.next = {"./run_host.sh on each host of placement/hosts.txt, with torchtitan installed",
                 "or sbatch run_slurm.sh"};
  if (release) sink({"train.toml", toml_of(facts)});
  if (main) sink({"main_flags.txt", flags_of(facts)});
  if (p.pipeline > 1 && word_of(p.schedule, "torchtitan").empty())
    sink({"schedule.csv",
          schedule_csv(p.schedule, p.pipeline, p.interleave, question.plan.training.micro_batches)});
  sink({"torchtitan.sh", command_script(release), true});
  sink({"run_host.sh", host_script(map, "torchtitan.sh"), true});
  sink({"run_slurm.sh", slurm_script(map, "nest-torchtitan", "torchtitan.sh"), true});
  write_placement(map, "placement/", sink);
  sink({"NOTES.md",
        export_notes(question, map, "torchtitan", result,
                     {"data, tokenizer, steps, learning rate: TITAN_ARGS, or more lines in the file"})});
  return result;
}

}  // namespace nest::frameworks
