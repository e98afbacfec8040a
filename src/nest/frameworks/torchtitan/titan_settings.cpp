#include "nest/frameworks/torchtitan/titan_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

#include "nest/frameworks/common/fsdp.hpp"
#include "nest/frameworks/torchtitan/titan_adapters.hpp"
#include "nest/frameworks/torchtitan/titan_flavors.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::frameworks {
namespace {

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
  void add(std::string key, bool on) { settings.push_back({std::move(key), on ? "true" : "false"}); }
  void plain(std::string key, std::string value) { settings.push_back({std::move(key), std::move(value)}); }
};

enum class Version { release, main_branch };

std::string modules_of(const ExportFacts& f, std::string_view head) {
  std::string out;
  for (const PipelinePart& part : f.parts) {
    std::vector<std::string> names;
    for (const LayerId id : part.layers) {
      if (id.value == 0) {
        names.emplace_back("\"tok_embeddings\"");
      } else if (id.index() + 1 == f.layers.size()) {
        names.push_back(fmt::format("\"norm\",\"{}\"", head));
      } else {
        names.push_back(fmt::format("\"layers.{}\"", id.value - 1));
      }
    }
    out += fmt::format("{}[{}]", out.empty() ? "" : ",", fmt::join(names, ","));
  }
  return "[" + out + "]";
}

Section training_of(const ExportFacts& f, Version version) {
  const Parallelism& p = f.parallelism();
  const Training& t = f.plan().training;
  Section out{"training", {}};
  if (version == Version::release) {
    out.add("local_batch_size", p.pipeline > 1 ? t.micro_batch * t.micro_batches : t.micro_batch);
    out.add("global_batch_size", t.global_batch);
    out.add("seq_len", t.sequence);
  } else {
    out.add("num_tokens_per_microbatch_per_dp_rank", t.micro_batch * t.sequence);
    out.add("num_tokens_per_train_step", t.global_batch * t.sequence);
    out.add("max_context_length", t.sequence);
    // It refuses these with graphs.
    if (p.pipeline > 1 || p.strategy.expert > 1) out.add("disable_cuda_graphs", true);
  }
  out.add("mixed_precision_param", "bfloat16");
  out.add("mixed_precision_reduce", "float32");  // there is no other
  return out;
}

bool overlaps_tensor(const ExportFacts& f) {
  return f.recipe().overlap.tensor > 0 && f.recipe().compiled && f.parallelism().strategy.tensor > 1;
}

void add_pipeline(Section& out, const ExportFacts& f, Version version) {
  const Parallelism& p = f.parallelism();
  const Training& t = f.plan().training;
  const std::string_view word = word_of(p.schedule, "torchtitan");
  if (word.empty()) {
    out.add("pipeline_parallel_schedule_csv", "schedule.csv");
  } else {
    out.add("pipeline_parallel_schedule", word);
  }
  if (version == Version::main_branch) {
    out.add("num_pp_microbatches", t.micro_batches);
  } else {
    out.add("pipeline_parallel_microbatch_size", t.micro_batch);
    if (schedule_of(p.schedule).pairs_passes && p.strategy.expert > 1)
      out.add("pipeline_parallel_expert_parallel_overlap", p.strategy.overlaps_experts());
  }
  out.plain("module_fqns_per_model_part",
            modules_of(f, version == Version::main_branch ? "lm_head" : "output"));
}

Section parallelism_of(const ExportFacts& f, Version version) {
  const bool main = version == Version::main_branch;
  const Parallelism& p = f.parallelism();
  const Strategy& s = p.strategy;
  const std::int64_t shard = p.zero.shards_anything() ? p.zero_shards / s.context : 1;
  Section out{"parallelism", {}};
  out.add("data_parallel_replicate_degree", p.data / shard);
  out.add("data_parallel_shard_degree", shard);
  out.add("fsdp_reshard_after_forward", !p.zero.shards_gradients() ? "default"
                                        : frees_gathered(p.zero)   ? "always"
                                                                   : "never");
  out.add("tensor_parallel_degree", s.tensor);
  if (main && s.tensor > 1) out.add("enable_sequence_parallel", s.sequence_parallel);
  if (!main && overlaps_tensor(f)) out.add("enable_async_tensor_parallel", true);
  out.add("context_parallel_degree", s.context);
  if (f.experts() != nullptr) {
    out.add("expert_parallel_degree", s.expert);
    if (!main) out.add("expert_tensor_parallel_degree", s.expert > 1 ? s.expert_tensor_degree() : 1);
  }
  out.add("pipeline_parallel_degree", p.pipeline);
  if (p.pipeline > 1) add_pipeline(out, f, version);
  return out;
}

Section compile_of(const ExportFacts& f, Version version) {
  Section out{"compile", {}};
  out.add("enable", f.recipe().compiled && (version == Version::main_branch || !refuses_compiled(f)));
  if (version == Version::main_branch && overlaps_tensor(f)) {
    out.plain("components", "[\"model\",\"loss\"]");
    out.add("enable_async_tensor_parallel", true);
  }
  return out;
}

