// How one layer is split over the devices of a cell: the degrees of the sub-graph strategies. A sample:
//
//   spell(s)     ->  "tensor 8, sequence parallel, expert 4, expert tensor 1"
//   to_value(s)  ->  {"tensor": 8, "sequence_parallel": true, "context": 1, "context_method": "ring",
//                     "expert": 4, "expert_tensor": 1}
#pragma once

#include <cstdint>
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
  std::int64_t context_inner = 1;  // with hybrid: ranks of one all-to-all group, a divisor of `context`

  [[nodiscard]] std::int64_t expert_tensor_degree() const {
    return expert_tensor > 0 ? expert_tensor : tensor;
  }
  // Without tensor ranks there is nothing to shard the sequence over.
  [[nodiscard]] bool shards_sequence() const { return sequence_parallel && tensor > 1; }
  // Devices of a cell, lcm(t*c, x*e), and the micro-batches that it runs side by side.
  [[nodiscard]] std::int64_t cell() const;
  [[nodiscard]] std::int64_t side() const { return cell() / (tensor * context); }

  [[nodiscard]] bool overlaps_experts() const { return expert_overlap && expert > 1; }
  [[nodiscard]] Dispatcher used_dispatcher() const { return expert > 1 ? dispatcher : Dispatcher::alltoall; }

  // An expert tensor degree that is left out equals one that says the same; the method of context counts only
  // where there is context parallelism.
  bool operator==(const Strategy& other) const;
};

[[nodiscard]] std::string spell(const Strategy& strategy);

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
