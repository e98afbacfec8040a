#include "nest/frameworks/megatron/megatron_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <utility>

#include "nest/base/document/csv.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/megatron/megatron_config.hpp"
#include "nest/frameworks/megatron/megatron_layout.hpp"
#include "nest/frameworks/megatron/megatron_shape.hpp"
#include "nest/frameworks/megatron/megatron_stages.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/price/price.hpp"

namespace nest::frameworks {
namespace {

// What is read here or means nothing to a plan; other flags with a word of kTelling are named in a warning.
constexpr std::array kKnown{"--tensor-model-parallel-size",
                            "--pipeline-model-parallel-size",
                            "--context-parallel-size",
                            "--expert-model-parallel-size",
                            "--expert-tensor-parallel-size",
                            "--sequence-parallel",
                            "--cp-comm-type",
                            "--pipeline-model-parallel-layout",
                            "--num-virtual-stages-per-pipeline-rank",
                            "--num-layers-per-virtual-pipeline-stage",
                            "--decoder-first-pipeline-num-layers",
                            "--decoder-last-pipeline-num-layers",
                            "--account-for-embedding-in-pipeline-split",
                            "--account-for-loss-in-pipeline-split",
                            "--use-tp-pp-dp-mapping",
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
      : question_(question), flags_(read_flags(question.text)), warnings_(warnings) {
    if (flags_.empty()) throw InputError(question.file, "", "no flags of Megatron-LM in it");
  }

  OpenPlan run() {
    warn_unknown();
    PlanInputs inputs = read_inputs();
    Plan plan;
    read_training(inputs, plan.training);
    read_degrees(inputs, plan);
    read_zero(plan.parallelism);
    const Recompute recompute = read_recompute();
    const MegatronSplit split = read_split(plan.parallelism.pipeline);
    plan.parallelism.interleave = split.interleave;
    plan.parallelism.schedule = split.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
    try {
      make_stages(split, recompute, inputs, plan);
      place(plan, inputs);
      plan = Pricer(inputs).complete(std::move(plan));
    } catch (const InputError& error) {
      fail(error.place(), error.problem());
    }
    return {std::move(plan), std::move(inputs)};
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
    if (!word) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), value);
    constexpr std::int64_t kMost = 1'000'000'000;
    if (error != std::errc() || end != word->data() + word->size() || value < 1 || value > kMost)
      fail(std::string(name), fmt::format("a whole number from 1 on is expected, not '{}'", *word));
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
    for (const char* name : {"--use-torch-fsdp2", "--hierarchical-context-parallel-sizes",
                             "--tensor-parallel-num-weight-shards"}) {
      if (has(name)) fail(name, "a plan cannot say this");
    }
  }

  PlanInputs read_inputs() {
    PlanInputs inputs{{},
                      {},
                      load_cluster(question_.cluster),
                      load_recipe(question_.recipe.value_or(std::string(kDefaultRecipe))),
                      {}};
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
      return inputs;
    }
    if (const std::string reason = unknown_family(flags_); !reason.empty())
      throw InputError(question_.file, "", reason, kNameOne);
    const std::vector<std::string> names = zoo_models_of(flags_);
    if (!names.empty()) {
      set_model(inputs, names.front(), warnings_);
      return inputs;
    }
    MegatronConfig built = config_of(flags_);
    if (built.config.is_null()) throw InputError(question_.file, "", built.reason, kNameOne);
    for (const std::string& sentence : built.assumed)
      warnings_.push_back(fmt::format("{}: {}", question_.file, sentence));
    inputs.model = std::move(built.config);
    inputs.source = read_hub_config(parse_json(question_.file, to_json(inputs.model)), "imported", warnings_);
    return inputs;
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

