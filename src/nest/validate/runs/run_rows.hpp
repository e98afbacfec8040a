// Published training runs, one row each: the columns of runs.csv and memory.csv, found by their names. What a
// row does not say stays absent; which rows can be predicted is decided in run_case.hpp. Tables of fine-tuning runs
// have columns of their own (tuning_rows.hpp).
//
//   id,source,model,layers,hidden,heads,..,accelerator,framework,tp,pp,dp,..,measured_metric,measured_value
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"
#include "nest/model/tuning.hpp"

namespace nest::validate {

struct RunRow {
  int line = 0;
  std::string id, source, model, accelerator, framework, precision, precision_class;
  std::string recompute;         // as the source says
  std::string recompute_policy;  // none, selective, full, other
  std::string metric, flops_definition, overlap, network, notes, why_not, confidence;
  std::string memory, memory_kind;  // memory is a number or OOM
  std::string gradient_dtype;       // empty: the framework's own
  std::string dispatcher;           // alltoall, deepep, hybridep; empty: not stated
  std::string cuda_graph;           // none, transformer_engine, full_iteration; empty: not stated
  std::string recompute_modules;    // Megatron's names, with blanks between them
  std::string routing;              // forced_balance or real
  std::string tuning_kind;          // SFT or LoRA, in tables of fine-tuning runs

  std::optional<std::int64_t> layers, hidden, heads, kv_heads, ffn, vocab, experts, top_k, expert_ffn;
  std::optional<std::int64_t> sequence, global_batch, devices, devices_per_node;
  std::optional<std::int64_t> tensor, context, expert, pipeline, interleave, data, zero, zero_shards,
      expert_tensor;
  // Of one data rank, of one device under FSDP: may be a part of a sequence there.
  std::optional<double> micro_batch;
  std::optional<double> intra_gb_per_s, inter_gb_per_s, measured;
  std::optional<bool> expert_overlap, sequence_parallel, flash, compiled, cpu_offload, usable;
  Tuning tuning;                          // what of the model the run trained
  std::optional<std::int64_t> documents;  // tokens of those that fill a sequence; attention stays within each

  // Whether the row is fully stated and unambiguous; where the file has no such column, unless it is flagged.
  [[nodiscard]] bool is_usable() const;
  [[nodiscard]] bool flagged() const;
  // Whose measurement it is: "bigscience-workshop/bigscience" for all the tables of one project.
  [[nodiscard]] std::string project() const;
};

enum class RunTable { times, memory };

// Throws an InputError with file and line where a column that must be there is not, or a number is none.
[[nodiscard]] std::vector<RunRow> read_run_rows(const std::string& file, std::string_view text,
                                                RunTable table);

// Whether a text holds a word, letter case ignored.
[[nodiscard]] bool mentions(std::string_view text, std::string_view word);
// The whole number right after a word: number_after("micro_num=4; x", "micro_num") -> 4.
[[nodiscard]] std::optional<std::int64_t> number_after(std::string_view text, std::string_view word);

}  // namespace nest::validate
