// Operators of one layer, and the table of their kinds: adding a kind is one row in operator.cpp.
// FLOPs count the multiplications and additions of matrix products, two per pair; element-wise work shows in
// bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/dispatcher.hpp"
#include "nest/base/units.hpp"
#include "nest/model/graph/packing.hpp"
#include "nest/model/graph/tensor.hpp"

namespace nest::model {

enum class OperatorKind {
  embedding,       // rows of a table by token id
  position,        // learned positions (and token types) added
  matmul,          // one input times one or several weights side by side
  grouped_matmul,  // the same per expert, rows grouped by expert
  attention,       // softmax(q k^T) v, as one fused kernel or as products around a softmax
  rms_norm,
  layer_norm,
  rotary,
  swiglu,  // silu(gate) * up
  geglu,   // gelu(gate) * up
  gelu,
  relu,
  tanh,
  add,         // residual
  scale,       // by a number or a gate per token
  router,      // softmax over experts and top-k
  dispatch,    // rows copied to expert order
  combine,     // expert rows back in token order, weighted
  select,      // one position of the sequence (a class token, the last token)
  unfold,      // windows of a convolution laid out as rows
  loss,        // cross-entropy over the last axis
  contrast,    // contrastive loss of two towers over the batch
  scan,        // along the sequence, with a state: state spaces, delta rules, short convolutions
  collective,  // inserted by strategies
};

// What a kind keeps for its backward pass beyond what the builder names: a property of the kind, not of the
// model.
struct OperatorKindRow {
  OperatorKind kind;
  std::string_view name;
  bool matrix;         // its time comes from FLOPs as well as bytes
  bool keeps_inputs;   // backward reads the inputs again
  bool keeps_outputs;  // backward reads the outputs again
};

[[nodiscard]] const OperatorKindRow& row_of(OperatorKind kind);

using TensorIndex = std::size_t;  // into the tensors of one layer

// Which public kernel a scan runs as; what none is made for is `other`.
enum class ScanKernel {
  other,
  convolution,         // each channel with its own few taps
  state_space,         // Mamba 2: one decay for each head
  selective_scan,      // Mamba: a decay for each channel and state
  delta_rule,          // gated, one decay for each head (Qwen3-Next)
  channel_delta_rule,  // a decay for each channel (Kimi linear)
  linear_attention,    // fixed decays, or none
};

// Facts of an attention core that its tensors do not show.
struct AttentionFacts {
  bool causal = false;
  std::int64_t window = 0;  // keys that one query sees at most; 0 = all
  std::int64_t chunk =
      0;  // a query sees keys of its own stretch of so many alone, as `packed` has it; 0 = all
  // One kernel that never writes the scores. Otherwise two batched products over the whole square, masked or
  // not, with a softmax between them, and its result kept.
  bool flash = true;
  bool dropout = false;  // of the softmax's result; a fused kernel draws its mask again
  std::shared_ptr<const Packing>
      packed{};        // documents that see themselves alone; none: one fills the sequence
  double slowest = 1;  // time of the context rank with the most pairs over the mean, see Packing::slowest
  std::int64_t chosen = 0;  // keys that are then chosen for each query by its scores; 0: none
};

// Collectives, as operators that strategies insert between others.
enum class CollectiveKind { none, all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, send };
// Which of a cell's devices take part: those that differ in this coordinate alone.
enum class GroupAxis {
  tensor,
  context,
  expert,
  expert_tensor,
  context_inner,  // hybrid context parallelism: ranks that trade the sequence for heads,
  context_outer,  // and those of the same place in each such group
};
inline constexpr std::size_t kGroupAxes = 6;
[[nodiscard]] constexpr bool of_context(GroupAxis axis) {
  return axis == GroupAxis::context || axis == GroupAxis::context_inner || axis == GroupAxis::context_outer;
}

// An exchange of tokens with the devices of their experts, as dispatchers carry it out.
struct TokenRoute {
  Dispatcher dispatcher = Dispatcher::alltoall;
  std::int64_t experts = 0;  // 0: not an exchange of tokens
  std::int64_t top_k = 1;
  std::int64_t groups = 0;  // of experts, of which a token's experts lie in `limit` at most; 0: no limit
  std::int64_t limit = 0;
  double token_bytes = 1;  // of one token, in 16 bits
  bool back = false;       // results that come back and are added up
  bool low = false;        // 8 bits a value with scales, on the way to the experts

  bool operator==(const TokenRoute&) const = default;
};

struct CollectiveCall {
  CollectiveKind forward = CollectiveKind::none;
  CollectiveKind backward = CollectiveKind::none;
  GroupAxis group = GroupAxis::tensor;
  // Size of the whole tensor over the group, which is what collectives are quoted in: the input of an
  // all-reduce, the gathered output of an all-gather, the full input of a reduce-scatter, what one member
  // sends in an all-to-all.
  Bytes forward_bytes;
  Bytes backward_bytes;
  // Ring context parallelism: so many equal sends one after the other, each beside one step of attention.
  std::int64_t repeats = 1;
  double share = 1;  // of its tensors, in the mean over the repeats: what somebody needs
  // Where the group is a part of its axis (two-dimensional strategies): its members, and the step between
  // them; 0 = the whole axis.
  std::int64_t members = 0;
  std::int64_t stride = 1;
  TokenRoute route;

  bool operator==(const CollectiveCall&) const = default;
};

struct Operator {
  std::string name;
  OperatorKind kind = OperatorKind::matmul;
  std::vector<TensorIndex> inputs;
  std::vector<TensorIndex> parameters;  // roles parameter and shared
  std::vector<TensorIndex> outputs;
  std::vector<TensorIndex> keeps;  // held from forward to backward
  Flops forward_flops;
  Flops
      uncounted;  // of these: computed element by element where torch runs it, which its counter does not see
  // For embedding and position: bytes of parameters touched, which are rows and not the table.
  Bytes parameter_bytes_read;
  AttentionFacts attention;
  CollectiveCall collective;            // where kind is collective
  ScanKernel scan = ScanKernel::other;  // where kind is scan
};

// What one attention core works on.
struct AttentionSizes {
  std::int64_t batch = 1;
  std::int64_t queries = 1;
  std::int64_t heads = 1;
  std::int64_t key_dim = 1;
  std::int64_t keys = 1;
  std::int64_t kv_heads = 1;
  std::int64_t value_dim = 1;
};

// FLOPs of one attention core: two products over the (query, key) pairs that the mask leaves.
[[nodiscard]] Flops attention_flops(const AttentionSizes& sizes, const AttentionFacts& shape);

}  // namespace nest::model
