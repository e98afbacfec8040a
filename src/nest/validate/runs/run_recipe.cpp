#include "nest/validate/runs/run_recipe.hpp"

#include <algorithm>
#include <array>

#include "nest/estimate/kernels/kernel_time.hpp"
#include "nest/validate/runs/fitted.hpp"

namespace nest::validate {
namespace {

struct Framework {
  std::string_view name;
  std::string_view base;    // named recipe
  StateDType parameters;    // as held between steps
  bool master_weights;      // a second copy in fp32
  StateDType gradients;     // as accumulated (bf16 here means the 16-bit type of the row)
  StateDType reduce;        // as sent
  double gradient_overlap;  // with the backward pass
  double gather_overlap;    // with the forward pass
  bool compiled;
  std::int64_t zero;  // defaults where the row is silent
  bool sequence_parallel;
  bool flash;
  int flash_generation = kNewestFlash;
  bool wide_bf16 = false;          // with bf16, gradients are added up and sent in fp32, beside a 16-bit copy
  std::int64_t stage_buffers = 0;  // a stage's inputs and outputs that the pipeline engine keeps
  bool broadcasts = false;         // parameters travel by one broadcast from each rank in turn
  bool pure = false;               // rows that say PURE send gradients in bf16
  bool operators = false;          // selective recomputation repeats operators, not core attention
  LowCasts low_casts = LowCasts::every_use;
  bool fused_loss = false;
  bool flat_shards = false;  // ZeRO-3 gathers into the place that is computed with, and reduces from it
};

constexpr auto kFp32 = StateDType::fp32;
constexpr auto kBf16 = StateDType::bf16;

// megatron            Megatron-Core: fp32 main gradients, distributed optimizer, both overlaps on
// megatron-2021       SC'21 and Korthikanti 2022 (fp16, no flash attention): all-reduce of fp16 gradients
// after the
//                     last backward pass, the optimizer whole on every rank, no sequence parallelism unless
//                     stated
// megatron-deepspeed  DeepSpeed's pipeline engine: gradients are reduced after the pipeline has drained and
//                     parameters gathered after the step; fp16 accumulates in fp16, BF16_Optimizer in fp32
// deepspeed           ZeRO-3 with prefetch (the rows of SC'21 that say so): 16-bit gradients
// fsdp                llm-foundry: PyTorch FSDP, not compiled, fp32 shards, bf16 gathers; gradients travel in
// fp32
//                     (mixed precision DEFAULT) or bf16 (PURE); its loss is one fused kernel
// torchtitan          FSDP2: fp32 shards, bf16 gathers, fp32 reduction
// maxtext             XLA: fp32 weights, cast before they are gathered, bf16 gradients, one compiled program
// internevo           overlap_sync_grad on, overlap_sync_param off in its configurations; bf16 gradients;
// tensor
//                     parallelism "mtp", without sequence parallelism
// alpa                XLA: compiled, collectives in the computation's stream
// colossalai          Gemini and ZeRO plugins: 16-bit gradients, reduced beside the backward pass
constexpr std::array<Framework, 11> kFrameworks{{
    {"megatron", "megatron", kBf16, true, kFp32, kFp32, 1, 1, false, 1, true, true, kNewestFlash, false, 0,
     false, false, false, LowCasts::cached},
    {"nemo-megatron",
     "megatron-bridge@2026-01",
     kBf16,
     true,
     kFp32,
     kFp32,
     1,
     1,
     false,
     1,
     true,
     true,
     kNewestFlash,
     false,
     0,
     false,
     false,
     false,
     LowCasts::held,
     true},
    {"megatron-2021", "megatron", kBf16, true, kBf16, kBf16, 0, 0, false, 0, false, false},
    {"megatron-deepspeed", "deepspeed", kBf16, true, kBf16, kBf16, 0, 0, false, 1, false, false, kNewestFlash,
     true, 2},
    {"deepspeed", "deepspeed", kBf16, true, kBf16, kBf16, 1, 1, false, 1, false, true},
    {"fsdp",
     "torchtitan",
     kFp32,
     false,
     kFp32,
     kFp32,
     1,
     1,
     false,
     3,
     false,
     true,
     1,
     false,
     0,
     false,
     true,
     false,
     LowCasts::cached,
     true,
     true},
    {"torchtitan", "torchtitan", kFp32, false, kFp32, kFp32, 1, 1, false, 3, true, true, 2, false, 0, false,
     false, true},
    {"maxtext", "maxtext", kFp32, false, kFp32, kBf16, 1, 1, true, 3, true, true},
    {"internevo", "deepspeed", kBf16, true, kBf16, kBf16, 1, 0, false, 1, false, true, 1, false, 0, true},
    {"alpa", "deepspeed", kBf16, true, kBf16, kBf16, 0, 0, true, 2, false, false},
    {"colossalai", "deepspeed", kBf16, true, kBf16, kBf16, 1, 0, false, 1, true, true},
}};

// The software of the run, where the column is too coarse: see the table.
std::string_view software_of(const RunRow& row) {
  const bool megatron = row.framework == "megatron" || row.framework == "nemo-megatron";
  if (megatron && mentions(row.notes, "DeepSpeed ZeRO")) return "deepspeed";
  if (megatron && row.flash == false && row.precision != "bf16") return "megatron-2021";
  return row.framework;
}

std::optional<Precision> precision_of(const RunRow& row) {
  const std::string& words = row.precision;
  if (row.precision_class == "fp4" || mentions(words, "fp4")) return Precision::nvfp4;
  if (mentions(words, "mx")) return Precision::mxfp8;
  if (mentions(words, "block") || mentions(words, "-sc")) return Precision::fp8_block;
  if (row.precision_class == "fp8" || mentions(words, "fp8")) return Precision::fp8;
  if (mentions(words, "fp16") || words == "16-bit mixed") return Precision::fp16;
  if (mentions(words, "bf16") || row.precision_class == "16bit") return Precision::bf16;
  return std::nullopt;
}

// Where no column says so, the notes of older tables do.
Dispatcher dispatcher_of(const RunRow& row) {
  if (const auto stated = find_dispatcher(row.dispatcher)) return *stated;
  for (const Dispatcher dispatcher : {Dispatcher::hybridep, Dispatcher::deepep}) {
    if (mentions(row.notes, name_of(dispatcher))) return dispatcher;
  }
  return Dispatcher::alltoall;
}

CudaGraphs graphs_of(const RunRow& row) {
  if (row.cuda_graph == "full_iteration") return CudaGraphs::whole;
  if (row.cuda_graph == "transformer_engine") return CudaGraphs::parts;
  if (!row.cuda_graph.empty()) return CudaGraphs::none;
  if (mentions(row.notes, "full cuda graph yes") || mentions(row.notes, "cuda graphs on"))
    return CudaGraphs::whole;
  return mentions(row.notes, "cuda graphs attn") ? CudaGraphs::parts : CudaGraphs::none;
}

StateDType in_16_bit(StateDType dtype, Precision precision) {
  return dtype == kBf16 && precision == Precision::fp16 ? StateDType::fp16 : dtype;
}

}  // namespace

RunRecipe run_recipe(const RunRow& row, const std::string& left_out) {
  const auto found = std::find_if(kFrameworks.begin(), kFrameworks.end(),
                                  [&](const Framework& f) { return f.name == software_of(row); });
  if (found == kFrameworks.end()) {
    return {std::nullopt, row.framework.empty() ? "the framework is not stated"
                                                : "the framework '" + row.framework + "' is not known"};
  }
  const auto precision = precision_of(row);
  if (!precision) {
    return {std::nullopt, row.precision.empty() && row.precision_class.empty()
                              ? "the precision is not stated"
                              : "the precision '" + row.precision + "' is not modelled"};
  }
  Recipe recipe = named_recipe(found->base);
  recipe.name = found->name;
  recipe.precision = *precision;
  recipe.parameter_dtype = in_16_bit(found->parameters, *precision);
  recipe.master_weights = found->master_weights;
  recipe.gradient_dtype = in_16_bit(found->gradients, *precision);
  recipe.reduce_dtype = in_16_bit(found->reduce, *precision);
  // DeepSpeed's BF16_Optimizer, for one, adds up in fp32 besides.
  recipe.gradient_copy = found->wide_bf16 && *precision == Precision::bf16;
  if (recipe.gradient_copy) recipe.gradient_dtype = recipe.reduce_dtype = kFp32;
  if (found->pure && row.notes.find("PURE") != std::string::npos) recipe.reduce_dtype = kBf16;
  // Rows that name a dtype add gradients up and send them in it.
  if (row.gradient_dtype == "bf16") recipe.gradient_dtype = recipe.reduce_dtype = kBf16;
  if (row.gradient_dtype == "fp32") recipe.gradient_dtype = recipe.reduce_dtype = kFp32;
  // Megatron-FSDP's guide sends gradients in 16 bits.
  if (found->name == "megatron" && row.zero == 3 && row.gradient_dtype.empty()) recipe.reduce_dtype = kBf16;
  if (found->flat_shards) recipe.copied_shards = false;
  recipe.flash_generation = found->flash_generation;
  recipe.gather_by_broadcast = found->broadcasts;
  put_fitted(recipe, found->name, left_out);
  if (!found->operators) recipe.selective_recompute = SelectiveRecompute::core_attention;
  recipe.dispatcher = dispatcher_of(row);
  recipe.expert_overlap = row.expert_overlap.value_or(mentions(row.notes, "all-to-all overlap"));
  recipe.cuda_graphs = graphs_of(row);
  recipe.low_casts = found->low_casts;
  recipe.fused_loss = recipe.fused_loss || found->fused_loss;
  recipe.stage_buffers = found->stage_buffers;
  recipe.compiled = row.compiled.value_or(found->compiled);
  recipe.overlap.gradient_reduce = found->gradient_overlap;
  recipe.overlap.parameter_gather = recipe.overlap.prefetch = found->gather_overlap;
  // Software that overlaps neither overlaps nothing else: asynchronous tensor collectives and sends came
  // later.
  const bool nothing = found->gradient_overlap == 0 && found->gather_overlap == 0;
  if (nothing || row.overlap == "none") recipe.overlap = {};
  return {std::move(recipe), "", found->zero, found->sequence_parallel, found->flash};
}

}  // namespace nest::validate