  void read_training(const PlanInputs& inputs, Training& t) const {
    const auto micro = whole("--micro-batch-size");
    if (!micro) fail("--micro-batch-size", "is missing");
    t.micro_batch = *micro;
    t.sequence = whole("--seq-length").value_or(inputs.default_sequence());
    t.precision = has("--fp8-format") || has("--fp8-hybrid") ? Precision::fp8
                  : has("--fp16")                            ? Precision::fp16
                                                             : Precision::bf16;
    const std::string optimizer = text("--optimizer").value_or("adam");
    if (optimizer != "adam" && optimizer != "sgd")
      fail("--optimizer", fmt::format("adam or sgd is expected, not '{}'", optimizer));
    t.optimizer = optimizer == "sgd" ? Optimizer::sgd : Optimizer::adam;
  }

  // "world size: 64" of an argument file by nest, or the launcher's nodes x processes; 0: nobody says it.
  [[nodiscard]] std::int64_t ranks() const {
    if (question_.devices > 0) return question_.devices;
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

  // Where nobody says how many ranks there are: as many as the cluster and the batch allow.
  [[nodiscard]] std::int64_t assumed_ranks(const PlanInputs& inputs, const Parallelism& p,
                                           std::int64_t sequences) {
    const Strategy& s = p.strategy;
    const std::int64_t dense = s.tensor * s.context * p.pipeline;
    const std::int64_t expert = s.expert_tensor * s.expert * p.pipeline;
    const bool rounds =
        has("--num-virtual-stages-per-pipeline-rank") || has("--num-layers-per-virtual-pipeline-stage");
    const auto fits = [&](std::int64_t data) {
      return dense * data % expert == 0 && (sequences == 0 || sequences % data == 0) &&
             (!rounds || sequences / data % p.pipeline == 0);
    };
    std::int64_t most = inputs.cluster.devices() / dense;
    while (most > 1 && !fits(most)) --most;
    most = std::max<std::int64_t>(1, most);
    if (most * dense < inputs.cluster.devices())
      warnings_.push_back(
          fmt::format("{}: the number of ranks is not in it: {} are assumed, --devices sets another",
                      question_.file, most * dense));
    return most * dense;
  }

  void read_degrees(const PlanInputs& inputs, Plan& plan) {
    Parallelism& p = plan.parallelism;
    Strategy& s = p.strategy;
    Training& t = plan.training;
    s.tensor = whole("--tensor-model-parallel-size").value_or(1);
    s.context = whole("--context-parallel-size").value_or(1);
    const bool experts = has("--num-experts") || question_.model.has_value();
    s.expert = experts ? whole("--expert-model-parallel-size").value_or(1) : 1;
    s.expert_tensor = experts ? whole("--expert-tensor-parallel-size").value_or(s.tensor) : s.tensor;
    s.sequence_parallel = has("--sequence-parallel") && s.tensor > 1;
    p.pipeline = whole("--pipeline-model-parallel-size").value_or(1);
    const std::string method = text("--cp-comm-type").value_or("p2p");
    if (s.context > 1 && method != "p2p" && method != "a2a")
      fail("--cp-comm-type", fmt::format("a plan has p2p and a2a, not '{}'", method));
    s.context_method = method == "a2a" ? ContextMethod::all_to_all : ContextMethod::ring;
    std::int64_t world = ranks();
    if (world == 0)
      world = assumed_ranks(inputs, p, whole("--global-batch-size").value_or(0) / t.micro_batch);
    const std::int64_t dense = s.tensor * s.context * p.pipeline;
    const std::int64_t expert = s.expert_tensor * s.expert * p.pipeline;
    for (const auto& [parts, what] :
         {std::pair(dense, "tensor x context x pipeline"), {expert, "expert tensor x expert x pipeline"}}) {
      if (parts > world || world % parts != 0)
        fail("", fmt::format("{} ranks are not a multiple of {} = {}", world, what, parts));
    }
    p.data = world / dense;
    if (p.data % s.side() != 0)
      fail("",
           fmt::format("{} data ranks are not a multiple of the {} that share experts", p.data, s.side()));
    p.data_inner = 0;
    t.global_batch = whole("--global-batch-size").value_or(t.micro_batch * p.data);
    if (t.global_batch % (t.micro_batch * p.data) != 0) {
      fail("--global-batch-size", fmt::format("{} is not a multiple of micro-batch {} x data {}",
                                              t.global_batch, t.micro_batch, p.data));
    }
    t.micro_batches = t.global_batch / (t.micro_batch * p.data);
  }

  // Rank r runs on device r, or where the rank map says.
  void place(Plan& plan, const PlanInputs& inputs) const {
    Parallelism& p = plan.parallelism;
    const Strategy& s = p.strategy;
    const std::vector<std::int64_t> devices = devices_of_ranks(p.devices());
    if (p.devices() > inputs.cluster.devices()) return;  // refused when it is priced
    const bool whole_copies = has("--use-tp-pp-dp-mapping");
    const std::int64_t dense = s.tensor * s.context;
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
      const auto at = static_cast<std::int64_t>(stage);
      for (std::int64_t copy = 0; copy < p.copies(); ++copy) {
        Cell& cell = plan.stages[stage].devices.emplace_back();
        for (std::int64_t j = 0; j < s.cell(); ++j) {
          const std::int64_t data = j / dense + s.side() * copy;
          const std::int64_t rank =
              j % dense + dense * (whole_copies ? at + p.pipeline * data : data + p.data * at);
          cell.emplace_back(static_cast<std::int32_t>(devices[static_cast<std::size_t>(rank)]));
        }
      }
    }
    p.data_inner = whole_copies ? 1 : 0;
    p.first_stage_first = true;
  }

