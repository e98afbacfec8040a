#include "nest/frameworks/megatron/megatron_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/common/imported_run.hpp"
#include "nest/frameworks/megatron/megatron_config.hpp"
#include "nest/frameworks/megatron/megatron_layout.hpp"
#include "nest/frameworks/megatron/megatron_shape.hpp"
#include "nest/frameworks/megatron/megatron_stages.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/recipe/module_text.hpp"

namespace nest::frameworks {
namespace {

// What is read here or means nothing to a plan; other flags with a word of kTelling are named in a warning.
constexpr const char* kDistMuon = "dist_muon";  // Muon whose matrices belong to data ranks
constexpr std::array kKnown{"--tensor-model-parallel-size",
                            "--pipeline-model-parallel-size",
                            "--context-parallel-size",
                            "--expert-model-parallel-size",
                            "--expert-tensor-parallel-size",
                            "--sequence-parallel",
                            "--cp-comm-type",
                            "--hierarchical-context-parallel-sizes",
                            "--pipeline-model-parallel-layout",
                            "--num-virtual-stages-per-pipeline-rank",
                            "--num-layers-per-virtual-pipeline-stage",
                            "--decoder-first-pipeline-num-layers",
                            "--decoder-last-pipeline-num-layers",
                            "--account-for-embedding-in-pipeline-split",
                            "--account-for-loss-in-pipeline-split",
                            "--use-tp-pp-dp-mapping",
                            "--mtp-num-layers",
                            "--use-distributed-optimizer",
                            "--use-megatron-fsdp",
                            "--data-parallel-sharding-strategy",
                            "--megatron-fsdp-main-grads-dtype",
                            "--megatron-fsdp-grad-comm-dtype",
                            "--num-distributed-optimizer-instances",
                            "--recompute-granularity",
                            "--recompute-method",
                            "--recompute-num-layers",
                            "--recompute-modules",
                            "--recompute-activations",
                            "--moe-shared-expert-intermediate-size",
                            "--moe-router-enable-expert-bias",
                            "--no-overlap-p2p-communication",
                            "--overlap-p2p-communication"};
constexpr std::array kTelling{"parallel",  "pipeline",         "shard", "fsdp",
                              "recompute", "distribute-saved", "zero"};

constexpr const char* kNameOne = "name a model with --model";

class Import {
 public:
  Import(const ImportQuestion& question, Warnings& warnings)
      : question_(question),
        flags_(read_flags(question.text)),
        warnings_(warnings),
        run_{question, warnings, load_run_inputs(question, std::string(kDefaultRecipe))} {
    if (flags_.empty()) throw InputError(question.file, "", "no flags of Megatron-LM in it");
  }

  OpenPlan run() {
    warn_unknown();
    read_inputs(run_.inputs);
    Plan& plan = run_.plan;
    read_training(run_.inputs, plan.training);
    read_degrees(plan);
    read_zero(plan.parallelism);
    const Recompute recompute = read_recompute();
    MegatronSplit split = read_split(plan.parallelism.pipeline);
    if (plan.training.mtp) split.predictions = std::get<ModelSpec>(run_.inputs.source).mtp_layers;
    plan.parallelism.interleave = split.interleave;
    plan.parallelism.schedule = split.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
    try {
      make_stages(split, recompute, run_.inputs, plan);
    } catch (const InputError& error) {
      fail(error.place(), error.problem());
    }
    return run_.finish();
  }

 private:
  [[noreturn]] void fail(const std::string& flag, const std::string& what) const {
    throw InputError(question_.file, flag, what);
  }

  [[nodiscard]] bool has(std::string_view name) const { return find_flag(flags_, name) != nullptr; }

  [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
    const Flag* flag = find_flag(flags_, name);
    if (flag == nullptr) return std::nullopt;
    if (flag->values.empty()) fail(std::string(name), "a value is expected");
    return flag->values.front();
  }

  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const {
    const auto word = text(name);
    return word ? std::optional(read_size(name, *word)) : std::nullopt;
  }

  [[nodiscard]] std::int64_t read_size(std::string_view name, const std::string& word) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    constexpr std::int64_t kMost = 1'000'000'000;
    if (error != std::errc() || end != word.data() + word.size() || value < 1 || value > kMost)
      fail(std::string(name), fmt::format("a whole number from 1 on is expected, not '{}'", word));
    return value;
  }

