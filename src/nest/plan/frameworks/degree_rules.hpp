// What the rules of several frameworks ask of a plan's degrees.
//
//   dense_group(p) == 16, shards(p) == 8, instances(p) == 2   // ZeRO over half of the ranks
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/inputs.hpp"

namespace nest::plan {

// Ranks that hold the same dense parameters: data and context ranks.
[[nodiscard]] std::int64_t dense_group(const Parallelism& p);
// Ranks that ZeRO shards over; 1 without ZeRO.
[[nodiscard]] std::int64_t shards(const Parallelism& p);
// Optimizers side by side, each sharded over a part of the ranks.
[[nodiscard]] std::int64_t instances(const Parallelism& p);

// bf16, fp16 or tensor-wise fp8; tokens by a plain all-to-all that nothing hides: what every target has a word for.
[[nodiscard]] bool usual_precision(const PlanDegrees& d);
[[nodiscard]] bool usual_exchange(const PlanDegrees& d);
[[nodiscard]] bool experts_with_sequence_parallel(const PlanDegrees& d);
// Interleaving of a pipeline of 2 or more, in whole rounds of micro-batches where the schedule needs them.
[[nodiscard]] bool micro_batches_in_rounds(const PlanDegrees& d);
[[nodiscard]] bool ring(const Strategy& s);
// Context parallelism by a ring alone or by an all-to-all alone.
[[nodiscard]] bool not_hybrid(const PlanDegrees& d);
// Gathered parameters are freed after every pass; those of all layers are kept, or of none.
[[nodiscard]] bool always_reshards(const PlanDegrees& d);
[[nodiscard]] bool reshards_all_or_none(const PlanDegrees& d);
// Ring attention balances its ranks by giving each a part of both halves.
[[nodiscard]] bool sequence_in_halves(const PlanDegrees& d);

// Rules on inputs.
[[nodiscard]] bool is_family(const PlanInputs& inputs, std::initializer_list<std::string_view> families);
// Without modules for multi-token prediction.
[[nodiscard]] bool without_mtp(const PlanInputs& inputs, const Training& training);
// With another optimizer than Muon.
[[nodiscard]] bool without_muon(const PlanInputs& inputs, const Training& training);
// With an optimizer on the device.
[[nodiscard]] bool without_offload(const PlanInputs& inputs, const Training& training);
// With activations on the device.
[[nodiscard]] bool activations_on_device(const PlanInputs& inputs, const Training& training);
// Devices with CUDA or ROCm.
[[nodiscard]] bool on_gpus(const PlanInputs& inputs, const Training& training);

// Dtypes that a plan chooses (Training::states): where it chooses none, exports say what of the recipe is lost.
// Each: whether nothing is chosen, or one of these.
[[nodiscard]] bool gradients_in(const Training& training, std::initializer_list<StateDType> dtypes);
[[nodiscard]] bool reductions_in(const Training& training, std::initializer_list<StateDType> dtypes);
[[nodiscard]] bool moments_in(const Training& training, std::initializer_list<StateDType> dtypes);
// Gradients are sent as they are added up, in fp32 or bf16: one buffer holds both.
[[nodiscard]] bool gradients_as_sent(const PlanInputs& inputs, const Training& training);

}  // namespace nest::plan