  [[nodiscard]] std::vector<std::int64_t> devices_of_ranks(std::int64_t ranks) const {
    std::vector<std::int64_t> devices(static_cast<std::size_t>(ranks));
    std::iota(devices.begin(), devices.end(), 0);
    if (question_.rank_map.empty()) return devices;
    const CsvTable table(question_.rank_map_file, question_.rank_map);
    table.require({"rank", "device"});
    if (static_cast<std::int64_t>(table.rows().size()) != ranks)
      throw InputError(question_.rank_map_file, "",
                       fmt::format("{} ranks, the arguments have {}", table.rows().size(), ranks));
    for (const CsvRow& row : table.rows()) {
      const std::int64_t rank = row.whole("rank", 0).value_or(0);
      if (rank >= ranks) row.fail("rank", fmt::format("a rank below {}", ranks));
      devices[static_cast<std::size_t>(rank)] = row.whole("device", 0).value_or(0);
    }
    return devices;
  }

  void read_zero(Parallelism& p) const {
    p.zero = has("--use-distributed-optimizer") ? 1 : 0;
    if (has("--use-megatron-fsdp")) {
      constexpr std::array<std::string_view, 4> kStages{"no_shard", "optim", "optim_grads",
                                                        "optim_grads_params"};
      const std::string word = text("--data-parallel-sharding-strategy").value_or("no_shard");
      const auto at = std::find(kStages.begin(), kStages.end(), word);
      if (at == kStages.end())
        fail("--data-parallel-sharding-strategy",
             fmt::format("no_shard, optim, optim_grads or optim_grads_params is expected, not '{}'", word));
      p.zero = at - kStages.begin();
    }
    const std::int64_t group = p.data * p.strategy.context;
    const std::int64_t instances = whole("--num-distributed-optimizer-instances").value_or(1);
    if (group % instances != 0)
      fail("--num-distributed-optimizer-instances",
           fmt::format("{} does not divide {} ranks", instances, group));
    p.zero_shards = p.zero.shards_anything() ? group / instances : 0;
  }

  // With `layers` as Megatron-LM counts: of every chunk.
  Recompute read_recompute() {
    Recompute r;
    const std::string granularity =
        text("--recompute-granularity").value_or(has("--recompute-activations") ? "selective" : "none");
    if (granularity == "none") return r;
    if (granularity == "selective") {
      const Flag* modules = find_flag(flags_, "--recompute-modules");
      if (modules != nullptr && modules->values != std::vector<std::string>{"core_attn"})
        warnings_.push_back(question_.file + ": --recompute-modules: a plan recomputes core_attn only");
      return {RecomputePolicy::selective, 0};
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
};

}  // namespace

OpenPlan import_megatron(const ImportQuestion& question, Warnings& warnings) {
  return Import(question, warnings).run();
}

}  // namespace nest::frameworks
