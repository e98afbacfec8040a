// What a stage costs, apart from its neighbours' work: the ingredients that price puts into closed formulas
// and simulate into events. Times are of one device of the stage, the slowest over all copies.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/estimate/kernels/kernel_model.hpp"
#include "nest/estimate/kernels/optimizer_time.hpp"
#include "nest/estimate/layers/layer_cost.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/layers/layer_table.hpp"
#include "nest/price/muon_states.hpp"
#include "nest/price/network/plan_network.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::price {

// One chunk (the whole stage without interleaving) and one micro-batch.
struct ChunkCost {
  // Compute alone.
  Seconds forward;
  Seconds backward_input;
  Seconds backward_weight;
  Seconds recompute;
  // Collectives inside the cell that nothing hides; those of recomputation are in backward.
  CollectiveSeconds forward_collectives;
  CollectiveSeconds backward_collectives;
  // ZeRO-2 and ZeRO-3 traffic of every micro-batch that nothing hides, and kernels slowed down by the rest.
  Seconds forward_zero;
  Seconds backward_zero;
  // What copies to and from host memory take beyond the layers' own passes, where activations lie there.
  Seconds forward_offload;
  Seconds backward_offload;
  Seconds host_copy;  // of one way, hidden or not
  // Of forward_collectives and backward_collectives: what the other pass of a pair hides, where there are pairs.
  Seconds forward_beside;
  Seconds backward_beside;
  double paired = 0;  // the share of forward passes that run in a pair
  // What one device receives before each pass (0 for the ends of the pipeline), and the unhidden time of it
  // when all copies send at once.
  Bytes forward_bytes;
  Bytes backward_bytes;
  Seconds forward_receive;
  Seconds backward_receive;
  // What the passes hide of both: the first and the last micro-batch wait for it all the same.
  Seconds forward_hidden;
  Seconds backward_hidden;
  Bytes stash;       // on the device
  Bytes host_stash;  // in host memory

  [[nodiscard]] Seconds backward_compute() const { return backward_input + backward_weight + recompute; }
  // The task without its receive.
  [[nodiscard]] Seconds forward_work() const {
    return forward + forward_collectives.total() + forward_zero + forward_offload;
  }
  [[nodiscard]] Seconds backward_work() const {
    return backward_compute() + backward_collectives.total() + backward_zero + backward_offload;
  }
  // Where all hides that may: what sends hide behind, in a pair or not.
  [[nodiscard]] Seconds least_forward_work() const { return forward_work() - forward_beside; }
  [[nodiscard]] Seconds least_backward_work() const { return backward_work() - backward_beside; }
  // f and b of the cost model.
  [[nodiscard]] Seconds f() const { return forward_work() + forward_receive; }
  [[nodiscard]] Seconds b() const { return backward_work() + backward_receive; }
};

// What a forward pass of one chunk and a backward pass of another save where they run beside each other: compute adds
// up, and exchanges with experts hide behind what the other computes. Recomputation is not counted among that: then
// no recomputation makes a pair shorter.
[[nodiscard]] Seconds saved_in_pair(const ChunkCost& forward, const ChunkCost& backward);
// Adds the terms of one more chunk to those of its stage. Where passes of two chunks are under way at once, memory holds
// what both need.
void add_chunk(const LayerTerms& chunk, bool at_once, LayerTerms& stage);
// What a schedule's formula reads of the chunks of one stage.
void add_passes(const std::vector<ChunkCost>& chunks, Schedule schedule, std::vector<StagePass>& out);

// A collective at the end of the step, over ranks of one stage.
struct StepCollective {
  enum class Group {
    dense,        // all ranks that hold the same dense parameters
    dense_inner,  // those that ZeRO shards over, where they are not all
    dense_outer,  // one of each such part
    expert,       // the same of expert parameters
    expert_inner,
    expert_outer,
    dense_near,  // those of dense_inner that gather again, with resharding to a group
    expert_near,
    replicated,  // the tensor group: parameters that every rank holds and sees a part of the gradient of
    tied,        // first and last stage: copies of a tied weight
  };
  CollectiveKind kind = CollectiveKind::all_reduce;
  Group group = Group::dense;
  Bytes bytes;
  Seconds time;  // with the same groups of all stages talking at once
};

struct StageCost {
  std::vector<ChunkCost> chunks;
  // Once a step.
  std::vector<StepCollective> reduces;  // gradients, in order
  std::vector<StepCollective> gathers;  // parameters
  Seconds reduce_alone;                 // R_i below, had the stage the links for itself
  Seconds reduce;                       // R_i: what the stage's own last backward pass does not hide
  Seconds gather;                       // G_i: what its own first forward pass does not hide
  Seconds slow_down;                    // of kernels beside the hidden part of both
  Seconds optimizer;
  std::optional<HostUpdate> offload;  // what it consists of, where the host's processors do it
  Seconds norm;
  std::int64_t buckets = 1;  // parts in which gradients become ready, and parameters are gathered

  StageMemory memory;  // at the schedule's most stashes in flight
  Bytes transient;     // of memory.workspace: held only while a task runs
  Bytes update;        // held while the optimizer works, when no stash is
  Bytes gradients;     // as they are then, where they come as stashes go; see StageCoster::fresh

  // Sums over the chunks, each pass for itself.
  [[nodiscard]] Seconds f() const;
  [[nodiscard]] Seconds b() const;
  // What pairs save of them, in the mean over the micro-batches.
  [[nodiscard]] Seconds saved() const;
  [[nodiscard]] StageTime time() const;
};

inline constexpr double kGradientBytes = 2;  // of a gradient as products write it

// The recipe with a plan's own optimizer and precision.
[[nodiscard]] Recipe recipe_for(Recipe recipe, const Training& training);

