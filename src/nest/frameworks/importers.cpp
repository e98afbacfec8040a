#include "nest/frameworks/importers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/frameworks/accelerate/accelerate_dialect.hpp"
#include "nest/frameworks/accelerate/accelerate_import.hpp"
#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/deepspeed/deepspeed_dialect.hpp"
#include "nest/frameworks/deepspeed/deepspeed_import.hpp"
#include "nest/frameworks/megatron/megatron_dialect.hpp"
#include "nest/frameworks/megatron/megatron_import.hpp"
#include "nest/frameworks/torchtitan/titan_dialect.hpp"
#include "nest/frameworks/torchtitan/titan_import.hpp"

namespace nest::frameworks {
namespace {

// Whether any line begins with one of the words, after blanks where they may be there.
bool has_line(std::string_view text, std::span<const std::string_view> words, bool indented) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (indented) line.remove_prefix(std::min(line.find_first_not_of(" \t{,"), line.size()));
    if (std::any_of(words.begin(), words.end(),
                    [&](std::string_view word) { return line.starts_with(word); }))
      return true;
  }
  return false;
}

bool is_torchtitan(std::string_view text) {
  constexpr std::array<std::string_view, 4> kSections{"[parallelism]", "[training]", "[model]",
                                                      "[activation_checkpoint]"};
  return has_line(text, kSections, false);
}

bool is_deepspeed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  constexpr std::array<std::string_view, 6> kKeys{"\"zero_optimization\"",
                                                  "\"train_batch_size\"",
                                                  "\"train_micro_batch_size_per_gpu\"",
                                                  "\"gradient_accumulation_steps\"",
                                                  "\"bf16\"",
                                                  "\"fp16\""};
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](std::string_view key) { return text.find(key) != std::string_view::npos; });
}

bool is_accelerate(std::string_view text) {
  constexpr std::array<std::string_view, 5> kKeys{"distributed_type:", "compute_environment:", "fsdp_config:",
                                                  "parallelism_config:", "deepspeed_config:"};
  return has_line(text, kKeys, false);
}

bool is_megatron(std::string_view text) {
  const std::vector<Flag> flags = read_flags(text);
  return std::any_of(flags.begin(), flags.end(), [](const Flag& flag) {
    return flag.name == "--num-layers" || flag.name == "--micro-batch-size" ||
           flag.name.find("-parallel-size") != std::string::npos;
  });
}

bool runs_deepspeed(std::string_view text) {
  constexpr std::array<std::string_view, 3> kLines{
      "distributed_type: DEEPSPEED", "distributed_type: 'DEEPSPEED'", "distributed_type: \"DEEPSPEED\""};
  return has_line(text, kLines, false);
}

constexpr std::string_view kMegatronSample =
    R"(torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py \
  --tensor-model-parallel-size 8 --sequence-parallel --use-distributed-optimizer \
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 \
  --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm \
  --disable-bias-linear --untie-embeddings-and-output-weights --vocab-size 128256 \
  --position-embedding-type rope --max-position-embeddings 131072 --seq-length 8192 \
  --micro-batch-size 1 --global-batch-size 64 --bf16 --recompute-activations
)";

constexpr std::string_view kTitanSample = R"([model]
name = "llama3"
flavor = "8B"

[training]
local_batch_size = 1
seq_len = 8192

[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 2

[activation_checkpoint]
mode = "selective"
selective_ac_option = "op"

[compile]
enable = true
)";

constexpr std::string_view kDeepSpeedSample = R"({
  "train_batch_size": 256,
  "train_micro_batch_size_per_gpu": 1,
  "bf16": {"enabled": true},
  "optimizer": {"type": "AdamW"},
  "zero_optimization": {"stage": 3, "overlap_comm": true}
}
)";

constexpr std::string_view kAccelerateSample = R"(distributed_type: FSDP
mixed_precision: bf16
num_machines: 2
num_processes: 16
fsdp_config:
  fsdp_version: 2
  fsdp_reshard_after_forward: true
  fsdp_activation_checkpointing: true
parallelism_config:
  parallelism_config_dp_replicate_size: 2
  parallelism_config_dp_shard_size: 8
  parallelism_config_tp_size: 1
  parallelism_config_cp_size: 1
)";

}  // namespace

std::span<const Importer> importers() {
  static constexpr std::array kAll{
      Importer{"megatron", "Megatron-LM", "an argument file or a launch script of Megatron-LM",
               kMegatronSample, is_megatron, import_megatron,
               [](std::string_view) -> const Dialect& { return megatron_dialect(); }},
      Importer{"torchtitan", "torchtitan", "a TOML file of torchtitan 0.2.2", kTitanSample, is_torchtitan,
               import_torchtitan, [](std::string_view) -> const Dialect& { return torchtitan_dialect(); }},
      Importer{"deepspeed", "DeepSpeed", "a JSON file of DeepSpeed (ds_config.json)", kDeepSpeedSample,
               is_deepspeed, import_deepspeed,
               [](std::string_view) -> const Dialect& { return deepspeed_dialect(); }},
      Importer{"accelerate", "Accelerate", "a YAML file of 'accelerate config'", kAccelerateSample,
               is_accelerate, import_accelerate,
               [](std::string_view text) -> const Dialect& {
                 return runs_deepspeed(text) ? accelerate_deepspeed_dialect() : accelerate_dialect();
               }},
  };
  return kAll;
}

const Importer* find_importer(std::string_view name) {
  const auto all = importers();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Importer& i) { return i.name == name; });
  return at == all.end() ? nullptr : &*at;
}

const Importer& importer_of(const ImportQuestion& question) {
  // Flags last: a script may hold a file of settings, not the other way round.
  for (const char* name : {"deepspeed", "torchtitan", "accelerate", "megatron"}) {
    if (find_importer(name)->recognizes(question.text)) return *find_importer(name);
  }
  std::vector<std::string_view> names;
  for (const Importer& importer : importers()) names.push_back(importer.name);
  throw InputError(
      question.file, "",
      "it is neither a launch line of Megatron-LM nor a file of torchtitan, DeepSpeed or Accelerate",
      fmt::format("--kind says what it is: {}", fmt::join(names, ", ")));
}

}  // namespace nest::frameworks