  void warn_unknown() {
    for (const Flag& flag : flags_) {
      if (std::find(kKnown.begin(), kKnown.end(), flag.name) != kKnown.end()) continue;
      if (std::any_of(kTelling.begin(), kTelling.end(),
                      [&](const char* word) { return flag.name.find(word) != std::string::npos; }))
        warnings_.push_back(
            fmt::format("{}: {} is not understood: the plan does not have it", question_.file, flag.name));
    }
    for (const char* name : {"--use-torch-fsdp2", "--tensor-parallel-num-weight-shards"}) {
      if (has(name)) fail(name, "a plan cannot say this");
    }
  }

  void read_inputs(PlanInputs& inputs) {
    if (!question_.recipe) {
      Overlap& overlap = inputs.recipe.overlap;
      if (!has("--overlap-grad-reduce")) overlap.gradient_reduce = 0;
      const bool shards = has("--use-distributed-optimizer") || has("--use-megatron-fsdp");
      if (shards && !has("--overlap-param-gather")) overlap.parameter_gather = 0;
      if (has("--no-overlap-p2p-communication")) overlap.interleaved_sends = 0;
      if (has("--grad-reduce-in-bf16"))
        inputs.recipe.gradient_dtype = inputs.recipe.reduce_dtype = StateDType::bf16;
    }
    if (question_.model) {
      set_model(inputs, *question_.model, warnings_);
      check_shape(inputs);
      return;
    }
    if (const std::string reason = unknown_family(flags_); !reason.empty())
      throw InputError(question_.file, "", reason, kNameOne);
    const std::vector<std::string> names = zoo_models_of(flags_);
    if (!names.empty()) {
      set_model(inputs, names.front(), warnings_);
      return;
    }
    MegatronConfig built = config_of(flags_);
    if (built.config.is_null()) throw InputError(question_.file, "", built.reason, kNameOne);
    for (const std::string& sentence : built.assumed)
      warnings_.push_back(fmt::format("{}: {}", question_.file, sentence));
    inputs.model = std::move(built.config);
    inputs.source = read_hub_config(parse_json(question_.file, to_json(inputs.model)), "imported", warnings_);
  }

  // The model that was named must be the one of the flags.
  void check_shape(const PlanInputs& inputs) const {
    const auto* spec = std::get_if<ModelSpec>(&inputs.source);
    if (spec == nullptr || spec->stacks.size() != 1) return;
    const StackSpec& stack = spec->stacks.front();
    const std::pair<const char*, std::int64_t> sizes[] = {
        {"--num-layers", static_cast<std::int64_t>(stack.blocks.size())},
        {"--hidden-size", stack.hidden},
        {"--num-attention-heads", stack.blocks.front().attention.heads}};
    for (const auto& [flag, own] : sizes) {
      if (const auto value = whole(flag); value && *value != own)
        fail(flag, fmt::format("{}, but {} has {}", *value, inputs.model_name(), own));
    }
  }

  // One dtype for both: a plan cannot say two.
  void read_moments(Training& t) const {
    const std::string first = text("--exp-avg-dtype").value_or("fp32");
    t.states.moments = find_state_dtype(first);
    if (!t.states.moments)
      fail("--exp-avg-dtype", fmt::format("fp32, fp16, bf16 or fp8 is expected, not '{}'", first));
    if (text("--exp-avg-sq-dtype").value_or("fp32") != first)
      fail("--exp-avg-sq-dtype", "a plan has one dtype for both moments, that of --exp-avg-dtype");
  }

  void read_training(const PlanInputs& inputs, Training& t) const {
    auto micro = whole("--micro-batch-size");
    if (!micro) micro = question_.given.micro_batch;
    if (!micro) fail("--micro-batch-size", "is missing");
    t.micro_batch = *micro;
    t.sequence = whole("--seq-length").value_or(question_.given.sequence.value_or(inputs.default_sequence()));
    const bool eight = has("--fp8-format") || has("--fp8-hybrid");
    const std::string scales = text("--fp8-recipe").value_or("delayed");
    t.precision = has("--fp4-format")              ? Precision::nvfp4
                  : eight && scales == "mxfp8"     ? Precision::mxfp8
                  : eight && scales == "blockwise" ? Precision::fp8_block
                  : eight                          ? Precision::fp8
                  : has("--fp16")                  ? Precision::fp16
                                                   : Precision::bf16;
    const std::string optimizer = text("--optimizer").value_or("adam");
    const std::string word = optimizer == kDistMuon ? "muon" : optimizer;
    const auto known = find_optimizer(word);
    if (!known || name_of(*known) != word)
      fail("--optimizer", fmt::format("adam, sgd, muon or dist_muon is expected, not '{}'", optimizer));
    t.optimizer = *known;
    t.states.offload.optimizer = has("--optimizer-cpu-offload");
    if (const std::string part = text("--optimizer-offload-fraction").value_or("1");
        t.states.offload.optimizer && part.find_first_not_of("1.0") != std::string::npos)
      warnings_.push_back(
          fmt::format("{}: --optimizer-offload-fraction {}: all of the optimizer is priced as offloaded",
                      question_.file, part));
    // Offloading takes the code path of the other, and leaves moments in 32 bits.
    if (has("--use-precision-aware-optimizer") && !(t.states.offload.optimizer && !has("--exp-avg-dtype")))
      read_moments(t);
    if (const auto modules = whole("--mtp-num-layers")) {
      const auto* spec = std::get_if<ModelSpec>(&inputs.source);
      const std::int64_t own = spec == nullptr ? 0 : spec->mtp_layers;
      t.mtp = *modules == own;
      if (!t.mtp)
        warnings_.push_back(fmt::format(
            "{}: --mtp-num-layers {}: {} has {} modules for multi-token prediction, and the plan none",
            question_.file, *modules, inputs.model_name(), own));
    }
  }

