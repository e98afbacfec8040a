#include "nest/frameworks/deepspeed/deepspeed_import.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "nest/frameworks/common/imported_run.hpp"
#include "nest/frameworks/common/settings.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::frameworks {
namespace {

constexpr const char* kOffloadOptimizerKey = "zero_optimization.offload_optimizer";
constexpr const char* kOffloadParametersKey = "zero_optimization.offload_param";
// Of zero_optimization: what changes a plan and is not read here.
constexpr std::array<std::pair<const char*, const char*>, 3> kNotPriced{{
    {"zero_optimization.zero_quantized_weights", "parameters are priced as sent in 16 bits"},
    {"zero_optimization.zero_quantized_gradients", "gradients are priced as sent whole"},
    {"activation_checkpointing.cpu_checkpointing", "activations are priced as kept on the device"},
}};
// Sections whose keys are all read, or named in a warning.
const std::vector<std::string_view> kTensor{"autotp_size",     "tp_size",         "preset_model",     "dtype",
                                            "tp_overlap_comm", "tensor_parallel", "partition_config", "tp"};
const std::vector<std::string_view> kPipeline{"stages",           "partition",
                                              "seed_layers",      "pipe_partitioned",
                                              "grad_partitioned", "activation_checkpoint_interval",
                                              "use_reentrant"};

class Import {
 public:
  Import(const Document& config, const DeepSpeedLaunch& launch, const ImportQuestion& question,
         Warnings& warnings)
      : question_(question),
        given_(question.given),
        file_(config),
        launch_(launch),
        run_{question, warnings, load_run_inputs(question, "deepspeed")} {}

  OpenPlan run() {
    load_run_model(run_);
    warn_what_is_not_priced();
    read_training();
    read_degrees();
    read_batch();
    read_zero();
    read_stages();
    if (!question_.recipe) read_recipe();
    return run_.finish();
  }

 private:
  void warn_what_is_not_priced() {
    if (device_of(kOffloadParametersKey) != "none")
      file_.warn(kOffloadParametersKey, "parameters are priced as kept on the device", run_.warnings);
    if (device_of(kOffloadOptimizerKey) == "nvme")
      file_.warn(kOffloadOptimizerKey, "the optimizer is priced as kept in host memory", run_.warnings);
    for (const auto& [key, sentence] : kNotPriced) {
      const Value* value = file_.find(key);
      const bool off = value == nullptr || *value == Value(false) || *value == Value(0) || *value == Value(1);
      if (!off || (value != nullptr && *value == Value(true))) file_.warn(key, sentence, run_.warnings);
    }
    file_.warn_unknown("tensor_parallel", kTensor, run_.warnings);
    file_.warn_unknown("pipeline", kPipeline, run_.warnings);
  }

  [[nodiscard]] std::string device_of(const char* key) const {
    return file_.text(fmt::format("{}.device", key)).value_or("none");
  }

  // What the file says, or an option, or nobody.
  [[nodiscard]] std::optional<std::int64_t> size(const char* key, const std::optional<std::int64_t>& option,
                                                 const char* word) const {
    const auto own = file_.whole(key);
    if (own && option && *own != *option)
      file_.fail(key, fmt::format("{}, but {} {} is asked for", *own, word, *option));
    return own ? own : option;
  }

  void assume(const char* key, const std::string& what, const char* option) const {
    if (file_.automatic(key))
      file_.warn(key, fmt::format("\"auto\" is not known here: {} is assumed, {} sets another", what, option),
                 run_.warnings);
  }

  void read_training() {
    Training& t = run_.plan.training;
    t.sequence = given_.sequence.value_or(run_.inputs.default_sequence());
    if (!given_.sequence)
      run_.warn(fmt::format("the sequence length is not in it: {} is assumed, --sequence sets another",
                            t.sequence));
    const std::string type = file_.text("optimizer.type").value_or("AdamW");
    const bool adam = type.find("Adam") != std::string::npos || type.find("adam") != std::string::npos;
    if (!adam && type.find("Lamb") != std::string::npos) {
      file_.warn("optimizer.type", fmt::format("{} is priced as Adam, which keeps as much", type),
                 run_.warnings);
    } else if (!adam && type != "SGD") {
      file_.fail("optimizer.type", fmt::format("Adam, AdamW or SGD is expected, not '{}'", type));
    }
    t.optimizer = type == "SGD" ? Optimizer::sgd : Optimizer::adam;
    t.precision = read_precision();
    // The older of the two has no other device.
    t.states.offload.optimizer = device_of(kOffloadOptimizerKey) != "none" ||
                                 file_.boolean("zero_optimization.cpu_offload").value_or(false);
  }