// Bytes of a layer's parameter as ZeRO gathers it, in the mean.
[[nodiscard]] double gather_bytes(const LayerTerms& terms, const Recipe& recipe);

// The share of a send that may hide behind compute.
[[nodiscard]] double send_overlap(const Overlap& overlap, Schedule schedule);

// The part of a stage's cost that does not depend on how many stashes it holds.
// What a stage's step depends on beside its layers.
struct StageStep {
  Zero zero;
  const LayerTerms* first = nullptr;  // with Resharding::Kind::first: of the layers that it names
  double tied = 0;                    // parameters of another stage's layers that it holds a copy of
  double shared = 0;                  // those of them that it sums over the pairs `ends`
  const Shapes* ends = nullptr;       // none: nothing is shared
  ScheduleShape shape;
  Schedule schedule = Schedule::one_f_one_b;
};

class StageCoster {
 public:
  // `collectives` outlive this. `margin`: the share of a device's memory that is kept free.
  StageCoster(Recipe recipe, const Cluster& cluster, const CollectiveModel& collectives, double margin = 0)
      : recipe_(std::move(recipe)),
        capacity_(cluster.device_memory()),
        margin_(round_up_bytes(margin * static_cast<double>(capacity_.value))),
        collectives_(&collectives),
        rates_(device_rates(cluster.accelerator())),
        host_(cluster.accelerator().host()) {}

  [[nodiscard]] const Recipe& recipe() const { return recipe_; }

  // A step over the same step if all devices were alike.
  [[nodiscard]] double waiting(std::int64_t devices) const;

  // What stays with a device between passes follows from these.
  struct Keeping {
    std::int64_t stages = 1;            // of the pipeline
    const LayerTerms* first = nullptr;  // as in StageStep
  };
  void chunk(const LayerTerms& terms, const StageNetwork& network, Zero zero, Schedule schedule,
             ChunkCost& out) const {
    chunk(terms, network, zero, schedule, {}, out);
  }
  void chunk(const LayerTerms& terms, const StageNetwork& network, Zero zero, Schedule schedule,
             const Keeping& keeping, ChunkCost& out) const;
  // Unhidden time of receiving from the other end of these pairs.
  [[nodiscard]] Seconds receive(Bytes bytes, const Shapes& from, Seconds beside, Schedule schedule,
                                Seconds* hidden = nullptr) const;
  // Reduces, gathers, optimizer and norm; `terms` are of the whole stage.
  void step(const LayerTerms& terms, const StageNetwork& network, const StageStep& step,
            StageCost& out) const;
  // A copy of a frozen weight that several stages use, of so many parameters.
  void add_frozen_copy(double parameters, LayerTerms& terms) const {
    terms.of(Term::frozen_dense) += parameters * static_cast<double>(recipe_.weight_bytes_per_parameter());
  }
  // Held while the optimizer works.
  [[nodiscard]] Bytes update(const LayerTerms& terms, const StageNetwork& network, Zero zero,
                             double tied) const;
  [[nodiscard]] StageMemory memory(const LayerTerms& terms, const StageNetwork& network, Zero zero,
                                   double tied, Bytes stashes) const {
    return memory(terms, network, zero, tied, stashes, {});
  }
  [[nodiscard]] StageMemory memory(const LayerTerms& terms, const StageNetwork& network, Zero zero,
                                   double tied, Bytes stashes, const Keeping& keeping) const;
  // Of a stage's gradients: those that exist only once the stashes are gone. They belong to what the update holds.
  [[nodiscard]] Bytes fresh(Bytes gradients, std::int64_t micro_batches) const {
    return recipe_.fresh_gradients && micro_batches == 1 ? gradients : Bytes{0};
  }
  // What the allocator holds beside so much, and what a device holds with that and the recipe's reserve.
  [[nodiscard]] Bytes fragmentation(Bytes allocated) const;
  [[nodiscard]] Bytes on_device(Bytes allocated) const;
  // The most that a device can allocate: on_device() of no more than that fits.
  [[nodiscard]] Bytes allocatable() const;
  // What every device keeps free of its memory.
  [[nodiscard]] Bytes margin() const { return margin_; }

 private:
  // Of ZeRO-2 and ZeRO-3 (stage_zero.cpp): the traffic of every micro-batch, what a step gathers once, and the bytes of
  // what is gathered at the fullest moment.
  void pass_traffic(const LayerTerms& terms, const StageNetwork& network, Zero zero, const Keeping& keeping,
                    ChunkCost& out) const;
  // Whether ranks that share gradients have them whole until the end of the step.
  [[nodiscard]] bool reduces_late(Zero zero, std::int64_t stages) const {
    return zero.reduces_every_micro_batch() && stages > 1 && recipe_.late_reduces;
  }
  [[nodiscard]] std::vector<StepCollective> kept_gathers(const LayerTerms& terms, const StageNetwork& network,
                                                         const StageStep& step) const;
  [[nodiscard]] double gathered_bytes(const LayerTerms& terms, const StageNetwork& network, Zero zero,
                                      const LayerTerms* first) const;
  [[nodiscard]] Seconds muon_time(const MuonStates& states, const StageNetwork& network,
                                  std::int64_t gradients) const;
  // What its bytes take of the device's memory.
  [[nodiscard]] double memory_time(CollectiveKind kind, double bytes) const;
  [[nodiscard]] double time(CollectiveKind kind, double bytes, const Shapes& shapes) const;

  Recipe recipe_;
  Bytes capacity_;
  Bytes margin_;
  const CollectiveModel* collectives_;
  DeviceRates rates_;
  HostShare host_;
};

}  // namespace nest::price
