#include "nest/frameworks/torchtitan/titan_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "nest/base/document/toml.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/frameworks/common/fsdp.hpp"
#include "nest/frameworks/common/imported_run.hpp"
#include "nest/frameworks/common/settings.hpp"
#include "nest/frameworks/torchtitan/schedule_csv.hpp"
#include "nest/frameworks/torchtitan/titan_flavors.hpp"
#include "nest/frameworks/torchtitan/titan_parts.hpp"
#include "nest/model/zoo.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::frameworks {
namespace {

// Of [parallelism]: what is read here or means nothing to a plan.
const std::vector<std::string_view> kKnown{"data_parallel_replicate_degree",
                                           "data_parallel_shard_degree",
                                           "fsdp_reshard_after_forward",
                                           "tensor_parallel_degree",
                                           "disable_loss_parallel",
                                           "enable_async_tensor_parallel",
                                           "pipeline_parallel_degree",
                                           "module_fqns_per_model_part",
                                           "pipeline_parallel_first_stage_less_layers",
                                           "pipeline_parallel_last_stage_less_layers",
                                           "pipeline_parallel_layers_per_stage",
                                           "pipeline_parallel_schedule",
                                           "pipeline_parallel_schedule_csv",
                                           "pipeline_parallel_microbatch_size",
                                           "pipeline_parallel_expert_parallel_overlap",
                                           "context_parallel_degree",
                                           "context_parallel_load_balancer",
                                           "context_parallel_rotate_method",
                                           "expert_parallel_degree",
                                           "expert_tensor_parallel_degree",
                                           "expert_parallel_comm_backend",
                                           "fsdp_bucket_size"};

class Import {
 public:
  Import(const ImportQuestion& question, Warnings& warnings)
      : question_(question),
        file_(parse_toml(question.file, question.text)),
        run_{question, warnings, load_run_inputs(question, "torchtitan")} {}

  OpenPlan run() {
    file_.warn_unknown("parallelism", kKnown, run_.warnings);
    read_model();
    read_recipe();
    read_training();
    read_degrees();
    read_batch();
    read_stages();
    return run_.finish();
  }

 private:
  [[nodiscard]] std::int64_t degree(std::string_view key, std::int64_t otherwise = 1) const {
    return file_.whole(fmt::format("parallelism.{}", key)).value_or(otherwise);
  }

  // The zoo's model of the flavor's shape.
  void read_model() {
    if (question_.model) return load_run_model(run_);
    const std::string module = file_.text("model.name").value_or("");
    const std::string flavor = file_.text("model.flavor").value_or("");
    if (module.empty() || flavor.empty()) return load_run_model(run_);
    std::string best;  // of several with one shape, the one that takes the longest sequences
    std::int64_t positions = -1;
    for (const TitanFlavor& row : titan_flavors()) {
      if (row.module != module || row.flavor != flavor) continue;
      for (const std::string& name : zoo_names()) {
        const ModelSpec spec = zoo_model(name);
        if (spec.stacks.size() != 1 || spec.stacks.front().blocks.empty() ||
            model_shape(&spec) != row.shape || spec.positions <= positions)
          continue;
        best = name;
        positions = spec.positions;
      }
    }
    if (!best.empty()) return set_model(run_.inputs, best, run_.warnings);
    throw InputError(question_.file, "model",
                     fmt::format("torchtitan's {} {} is not among the known models", module, flavor),
                     "name a model with --model");
  }

  [[nodiscard]] bool compiles() const {
    if (!file_.boolean("compile.enable").value_or(false)) return false;
    const std::vector<std::string> parts = file_.texts("compile.components");
    return parts.empty() || std::find(parts.begin(), parts.end(), "model") != parts.end();
  }

  void read_recipe() {
    if (file_.boolean("training.enable_cpu_offload").value_or(false))
      file_.warn("training.enable_cpu_offload", "everything is priced on the device", run_.warnings);
    if (question_.recipe) return;
    Recipe& recipe = run_.inputs.recipe;
    recipe.compiled = compiles();
    if (recipe.compiled && file_.boolean("parallelism.enable_async_tensor_parallel").value_or(false))
      recipe.overlap.tensor = 1;
    if (file_.text("training.dtype").value_or("float32") == "bfloat16")
      recipe.parameter_dtype = recipe.gradient_dtype = recipe.optimizer_dtype = StateDType::bf16;
    if (file_.text("training.mixed_precision_param").value_or("bfloat16") == "float32")
      file_.warn("training.mixed_precision_param", "a plan has no 32-bit products: bf16 is priced",
                 run_.warnings);
  }