  // "world size: 64" of an argument file by nest, or the launcher's nodes x processes; 0: nobody says it.
  [[nodiscard]] std::int64_t ranks() const {
    constexpr std::string_view kMark = "world size: ";
    if (const std::size_t at = question_.text.find(kMark); at != std::string::npos) {
      const char* begin = question_.text.data() + at + kMark.size();
      std::int64_t value = 0;
      if (std::from_chars(begin, question_.text.data() + question_.text.size(), value).ec == std::errc() &&
          value > 0)
        return value;
    }
    const bool dashes = has("--nproc-per-node");
    if (dashes || has("--nproc_per_node"))
      return whole(dashes ? "--nproc-per-node" : "--nproc_per_node").value_or(1) *
             whole("--nnodes").value_or(1);
    return 0;
  }

  void read_degrees(Plan& plan) {
    const GivenSizes& given = question_.given;
    Parallelism& p = plan.parallelism;
    Strategy& s = p.strategy;
    s.tensor = whole("--tensor-model-parallel-size").value_or(given.tensor.value_or(1));
    s.context = whole("--context-parallel-size").value_or(given.context.value_or(1));
    const bool experts = has("--num-experts") || question_.model.has_value();
    s.expert = experts ? whole("--expert-model-parallel-size").value_or(given.expert.value_or(1)) : 1;
    s.expert_tensor = experts ? whole("--expert-tensor-parallel-size").value_or(s.tensor) : s.tensor;
    if (text("--moe-token-dispatcher-type").value_or("") == "flex" || has("--moe-enable-deepep"))
      s.dispatcher = find_dispatcher(text("--moe-flex-dispatcher-backend").value_or("deepep"))
                         .value_or(Dispatcher::deepep);
    s.expert_overlap = has("--overlap-moe-expert-parallel-comm");
    s.sequence_parallel = has("--sequence-parallel") && s.tensor > 1;
    p.pipeline = whole("--pipeline-model-parallel-size").value_or(given.pipeline.value_or(1));
    read_context(s);
    run_.ranks = ranks();
    run_.global_batch = whole("--global-batch-size");
    if (!run_.global_batch) run_.global_batch = given.global_batch;
    run_.rounds =
        has("--num-virtual-stages-per-pipeline-rank") || has("--num-layers-per-virtual-pipeline-stage");
    run_.whole_copies = has("--use-tp-pp-dp-mapping");
    run_.settle_ranks();
    run_.settle_batch("--global-batch-size");
  }

  // Transformer Engine takes groups of one rank for none: what is left is a ring or an all-to-all.
  void read_context(Strategy& s) {
    if (s.context == 1) return;
    const Flag* types = find_flag(flags_, "--cp-comm-type");
    const std::string method = text("--cp-comm-type").value_or("p2p");
    if (types != nullptr &&
        std::ranges::any_of(types->values, [&](const std::string& type) { return type != method; }))
      fail("--cp-comm-type", "a plan has one way for all layers");
    if (method != "p2p" && method != "a2a" && method != "a2a+p2p")
      fail("--cp-comm-type", fmt::format("a plan has p2p, a2a and a2a+p2p, not '{}'", method));
    s.context_method = method == "a2a" ? ContextMethod::all_to_all : ContextMethod::ring;
    if (method != "a2a+p2p") return;
    constexpr const char* kSizes = "--hierarchical-context-parallel-sizes";
    std::vector<std::int64_t> sizes;
    if (const Flag* flag = find_flag(flags_, kSizes)) {
      for (const std::string& word : flag->values) sizes.push_back(read_size(kSizes, word));
    }
    if (sizes.size() != 2)
      fail(kSizes, "two sizes are expected with a2a+p2p: the ranks of an all-to-all, and those of a ring");
    if (sizes[0] * sizes[1] != s.context)
      fail(kSizes, fmt::format("{} x {} is not the context-parallel size {}", sizes[0], sizes[1], s.context));
    if (sizes[0] == 1) return;
    s.context_method = sizes[1] == 1 ? ContextMethod::all_to_all : ContextMethod::hybrid;
    s.context_inner = s.hybrid() ? sizes[0] : 1;
  }