  [[nodiscard]] Precision read_precision() const {
    const bool bf16 =
        file_.boolean("bf16.enabled").value_or(file_.boolean("bfloat16.enabled").value_or(false));
    const bool fp16 = file_.boolean("fp16.enabled").value_or(false);
    if (bf16 && fp16) file_.fail("fp16.enabled", "bf16 and fp16 are both on");
    if (bf16) return Precision::bf16;
    if (fp16) return Precision::fp16;
    if (given_.precision) return *given_.precision;
    const bool automatic = file_.automatic("bf16.enabled") || file_.automatic("fp16.enabled");
    if (!automatic)
      throw InputError(question_.file, "bf16",
                       "neither bf16 nor fp16 is on: a plan has no training in 32 bits",
                       "--precision sets one");
    assume(file_.automatic("bf16.enabled") ? "bf16.enabled" : "fp16.enabled", "bf16", "--precision");
    return Precision::bf16;
  }

  void read_degrees() {
    Parallelism& p = run_.plan.parallelism;
    Strategy& s = p.strategy;
    const char* tensor = file_.find("tensor_parallel.tp.tp_size") != nullptr ? "tensor_parallel.tp.tp_size"
                                                                             : "tensor_parallel.autotp_size";
    s.tensor = size(tensor, given_.tensor, "--tensor").value_or(1);
    s.context = size("sequence_parallel_size", given_.context, "--context").value_or(1);
    s.context_method = ContextMethod::all_to_all;
    s.expert = given_.expert.value_or(1);
    s.expert_tensor = s.tensor;
    p.pipeline = size("pipeline.stages", given_.pipeline, "--pipeline").value_or(1);
    assume("pipeline.stages", "1", "--pipeline");
  }

  // Of global batch, micro-batch and accumulation steps, DeepSpeed derives what is not there.
  void read_batch() {
    Training& t = run_.plan.training;
    auto batch = size("train_batch_size", given_.global_batch, "--global-batch");
    auto micro = size("train_micro_batch_size_per_gpu", given_.micro_batch, "--micro-batch");
    const auto steps = file_.whole("gradient_accumulation_steps");
    run_.ranks = launch_.ranks;
    constexpr std::int64_t kMost = 1'000'000'000;
    if (micro.value_or(1) * steps.value_or(1) > kMost)
      file_.fail("gradient_accumulation_steps", "the batch of one rank is too large");
    if (batch && micro && steps) {
      if (*batch % (*micro * *steps) != 0)
        file_.fail("train_batch_size",
                   fmt::format("{} is not a multiple of micro-batch {} x {} accumulation steps", *batch,
                               *micro, *steps));
      run_.data = *batch / (*micro * *steps);
    }
    t.micro_batch = micro.value_or(1);
    run_.global_batch = batch;
    run_.settle_ranks();
    const std::int64_t data = run_.plan.parallelism.data;
    if (!micro && batch) {
      const std::int64_t once = data * steps.value_or(1);
      if (*batch % once != 0)
        file_.fail("train_batch_size",
                   fmt::format("{} does not divide over {} data ranks{}", *batch, data,
                               steps ? fmt::format(" and {} accumulation steps", *steps) : ""));
      t.micro_batch = *batch / once;
      micro = t.micro_batch;
    }
    if (!micro) assume_micro_batch();
    if (!batch) {
      batch = t.micro_batch * data * steps.value_or(1);
      assume("train_batch_size", std::to_string(*batch), "--global-batch");
    }
    run_.global_batch = batch;
    run_.settle_batch("train_batch_size");
  }

  void assume_micro_batch() {
    if (file_.automatic("train_micro_batch_size_per_gpu")) {
      assume("train_micro_batch_size_per_gpu", "1", "--micro-batch");
    } else {
      run_.warn("the micro-batch is not in it: 1 is assumed, --micro-batch sets another");
    }
  }

  void read_zero() {
    const std::int64_t stage = file_.whole("zero_optimization.stage", 0).value_or(0);
    if (file_.automatic("zero_optimization.stage"))
      file_.warn("zero_optimization.stage", "\"auto\" is not known here: 0 is assumed", run_.warnings);
    if (stage > Zero::kMost)
      file_.fail("zero_optimization.stage", fmt::format("0 to 3 is expected, not {}", stage));
    const std::int64_t part = file_.whole("zero_optimization.mics_shard_size", -1).value_or(-1);
    const std::int64_t group = run_.plan.parallelism.data * run_.plan.parallelism.strategy.context;
    if (part > 0 && group % part != 0)
      file_.fail("zero_optimization.mics_shard_size",
                 fmt::format("{} does not divide {} ranks", part, group));
    const std::int64_t near = file_.whole("zero_optimization.zero_hpz_partition_size", 1).value_or(1);
    const bool fits = Zero(stage).shards_parameters() && resharding_group_fits(near, part > 0 ? part : group);
    if (near > 1 && !fits)
      file_.warn("zero_optimization.zero_hpz_partition_size",
                 "parameters are priced as gathered from all ranks", run_.warnings);
    run_.settle_shards(fits ? Zero(stage, {Resharding::Kind::group, near}) : Zero(stage),
                       part > 0 ? part : group);
  }