  void read_training() {
    Training& t = run_.plan.training;
    t.sequence = file_.whole("training.seq_len").value_or(question_.given.sequence.value_or(2048));
    for (const std::string& converter : file_.texts("model.converters")) {
      if (converter.find("float8") != std::string::npos || converter.ends_with("mx"))
        t.precision = Precision::fp8;
    }
    const std::string optimizer = file_.text("optimizer.name").value_or("AdamW");
    if (optimizer != "Adam" && optimizer != "AdamW")
      file_.fail("optimizer.name", fmt::format("Adam or AdamW is expected, not '{}'", optimizer));
  }

  void read_degrees() {
    Parallelism& p = run_.plan.parallelism;
    Strategy& s = p.strategy;
    s.tensor = degree("tensor_parallel_degree");
    s.sequence_parallel = s.tensor > 1;
    s.context = degree("context_parallel_degree");
    s.expert = has_experts(run_.inputs) ? degree("expert_parallel_degree") : 1;
    s.expert_tensor = s.expert > 1 ? degree("expert_tensor_parallel_degree") : s.tensor;
    p.pipeline = degree("pipeline_parallel_degree");
    const std::int64_t copies = degree("data_parallel_replicate_degree");
    const std::int64_t shard = file_.whole("parallelism.data_parallel_shard_degree", -1).value_or(-1);
    if (shard == 0)
      file_.fail("parallelism.data_parallel_shard_degree", "it is -1 or a whole number from 1 on");
    if (shard > 0) run_.data = copies * shard;
    if (const auto batch = file_.whole("training.global_batch_size", -1); batch.value_or(-1) > 0)
      run_.global_batch = batch;
    read_micro_batch();
    run_.settle_ranks();
    if (p.data % copies != 0)
      file_.fail("parallelism.data_parallel_replicate_degree",
                 fmt::format("{} copies of {} data ranks", copies, p.data));
    const std::int64_t shards = p.data / copies * s.context;
    const std::string reshard = file_.text("parallelism.fsdp_reshard_after_forward").value_or("default");
    if (reshard != "default" && reshard != "always" && reshard != "never")
      file_.fail("parallelism.fsdp_reshard_after_forward",
                 fmt::format("default, always or never is expected, not '{}'", reshard));
    // By default parameters stay gathered under a pipeline, which would gather them for every micro-batch.
    const bool whole = reshard == "never" || (reshard == "default" && p.pipeline > 1);
    run_.settle_shards(fsdp_zero(shards != 1, whole), shards);
  }

  [[nodiscard]] std::int64_t local_batch() const {
    return file_.whole("training.local_batch_size").value_or(question_.given.micro_batch.value_or(8));
  }

  // Under a pipeline, the local batch is cut into micro-batches.
  void read_micro_batch() {
    Training& t = run_.plan.training;
    t.micro_batch = local_batch();
    if (run_.plan.parallelism.pipeline == 1) return;
    const std::int64_t micro = degree("pipeline_parallel_microbatch_size");
    if (t.micro_batch % micro != 0)
      file_.fail("parallelism.pipeline_parallel_microbatch_size",
                 fmt::format("{} does not divide the local batch of {}", micro, t.micro_batch));
    t.micro_batch = micro;
  }

  void read_batch() {
    const Parallelism& p = run_.plan.parallelism;
    const std::int64_t once = local_batch() * p.data;
    if (!run_.global_batch) run_.global_batch = once;
    if (*run_.global_batch % once != 0)
      file_.fail("training.global_batch_size", fmt::format("{} is not a multiple of local batch {} x data {}",
                                                           *run_.global_batch, local_batch(), p.data));
    if (p.pipeline > 1 && *run_.global_batch > once)
      file_.warn("training.global_batch_size",
                 fmt::format("torchtitan drains the pipeline {} times in a step, the plan once",
                             *run_.global_batch / once),
                 run_.warnings);
    run_.settle_batch("training.global_batch_size");
  }

  [[nodiscard]] Schedule read_schedule() const {
    const std::string csv = file_.text("parallelism.pipeline_parallel_schedule_csv").value_or("");
    const Parallelism& p = run_.plan.parallelism;
    if (!csv.empty()) {
      const auto text = question_.read_beside(csv);
      if (!text)
        file_.fail("parallelism.pipeline_parallel_schedule_csv", fmt::format("'{}' cannot be read", csv));
      constexpr std::int64_t kMost = 1'000'000;  // tasks
      const bool long_one = p.pipeline * run_.plan.training.micro_batches > kMost;
      for (const Schedule schedule : all_schedules()) {
        if (long_one || schedule_of(schedule).chunked()) continue;
        if (*text == schedule_csv(schedule, p.pipeline, 1, run_.plan.training.micro_batches)) return schedule;
      }
      file_.fail("parallelism.pipeline_parallel_schedule_csv", "it is none of the schedules of plans");
    }
    const std::string word = file_.text("parallelism.pipeline_parallel_schedule").value_or("1F1B");
    for (const Schedule schedule : schedules_of("torchtitan")) {
      const std::string_view own = word_of(schedule, "torchtitan");
      if (!own.empty() && same_letters(own, word)) return schedule;
    }
    file_.fail("parallelism.pipeline_parallel_schedule", fmt::format("a plan has no schedule '{}'", word));
  }

