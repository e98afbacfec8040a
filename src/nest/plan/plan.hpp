// A plan: every choice that makes a training run, and what it is predicted to cost. Plans come from the
// solver, from people and from other tools; price and check treat them all alike. docs/formats/plan.md
// describes the JSON.
//
//   plan.parallelism   tensor 8, pipeline 4, data 32, ZeRO 1
//   plan.stages[0]     layers 0..20, full recomputation, devices of every copy
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/base/units.hpp"
#include "nest/model/graph/contents.hpp"
#include "nest/model/tuning.hpp"
#include "nest/network/cells/placement.hpp"
#include "nest/plan/schedules/schedules.hpp"
#include "nest/plan/zero.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/recipe/states.hpp"
#include "nest/strategies/recompute.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::plan {

// How the pipeline's time follows from its stages' times; see pipeline_time.hpp.
enum class PipelineModel { one_f_one_b, sum_max, paper };
[[nodiscard]] std::string_view name_of(PipelineModel model);
[[nodiscard]] std::optional<PipelineModel> find_pipeline_model(std::string_view name);

struct Training {
  std::int64_t global_batch = 1024;  // sequences
  std::int64_t sequence = 0;         // tokens of one sequence
  std::int64_t micro_batch = 1;      // sequences of one micro-batch of one copy
  std::int64_t micro_batches = 1;    // of one copy in one step
  Precision precision = Precision::bf16;
  Optimizer optimizer = Optimizer::adam;
  // Dtypes of gradients, reductions and optimizer, and whether that is offloaded; what is not said is the recipe's.
  States states{};
  Contents contents{};  // of a sequence
  Tuning tuning;        // what of the model is trained
  bool mtp = false;     // with its modules for multi-token prediction

  bool operator==(const Training&) const = default;
};

// Degrees of 0 are open: Pricer::complete derives them.
struct Parallelism {
  Strategy strategy;  // where stages differ, the first stage's
  std::int64_t pipeline = 1;
  std::int64_t data = 1;           // Megatron's: side * copies
  std::int64_t data_inner = 1;     // copies whose cells of one stage lie side by side
  std::int64_t block_devices = 0;  // devices of the range of one block of copies; 0: the tightest
  Zero zero;
  std::int64_t zero_shards = 0;  // ranks that ZeRO shards over; 0: the whole group
  std::int64_t interleave = 1;   // chunks of one stage
  Schedule schedule = Schedule::one_f_one_b;
  bool first_stage_first = false;  // the first stage lies at device 0, not the last

  [[nodiscard]] std::int64_t copies() const { return data / strategy.side(); }
  [[nodiscard]] std::int64_t outer() const { return copies() / data_inner; }
  // Cells of all stages and copies.
  [[nodiscard]] std::int64_t devices() const { return strategy.cell() * copies() * pipeline; }
  bool operator==(const Parallelism&) const = default;
};

// Per micro-batch, on a device of the stage.
struct StageTime {
  Seconds forward;   // compute alone
  Seconds backward;  // without what is computed again
  Seconds recompute;
  Seconds tensor;
  Seconds expert;
  Seconds context;
  Seconds pipeline;  // receiving from the neighbours
  Seconds zero;      // traffic of every micro-batch that nothing hides
  Seconds offload;   // copies to and from host memory that nothing hides

  [[nodiscard]] Seconds total() const {
    return forward + backward + recompute + tensor + expert + context + pipeline + zero + offload;
  }
};

struct StageMemory {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;    // stashes of the micro-batches in flight
  Bytes workspace;      // what one moment needs besides, gathered layers, buckets
  Bytes fragmentation;  // what the framework's allocator holds beside all of these
  Bytes reserve;        // outside the allocator: context, communicators
  Bytes host;           // of the host's memory, for one device; no part of the total
  Bytes host_capacity;  // 0: nothing is offloaded
  Bytes margin;         // kept free, because estimates of memory err; no part of the total
  Bytes capacity;

  [[nodiscard]] Bytes allocated() const { return weights + gradients + optimizer + activations + workspace; }
  [[nodiscard]] Bytes total() const { return allocated() + fragmentation + reserve; }
  // Of the device.
  [[nodiscard]] double share() const {
    return static_cast<double>(total().value) / static_cast<double>(capacity.value);
  }
  [[nodiscard]] Bytes over() const { return total() + margin - capacity; }
  [[nodiscard]] bool fits() const { return over() <= Bytes{0} && fits_host(); }
  [[nodiscard]] bool fits_host() const { return host <= host_capacity; }
};

struct Stage {
  std::vector<LayerId> layers;  // ascending
  std::vector<std::vector<LayerId>>
      chunks;  // where there are several: `interleave` lists, in the order they run
  Strategy strategy;
  Recompute recompute;
  std::vector<Cell> devices;  // of every copy; empty: the placement rule decides
  std::optional<StageTime> time;
  std::optional<StageMemory> memory;
};

// The step of the device that works longest, part by part; the parts add up to the step.
struct Breakdown {
  Seconds compute;
  Seconds recompute;
  Seconds tensor;
  Seconds expert;
  Seconds context;
  Seconds pipeline;
  Seconds bubble;
  Seconds data;  // gradients reduced once a step
  Seconds zero;  // parameters gathered, and per-micro-batch traffic
  Seconds optimizer;
  Seconds offload;  // copies to and from host memory that nothing hides, and the host's update

  [[nodiscard]] Seconds total() const {
    return compute + recompute + tensor + expert + context + pipeline + bubble + data + zero + optimizer +
           offload;
  }
};

// Where so large a share of measured runs lies around a predicted figure.
struct StepInterval {
  double coverage = 0;  // 0: nothing is known
  Seconds low;
  Seconds high;
};
struct MemoryInterval {
  Bytes low;
  Bytes high;
};

struct Prediction {
  Seconds step;
  StepInterval interval;
  std::optional<MemoryInterval> memory;    // of the fullest stage; with the coverage of `interval`
  std::optional<double> fits_probability;  // how likely that stage fits, by measured runs
  bool fits_at_least = false;              // or more than that: so few runs cannot tell
  double tokens_per_s = 0;
  double samples_per_s = 0;
  FlopsPerSecond flops_per_device;  // of the model: no recomputation
  double mfu = 0;
  double bubble_fraction = 0;
  Seconds stragglers;  // of the step, and of breakdown.data: all ranks wait for the slowest
  Breakdown breakdown;
};

// Megatron's options of the even split: the embedding and the loss count as a block each.
struct SplitOptions {
  bool embedding_slot = false;
  bool loss_slot = false;
};

// disagreement: the search and the price do not agree about the plan that was found, which is a bug; there is
// no plan then.
enum class PlanStatus { optimal, feasible, infeasible, limit, disagreement };
[[nodiscard]] std::string_view name_of(PlanStatus status);
[[nodiscard]] std::optional<PlanStatus> find_plan_status(std::string_view name);

struct Plan {
  Training training;
  Parallelism parallelism;
  std::vector<Stage> stages;
  // Of stages that are still to be made.
  Recompute default_recompute;
  SplitOptions split;
  std::optional<PlanStatus> status;
  std::optional<Seconds> lower_bound;
  std::optional<Prediction> predicted;

  [[nodiscard]] bool placed() const { return !stages.empty() && !stages.front().devices.empty(); }
};

}  // namespace nest::plan