std::string line_of(const Section& section, const Setting& setting) {
  const std::string& v = setting.value;
  return fmt::format("    config.{}.{} = {}\n", section.name, setting.key,
                     v == "true"    ? "True"
                     : v == "false" ? "False"
                                    : v);
}

}  // namespace

bool refuses_compiled(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  return p.pipeline > 1 && schedule_of(p.schedule).splits_backward &&
         !word_of(p.schedule, "torchtitan").empty();
}

std::string titan_toml(const ExportFacts& f) {
  const TitanFlavor* flavor = find_flavor(f.spec, "v0.2.2");
  Section model{"model", {}};
  model.add("name", flavor == nullptr ? "your_model" : flavor->module);
  model.add("flavor", flavor == nullptr ? "your_flavor" : flavor->flavor);
  if (f.plan().training.precision == Precision::fp8)
    model.plain("converters", "[\"quantize.linear.float8\"]");
  Section checkpoint{"activation_checkpoint", {}};
  const RecomputePolicy policy = f.plan().stages.front().recompute.policy;
  checkpoint.add("mode", name_of(policy));
  if (policy == RecomputePolicy::selective) checkpoint.add("selective_ac_option", "op");
  std::string out = "# torchtitan 0.2.2; paths of schedules are of the folder that torchtitan starts in\n";
  for (const Section& section : {model, training_of(f, Version::release), parallelism_of(f, Version::release),
                                 checkpoint, compile_of(f, Version::release)}) {
    out += fmt::format("\n[{}]\n", section.name);
    for (const Setting& s : section.settings) out += fmt::format("{} = {}\n", s.key, s.value);
  }
  return out;
}

std::string titan_python(const ExportFacts& f) {
  const TitanFlavor* flavor = find_flavor(f.spec, "main");
  const std::string module = flavor == nullptr ? "your_model" : std::string(flavor->module);
  const std::string base = flavor == nullptr ? "your_config" : std::string(config_beside(*flavor));
  const RecomputePolicy policy = f.plan().stages.front().recompute.policy;
  const std::string_view checkpoint = policy == RecomputePolicy::full        ? "FullAC"
                                      : policy == RecomputePolicy::selective ? "SelectiveAC"
                                                                             : "";
  const bool fp8 = f.plan().training.precision == Precision::fp8;
  const Tuning& tuning = f.plan().training.tuning;
  std::vector<std::string> converters;  // adapters come last
  if (fp8)
    converters.push_back(fmt::format("Float8LinearConverter.Config(model_compile_enabled={})",
                                     f.recipe().compiled ? "True" : "False"));
  if (!tuning.whole()) {
    const std::vector<std::string> modules = titan_adapters(tuning, *f.spec).modules;
    converters.push_back(fmt::format("LoRAConverter.Config(rank={}, alpha={}.0, target_modules=[\"{}\"])",
                                     tuning.rank, 2 * tuning.rank, fmt::join(modules, "\", \"")));
  }
  const bool other_model = flavor != nullptr && (flavor->config.empty() || !converters.empty());
  std::string out =
      "# A plan by nest for torchtitan's main branch of 2026-08-21 (b5bcd76c6), as a function of a config "
      "registry:\n# torchrun .. -m torchtitan.train --module nest_plan --config plan, with this folder in "
      "PYTHONPATH\n";
  if (!tuning.whole()) out += "from torchtitan.components.lora import LoRAConverter\n";
  if (fp8) out += "from torchtitan.components.quantization import Float8LinearConverter\n";
  if (!checkpoint.empty())
    out += fmt::format("from torchtitan.distributed.activation_checkpoint import {}\n", checkpoint);
  if (other_model) {
    out += "from torchtitan.models.common.config_utils import decoder_vocab_size\n";
    out += fmt::format("from torchtitan.models.{} import model_registry\n", module);
  }
  out += fmt::format("from torchtitan.models.{}.config_registry import {}\n\n\ndef plan():\n", module, base);
  out += fmt::format("    config = {}()\n", base);
  if (other_model) {
    const std::string list =
        converters.empty() ? "" : fmt::format(", converters=[{}]", fmt::join(converters, ", "));
    out += fmt::format("    config.model_spec = model_registry(\"{}\"{})\n", flavor->flavor, list);
    out += "    config.loss.loss_fn.global_vocab_size = decoder_vocab_size(config.model_spec)\n";
  }
  for (const Section& section :
       {training_of(f, Version::main_branch), parallelism_of(f, Version::main_branch),
        compile_of(f, Version::main_branch)}) {
    for (const Setting& s : section.settings) out += line_of(section, s);
  }
  out += fmt::format("    config.activation_checkpoint = {}\n    return config\n",
                     checkpoint.empty() ? "None" : fmt::format("{}.Config()", checkpoint));
  return out;
}

}  // namespace nest::frameworks