  // PipelineModule's 'uniform' counts layers; other methods are near to equal numbers of blocks.
  void read_stages() {
    Parallelism& p = run_.plan.parallelism;
    if (p.pipeline > 1) {
      const auto layers =
          static_cast<std::int64_t>(layer_chain(run_.inputs, run_.plan.training.sequence).names.size());
      if (p.pipeline > layers)
        file_.fail("pipeline.stages", fmt::format("{} stages of {} layers", p.pipeline, layers));
      std::vector<std::int64_t> parts = bounds_beside(layers);
      if (parts.empty() && file_.text("pipeline.partition").value_or("") == "uniform") {
        for (std::int64_t i = 0; i < p.pipeline; ++i)
          parts.push_back(layers / p.pipeline + (i < layers % p.pipeline ? 1 : 0));
      }
      if (!parts.empty()) cut_stages(run_.plan, parts);
    }
    run_.recompute_all({recomputes() ? RecomputePolicy::full : RecomputePolicy::none, 0});
  }

  // Layers of each stage as the partition.json of an export has them.
  [[nodiscard]] std::vector<std::int64_t> bounds_beside(std::int64_t layers) const {
    std::vector<std::int64_t> parts;
    const auto text = question_.read_beside("partition.json");
    if (!text) return parts;
    const Document document = parse_json("partition.json", *text);
    const Value* bounds = document.root.find("bounds");
    const Value::Array* all = bounds == nullptr ? nullptr : bounds->as_array();
    if (all == nullptr || static_cast<std::int64_t>(all->size()) != run_.plan.parallelism.pipeline + 1)
      return parts;
    std::int64_t before = 0;
    for (std::size_t i = 1; i < all->size(); ++i) {
      const std::int64_t* bound = (*all)[i].as_int();
      if (bound == nullptr || *bound <= before || *bound > layers) return {};
      parts.push_back(*bound - before);
      before = *bound;
    }
    return before == layers ? parts : std::vector<std::int64_t>{};
  }

  [[nodiscard]] bool recomputes() const {
    if (given_.recompute) return *given_.recompute == RecomputePolicy::full;
    if (launch_.recompute) return *launch_.recompute;
    if (const auto interval = file_.whole("pipeline.activation_checkpoint_interval", 0)) return *interval > 0;
    return file_.boolean("activation_checkpointing.partition_activations").value_or(false) ||
           file_.find("activation_checkpointing.number_checkpoints") != nullptr;
  }

  void read_recipe() {
    Recipe& recipe = run_.inputs.recipe;
    const auto dtype = [&](const char* key) -> std::optional<StateDType> {
      const auto word = file_.text(key);
      if (!word) return std::nullopt;
      for (const StateDType each : {StateDType::fp32, StateDType::bf16, StateDType::fp16}) {
        if (*word == name_of(each)) return each;
      }
      file_.fail(key, fmt::format("fp32, bf16 or fp16 is expected, not '{}'", *word));
    };
    if (const auto own = dtype("data_types.grad_accum_dtype")) recipe.gradient_dtype = *own;
    if (const auto own = dtype("communication_data_type")) recipe.reduce_dtype = *own;
    const Zero zero = run_.plan.parallelism.zero;
    if (!file_.boolean("zero_optimization.overlap_comm").value_or(zero.shards_parameters()))
      recipe.overlap.gradient_reduce = 0;
    constexpr std::int64_t kUsual = 500'000'000;  // elements
    const std::int64_t elements = file_.whole("zero_optimization.reduce_bucket_size").value_or(kUsual) +
                                  file_.whole("zero_optimization.allgather_bucket_size").value_or(kUsual);
    recipe.buckets = Bytes(2 * elements);
  }

  const ImportQuestion& question_;
  const GivenSizes& given_;
  Settings file_;
  DeepSpeedLaunch launch_;
  ImportedRun run_;
};

}  // namespace

OpenPlan import_deepspeed(const Document& config, const DeepSpeedLaunch& launch,
                          const ImportQuestion& question, Warnings& warnings) {
  return Import(config, launch, question, warnings).run();
}

OpenPlan import_deepspeed(const ImportQuestion& question, Warnings& warnings) {
  return import_deepspeed(parse_document(question.file, question.text), {}, question, warnings);
}

}  // namespace nest::frameworks
