// From what a launch file says to a plan: the same way for all frameworks. A reader fills in strategy, stages and
// what it knows of batch and ranks; what follows from them is worked out here, and sizes that contradict each
// other are InputErrors with the file's own words.
//
//   ImportedRun run{question, warnings, load_run_inputs(question, "deepspeed", warnings)};
//   run.plan.parallelism.strategy.tensor = 2;
//   run.settle_ranks();
//   run.settle_batch("train_batch_size");
//   return run.finish();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/frameworks/common/import_question.hpp"

namespace nest::frameworks {

struct ImportedRun {
  const ImportQuestion& question;
  Warnings& warnings;
  PlanInputs inputs;
  Plan plan;
  std::int64_t ranks = 0;                    // that the file says; 0: it does not
  std::int64_t data = 0;                     // data ranks that the file says; 0: all that are left
  std::optional<std::int64_t> global_batch;  // none: one micro-batch on every data rank
  bool rounds = false;                       // micro-batches come in rounds of the pipeline's degree
  bool whole_copies = false;                 // the ranks of one copy are consecutive

  void warn(const std::string& sentence) const;  // "FILE: sentence"
  [[noreturn]] void fail(const std::string& place, const std::string& what) const;

  // Data ranks from the options' or the file's ranks, or else as many as the cluster and the batch allow.
  void settle_ranks();
  // The global batch and the number of micro-batches from the micro-batch, which must be known. `key` is the
  // file's word for the global batch.
  void settle_batch(const std::string& key);
  // ZeRO over all data and context ranks, or over a part of them.
  void settle_shards(Zero zero, std::optional<std::int64_t> shards = std::nullopt);
  void recompute_all(const Recompute& recompute);
  // Rank r on device r, or where the rank map says, and the plan completed.
  [[nodiscard]] OpenPlan finish();

 private:
  [[nodiscard]] std::int64_t assumed_ranks() const;
  [[nodiscard]] std::vector<std::int64_t> devices_of_ranks() const;
  void place();
};

// Stages and chunks of so many layers each, in the model's order. Degrees and schedule must be known.
void cut_stages(Plan& plan, const std::vector<std::int64_t>& layers_of_parts);

// The cluster, and the recipe that is asked for or else the one of that name. No model.
[[nodiscard]] PlanInputs load_run_inputs(const ImportQuestion& question, const std::string& recipe);
// The model that is asked for; an InputError where there is none.
void load_run_model(ImportedRun& run);

}  // namespace nest::frameworks