  void read_zero(const Parallelism& p) {
    const bool shares = has("--use-distributed-optimizer") || text("--optimizer") == kDistMuon;
    Zero zero = shares ? 1 : 0;
    if (has("--use-megatron-fsdp")) {
      constexpr std::array<std::string_view, 4> kStages{"no_shard", "optim", "optim_grads",
                                                        "optim_grads_params"};
      const std::string word = text("--data-parallel-sharding-strategy").value_or("no_shard");
      const auto at = std::find(kStages.begin(), kStages.end(), word);
      if (at == kStages.end())
        fail("--data-parallel-sharding-strategy",
             fmt::format("no_shard, optim, optim_grads or optim_grads_params is expected, not '{}'", word));
      zero = at - kStages.begin();
    }
    const std::int64_t group = p.data * p.strategy.context;
    const std::int64_t instances = whole("--num-distributed-optimizer-instances").value_or(1);
    if (group % instances != 0)
      fail("--num-distributed-optimizer-instances",
           fmt::format("{} does not divide {} ranks", instances, group));
    run_.settle_shards(zero, group / instances);
  }

  // With `layers` as Megatron-LM counts: of every chunk.
  Recompute read_recompute() {
    Recompute r;
    const std::string granularity =
        text("--recompute-granularity").value_or(has("--recompute-activations") ? "selective" : "none");
    if (granularity == "none") return r;
    if (granularity == "selective") {
      const Flag* modules = find_flag(flags_, "--recompute-modules");
      if (modules == nullptr || modules->values == std::vector<std::string>{"core_attn"})
        return {RecomputePolicy::selective, 0};
      const ReadModules set = read_modules(fmt::format("{}", fmt::join(modules->values, " ")), ' ');
      if (!set.problem.empty()) fail("--recompute-modules", set.problem);
      return {RecomputePolicy::modules, 0, set.modules};
    }
    if (granularity != "full")
      fail("--recompute-granularity", fmt::format("full or selective is expected, not '{}'", granularity));
    const std::string method = text("--recompute-method").value_or("uniform");
    const std::int64_t layers = whole("--recompute-num-layers").value_or(1);
    if (method == "block") return {RecomputePolicy::full, layers};
    if (method != "uniform")
      fail("--recompute-method", fmt::format("uniform or block is expected, not '{}'", method));
    if (layers > 1)
      warnings_.push_back(question_.file + ": --recompute-num-layers: a plan recomputes layer by layer");
    return {RecomputePolicy::full, 0};
  }

  MegatronSplit read_split(std::int64_t pipeline) const {
    MegatronSplit split;
    if (const auto layout = text("--pipeline-model-parallel-layout")) {
      try {
        split.layout = read_layout(*layout);
      } catch (const InputError& error) {
        fail(error.place(), error.problem());
      }
    }
    split.first = whole("--decoder-first-pipeline-num-layers");
    split.last = whole("--decoder-last-pipeline-num-layers");
    split.embedding_slot = has("--account-for-embedding-in-pipeline-split");
    split.loss_slot = has("--account-for-loss-in-pipeline-split");
    split.layers_per_chunk = whole("--num-layers-per-virtual-pipeline-stage");
    split.interleave = whole("--num-virtual-stages-per-pipeline-rank").value_or(1);
    const auto parts = static_cast<std::int64_t>(split.layout.size());
    if (parts > 0 && parts % pipeline != 0)
      fail("--pipeline-model-parallel-layout",
           fmt::format("{} parts are not a multiple of {} ranks", parts, pipeline));
    if (parts > 0) split.interleave = parts / pipeline;
    return split;
  }

  const ImportQuestion& question_;
  std::vector<Flag> flags_;
  Warnings& warnings_;
  ImportedRun run_;
};

}  // namespace

OpenPlan import_megatron(const ImportQuestion& question, Warnings& warnings) {
  return Import(question, warnings).run();
}

}  // namespace nest::frameworks
