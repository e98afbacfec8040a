// How a model is trained: precision, optimizer, dtypes, what overlaps with what, and the memory that is kept
// back. Named recipes (megatron, torchtitan, deepspeed, plain) hold each framework's defaults; a file states
// what differs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/dispatcher.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/embedded.hpp"
#include "nest/base/units.hpp"
#include "nest/recipe/precision.hpp"
#include "nest/recipe/recompute_modules.hpp"

namespace nest::recipe {

// Muon updates matrices of repeated blocks, with one momentum and an orthogonalization; Adam does the rest.
enum class Optimizer { adam, sgd, muon };
// What a framework runs again when it recomputes selectively: the attention core, every second product with all
// element-wise work, or the recipe's modules.
enum class SelectiveRecompute { core_attention, operators, modules };
// How a micro-batch's gradients of weights are added to those before it.
enum class GradientAccumulation {
  fused,   // the products themselves add to the gradient buffer: one more read, and a write as wide as it
  copied,  // 16-bit gradients are read and written into the buffer that is reduced
  wider,   // as fused, but for 16-bit gradients, which cost nothing besides the products' own writes
};
// When operands of products are cast to a low precision, and what is held of them.
enum class LowCasts {
  every_use,  // both operands before each product, three times a layer; what is kept stays in 16 bits (torchao)
  cached,  // inputs once, for all their uses, and kept so; weights once a step, held beside the 16-bit ones
  held,    // as cached, but weights are held and gathered in the low precision alone (fp8-param-gather)
};
// What is launched as CUDA graphs, which the host issues at once.
enum class CudaGraphs {
  none,
  parts,  // attention, router and what prepares the dispatch; experts are launched one by one
  whole,  // the iteration
};
// Dtypes of values that are held or sent between steps; 8 bits are for the optimizer's states alone.
enum class StateDType { fp32, bf16, fp16, fp8 };

[[nodiscard]] std::string_view name_of(Optimizer optimizer);
// Adam has two names: with decoupled weight decay it takes as long and holds as much.
[[nodiscard]] std::optional<Optimizer> find_optimizer(std::string_view name);
[[nodiscard]] const std::vector<std::string>& optimizer_names();
[[nodiscard]] std::string_view name_of(StateDType dtype);
[[nodiscard]] std::string_view name_of(CudaGraphs graphs);
[[nodiscard]] std::int64_t size_of(StateDType dtype);

// Shares (0 to 1) of a collective's time that may hide behind compute.
struct Overlap {
  double gradient_reduce = 0;
  double parameter_gather = 0;
  double pipeline = 0;
  double tensor = 0;
  double context = 0;
  double expert = 0;
  double prefetch = 0;  // ZeRO-3's gathers, a layer ahead
  // Sends of interleaved schedules, which frameworks overlap where they do not overlap those of 1F1B.
  double interleaved_sends = 0;
  // Tensor collectives of the backward pass, behind products of weight gradients, besides `tensor`.
  double tensor_backward = 0;
  // Time that kernels lose beside communication, per second of it that is hidden: the multiprocessors that its
  // kernels take. Besides, `memory_bound` of the compute waits for memory, and loses what communication takes of
  // its bandwidth.
  double slow_down = 0;
  double memory_bound = 0;

  // Whether any communication hides: the last two are prices of that.
  [[nodiscard]] bool hides_anything() const {
    for (const double share : {gradient_reduce, parameter_gather, pipeline, tensor, context, expert, prefetch,
                               interleaved_sends, tensor_backward}) {
      if (share > 0) return true;
    }
    return false;
  }
  bool operator==(const Overlap&) const = default;
};

// What lies in host memory.
struct Offload {
  // States and master weights, which the host's processors update: gradients go out, weights come back.
  bool optimizer = false;
  // What layers keep from their forward to their backward passes: it goes out and comes back beside the passes.
  bool activations = false;