  [[nodiscard]] std::int64_t blocks() const {
    const auto* spec = std::get_if<ModelSpec>(&run_.inputs.source);
    return spec == nullptr ? 0 : static_cast<std::int64_t>(spec->stacks.front().blocks.size());
  }

  void read_stages() {
    Parallelism& p = run_.plan.parallelism;
    if (p.pipeline > 1) {
      p.schedule = read_schedule();
      if (schedule_of(p.schedule).pairs_passes)
        p.strategy.expert_overlap =
            file_.boolean("parallelism.pipeline_parallel_expert_parallel_overlap").value_or(true);
      try {
        const std::vector<std::int64_t> layers = read_parts();
        p.interleave = static_cast<std::int64_t>(layers.size()) / p.pipeline;
        cut_stages(run_.plan, layers);
      } catch (const InputError& error) {
        if (!error.file().empty()) throw;
        file_.fail("parallelism.pipeline_parallel_degree", error.problem());
      }
    }
    if (run_.plan.stages.empty()) cut_stages(run_.plan, {blocks() + 2});
    run_.recompute_all({});
    read_recompute();
  }

  [[nodiscard]] std::vector<std::int64_t> read_parts() const {
    const Parallelism& p = run_.plan.parallelism;
    const bool several = schedule_of(p.schedule).chunked();
    const std::int64_t first =
        file_.whole("parallelism.pipeline_parallel_first_stage_less_layers", 0).value_or(1);
    const std::int64_t last =
        file_.whole("parallelism.pipeline_parallel_last_stage_less_layers", 0).value_or(1);
    std::vector<std::int64_t> layers;
    if (const Value* names = file_.find("parallelism.module_fqns_per_model_part")) {
      layers = titan_named_parts(*names, blocks());
    } else {
      std::int64_t parts = p.pipeline * (several ? 2 : 1);
      if (const auto each = file_.whole("parallelism.pipeline_parallel_layers_per_stage"))
        parts = (blocks() + first + last + *each - 1) / *each;
      layers = titan_even_parts(parts, blocks(), first, last);
    }
    const auto parts = static_cast<std::int64_t>(layers.size());
    if (parts % p.pipeline != 0 || (parts > p.pipeline) != several)
      throw InputError("", "",
                       fmt::format("{} parts over {} ranks do not suit the schedule {}", parts, p.pipeline,
                                   name_of(p.schedule)));
    return layers;
  }

  void read_recompute() {
    const std::string mode = file_.text("activation_checkpoint.mode").value_or("selective");
    if (mode == "none") return;
    if (mode == "full") return run_.recompute_all({RecomputePolicy::full, 0});
    if (mode == "memory_budget") {
      file_.warn("activation_checkpoint.mode",
                 "a plan has no memory budget: selective recomputation is priced", run_.warnings);
      return run_.recompute_all({RecomputePolicy::selective, 0});
    }
    if (mode != "selective")
      file_.fail("activation_checkpoint.mode",
                 fmt::format("none, selective, full or memory_budget is expected, not '{}'", mode));
    const std::string option = file_.text("activation_checkpoint.selective_ac_option").value_or("2");
    if (option == "op") return run_.recompute_all({RecomputePolicy::selective, 0});
    std::int64_t every = 0;
    const auto [end, error] = std::from_chars(option.data(), option.data() + option.size(), every);
    if (error != std::errc() || end != option.data() + option.size() || every < 1)
      file_.fail("activation_checkpoint.selective_ac_option",
                 fmt::format("'op' or a number of layers is expected, not '{}'", option));
    // Every n-th layer recomputes whole: a plan says how many of a stage do.
    for (Stage& stage : run_.plan.stages) {
      const auto count = std::count_if(stage.layers.begin(), stage.layers.end(),
                                       [&](LayerId id) { return id.value > 0 && id.value <= blocks(); });
      const std::int64_t some = std::max<std::int64_t>(1, count / every);
      stage.recompute = {RecomputePolicy::full, every == 1 ? 0 : some};
    }
  }

  const ImportQuestion& question_;
  Settings file_;
  ImportedRun run_;
};

}  // namespace

OpenPlan import_torchtitan(const ImportQuestion& question, Warnings& warnings) {
  return Import(question, warnings).run();
}

}  // namespace nest::frameworks
