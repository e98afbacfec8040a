// How one layer is split over the devices of a cell: the degrees of the sub-graph strategies. A sample:
//
//   spell(s)     ->  "tensor 8, sequence parallel, expert 4, expert tensor 1"
//   to_value(s)  ->  {"tensor": 8, "sequence_parallel": true, "context": 1, "context_method": "ring",
//                     "expert": 4, "expert_tensor": 1}
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nest/base/dispatcher.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/model/graph/operator.hpp"

namespace nest::strategies {

enum class ContextMethod {
  ring,        // keys and values go round the context group
  all_to_all,  // sequence shards become head shards around the attention core (Ulysses)
  hybrid,      // all_to_all inside groups of `context_inner` ranks, a ring of such groups across
};

[[nodiscard]] std::string_view name_of(ContextMethod method);

struct Strategy {
  std::int64_t tensor = 1;
  bool sequence_parallel = false;
  std::int64_t context = 1;
  ContextMethod context_method = ContextMethod::ring;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 0;  // 0: as tensor
  // Where experts are spread: how their tokens travel, and whether that runs beside another micro-batch's compute.
  Dispatcher dispatcher = Dispatcher::alltoall;
  bool expert_overlap = false;
  // With hybrid: ranks of one all-to-all group, a divisor of `context` that is neither 1 nor all of it.
  std::int64_t context_inner = 1;

  [[nodiscard]] std::int64_t expert_tensor_degree() const {
    return expert_tensor > 0 ? expert_tensor : tensor;
  }
  // Without tensor ranks there is nothing to shard the sequence over.
  [[nodiscard]] bool shards_sequence() const { return sequence_parallel && tensor > 1; }
  // Devices of a cell, lcm(t*c, x*e), and the micro-batches that it runs side by side.
  [[nodiscard]] std::int64_t cell() const;
  [[nodiscard]] std::int64_t side() const { return cell() / (tensor * context); }

  [[nodiscard]] bool hybrid() const { return context > 1 && context_method == ContextMethod::hybrid; }
  // Of the context ranks: those that trade shares of the sequence for heads, and as many such groups as keys and
  // values go round.
  [[nodiscard]] std::int64_t trading_ranks() const {
    if (context_method == ContextMethod::ring) return 1;
    return hybrid() ? context_inner : context;
  }
  [[nodiscard]] std::int64_t ring_ranks() const { return context / trading_ranks(); }
  // One number for the method and the size of its groups: 0 is a ring, and no context parallelism.
  [[nodiscard]] std::int64_t context_key() const {
    if (context == 1) return 0;
    return hybrid() ? 2 + context_inner : static_cast<std::int64_t>(context_method);
  }

  [[nodiscard]] bool overlaps_experts() const { return expert_overlap && expert > 1; }
  [[nodiscard]] Dispatcher used_dispatcher() const { return expert > 1 ? dispatcher : Dispatcher::alltoall; }

  // An expert tensor degree that is left out equals one that says the same; the method of context counts only
  // where there is context parallelism, and the size of its inner groups only with hybrid.
  bool operator==(const Strategy& other) const;
};

[[nodiscard]] std::string spell(const Strategy& strategy);

// What is wrong with the size of hybrid's all-to-all groups: those of one rank are a ring, and a group of all ranks is
// all_to_all. Empty where nothing is.
[[nodiscard]] std::string context_inner_problem(const Strategy& strategy);

// The axes along which a cell's devices form groups; those of hybrid context parallelism only where it is used.
[[nodiscard]] std::span<const GroupAxis> group_axes(const Strategy& strategy);
// Devices that take part in a collective of this strategy.
[[nodiscard]] std::int64_t degree_of(const Strategy& strategy, GroupAxis axis);
[[nodiscard]] std::int64_t group_size(const Strategy& strategy, const CollectiveCall& collective);
// Bytes that one device of a cell sends to the next stage: the edge's tensor, split as the layers' inputs and
// outputs are: over the context group, and over the tensor group with sequence parallelism.
[[nodiscard]] Bytes boundary_bytes(Bytes whole, const Strategy& strategy);

// The contract's keys; the expert tensor degree is written out.
[[nodiscard]] Value to_value(const Strategy& strategy);
// Reads those keys of an object that may hold others. Missing ones: degree 1, expert tensor as tensor,
// sequence parallel on where tensor is above 1, ring.
// The dispatcher and its overlap: those of `defaults`.
[[nodiscard]] Strategy read_strategy(Reader& reader, const Strategy& defaults = {});

}  // namespace nest::strategies