  [[nodiscard]] bool any() const { return optimizer || activations; }
  bool operator==(const Offload&) const = default;
};

struct Recipe {
  std::string name;
  std::string source;
  std::string compared;  // with which runs, versions and days; empty: with none
  std::string framework;
  Precision precision = Precision::bf16;
  Optimizer optimizer = Optimizer::adam;
  bool momentum = false;  // sgd only: one more state
  bool master_weights = true;
  StateDType parameter_dtype = StateDType::bf16;  // as held between steps; compute uses `precision`
  StateDType gradient_dtype = StateDType::fp32;
  StateDType reduce_dtype = StateDType::fp32;
  StateDType optimizer_dtype = StateDType::fp32;  // of the optimizer's states
  LowCasts low_casts = LowCasts::every_use;
  bool compiled = false;
  bool fused_projections = false;  // projections of one input run as one product (q, k and v; gate and up)
  bool fused_passes = false;       // hand-written kernels join element-wise passes, and keep less
  // Every link at its stated bandwidth, the best algorithms, one level after the other: for hand
  // calculations. With levels_at_once, levels may work at the same time too: no library is faster.
  bool ideal_network = false;
  bool levels_at_once = false;
  // Norms by root mean square are written out in 32-bit operations (Transformers), unless they are compiled.
  bool plain_norms = false;
  bool masked_windows = false;  // a sliding window is a mask over all keys, for which kernels are slower
  bool split_documents =
      false;  // a context ring shares every document of a sequence, not the sequence as a whole
  bool flash_attention = true;  // false: attention writes, keeps and reads its scores
  int flash_generation = 3;     // of flash kernels: 1 and 2 are older and slower
  bool fused_loss = false;      // one kernel makes loss and gradient, in the place of the 16-bit logits
  bool dropout = false;         // of attention and of what layers add to the residual stream
  bool optimizer_time = true;   // whether the optimizer step and the gradient norm take time
  // ZeRO-1 and ZeRO-2 send updated parameters by one broadcast from each rank in turn, not by an all-gather.
  bool gather_by_broadcast = false;
  GradientAccumulation accumulation = GradientAccumulation::copied;
  // Memory traffic per parameter and micro-batch for adding up gradients, beyond the 16-bit gradients that
  // products write; none: what `accumulation` says.
  std::optional<double> accumulation_bytes;
  // Gradients are freed after the update: with one micro-batch they come as activations go.
  bool fresh_gradients = false;
  bool scaled_gradients =
      false;        // clipping multiplies all gradients at every step (PyTorch), not only where needed
  Offload offload;  // a choice of plans (States), which no file of a recipe makes
  bool early_stop = false;  // full recomputation ends where nothing more is kept (PyTorch's checkpointing)
  bool zeroed_gradients = false;  // the gradient buffer is kept from step to step, and zeroed
  Bytes buckets;                  // of reductions and gathers, besides the tensors themselves
  bool library_memory = true;     // the driver's context and communicators take memory (validation)
  // Parameters are copied out of the buffer that a gather of ZeRO-3 fills, and gradients into the one that is
  // reduced (FSDP2), by kernels that nothing hides.
  bool copied_shards = false;
  std::int64_t prefetch_layers = 1;  // gathered by ZeRO-3 ahead of the layer that is computed
  double zero_time = 1;              // ZeRO-2 and ZeRO-3 traffic takes so many times as long
  // Of what is allocated: held by the allocator besides. The median of the nine training steps of
  // data/profiles/h200.json.
  double fragmentation = 0.04;
  double step_bytes = 0;  // held for each updated parameter while the optimizer works, besides its states
  SelectiveRecompute selective_recompute = SelectiveRecompute::core_attention;
  RecomputeModules recompute_modules;  // of SelectiveRecompute::modules
  bool gradient_copy = false;          // 16-bit gradients are kept beside wider ones
  std::int64_t stage_buffers = 0;  // boundary tensors kept for each micro-batch in flight, besides the stash
  double host_time = 1;            // issuing a kernel takes so many times as long as from plain PyTorch
  double jitter = 0;       // standard deviation of the ranks' times, over the mean: all wait for the slowest
  double kernel_time = 1;  // every kernel takes so many times as long as estimated
  double expert_imbalance = 1;  // load of the fullest expert over the mean
  // Rows of an expert over the mean, beyond which tokens are dropped; every expert then works on so many, filled
  // up where it got fewer. 0: no token is dropped.
  double capacity_factor = 0;
  Dispatcher dispatcher = Dispatcher::alltoall;
  bool low_gathers = false;     // tensor ranks gather what low-precision products take in that precision
  bool low_dispatch = false;    // rows travel to the experts in 8 bits with scales; the way back is 16 bits
  bool expert_overlap = false;  // exchanges of one micro-batch run beside the compute of another
  bool shared_overlap = false;  // shared experts run beside the exchanges
  CudaGraphs cuda_graphs = CudaGraphs::none;
  Bytes reserve;
  Overlap overlap;

  bool operator==(const Recipe&) const = default;

  // Bytes held per parameter, before any sharding.
  [[nodiscard]] std::int64_t weight_bytes_per_parameter() const { return size_of(parameter_dtype); }
  // Besides, of weights whose products are computed in `precision`: copies in it, along rows and along columns.
  [[nodiscard]] double low_bytes_per_parameter() const;
  // Of a parameter as ZeRO gathers it: as it is computed with, also where it is held in 32 bits.
  [[nodiscard]] double gather_bytes_per_parameter(bool low) const;
  [[nodiscard]] std::int64_t gradient_bytes_per_parameter() const {
    return size_of(gradient_dtype) + (gradient_copy ? 2 : 0);
  }
  [[nodiscard]] std::int64_t optimizer_bytes_per_parameter() const;
  // Of host memory, where the optimizer is offloaded: its states, the weights as it updates them, and the gradients.
  [[nodiscard]] std::int64_t host_bytes_per_parameter() const;
  // The same of matrices that Muon updates.
  [[nodiscard]] std::int64_t matrix_bytes_per_parameter() const;
};

inline constexpr std::string_view kDefaultRecipe = "megatron";

[[nodiscard]] std::vector<std::string> recipe_names();
// "megatron-bridge", or with the month of the software: "megatron-bridge@2026-03" leaves out what later releases
// changed.
[[nodiscard]] Recipe named_recipe(std::string_view name);

// Missing keys take the value of the recipe that `framework` names (Megatron's where it is missing too).
[[nodiscard]] Recipe read_recipe(const Document& document, const std::string& name);

// A name, or a file (see looks_like_file of base).
[[nodiscard]] Recipe load_recipe(const std::string& name_or_file);

// In the file format, plain numbers: reads back as the same recipe.
[[nodiscard]] Value to_value(const Recipe& recipe);

// The files of data/recipes, compiled in.
[[nodiscard]] std::span<const EmbeddedFile> recipe_files();

}  // namespace nest::recipe
