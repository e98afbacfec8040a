#include "nest/frameworks/accelerate/accelerate_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "nest/frameworks/common/fsdp.hpp"
#include "nest/frameworks/common/imported_run.hpp"
#include "nest/frameworks/common/settings.hpp"
#include "nest/frameworks/deepspeed/deepspeed_import.hpp"

namespace nest::frameworks {
namespace {

constexpr std::string_view kMeshPrefix = "parallelism_config_";
const std::vector<std::string_view> kMesh{"dp_replicate_size",
                                          "dp_shard_size",
                                          "tp_size",
                                          "cp_size",
                                          "sp_size",
                                          "cp_backend",
                                          "sp_backend",
                                          "cp_handler",
                                          "tp_handler",
                                          "sp_handler",
                                          "cp_comm_strategy",
                                          "sp_seq_length",
                                          "sp_seq_length_is_variable",
                                          "sp_attn_implementation"};
constexpr std::array<std::string_view, 6> kWorldKinds{"FSDP",      "DEEPSPEED", "MULTI_GPU",
                                                      "MULTI_XPU", "MULTI_NPU", "NO"};

class Import {
 public:
  Import(const ImportQuestion& question, Warnings& warnings)
      : question_(question),
        given_(question.given),
        file_(parse_document(question.file, question.text)),
        warnings_(warnings),
        run_{question, warnings, load_run_inputs(question, "accelerate")} {}

  OpenPlan run() {
    const std::string kind = read_kind();
    warn_unknown_mesh();
    if (kind == "DEEPSPEED") return by_deepspeed();
    load_run_model(run_);
    read_training();
    read_degrees(kind);
    read_batch();
    read_zero(kind);
    const bool full = given_.recompute ? *given_.recompute == RecomputePolicy::full
                                       : fsdp_boolean("activation_checkpointing").value_or(false);
    run_.plan.default_recompute = {full ? RecomputePolicy::full : RecomputePolicy::none, 0};
    if (!question_.recipe) read_recipe();
    return run_.finish();
  }

 private:
  [[nodiscard]] std::string read_kind() const {
    if (file_.text("compute_environment").value_or("LOCAL_MACHINE") == "AMAZON_SAGEMAKER")
      file_.fail("compute_environment", "SageMaker's launches are not read here");
    const std::string kind = file_.text("distributed_type").value_or("NO");
    if (std::find(kWorldKinds.begin(), kWorldKinds.end(), kind) != kWorldKinds.end())
      return kind == "false" ? "NO" : kind;
    if (kind == "false" || kind == "no") return "NO";  // an unquoted NO
    if (kind == "MEGATRON_LM")
      throw InputError(question_.file, "distributed_type", "Accelerate's Megatron-LM is not read here",
                       "give Megatron-LM's own flags");
    file_.fail("distributed_type",
               fmt::format("FSDP, DEEPSPEED, MULTI_GPU or NO is expected, not '{}'", kind));
  }

  // The name of a key of a group, with its prefix where the file has it so.
  [[nodiscard]] std::string key(std::string_view group, std::string_view prefix,
                                std::string_view name) const {
    const std::string with = fmt::format("{}.{}{}", group, prefix, name);
    const std::string without = fmt::format("{}.{}", group, name);
    return file_.find(with) == nullptr && file_.find(without) != nullptr ? without : with;
  }
  [[nodiscard]] std::string mesh_key(std::string_view name) const {
    return key("parallelism_config", kMeshPrefix, name);
  }
  [[nodiscard]] std::string fsdp_key(std::string_view name) const {
    return key("fsdp_config", "fsdp_", name);
  }
  [[nodiscard]] std::optional<bool> fsdp_boolean(std::string_view name) const {
    return file_.boolean(fsdp_key(name));
  }

  void warn_unknown_mesh() {
    std::vector<std::string> prefixed;
    prefixed.reserve(kMesh.size());
    for (const std::string_view name : kMesh) prefixed.push_back(fmt::format("{}{}", kMeshPrefix, name));
    std::vector<std::string_view> known = kMesh;
    known.insert(known.end(), prefixed.begin(), prefixed.end());
    file_.warn_unknown("parallelism_config", known, warnings_);
  }

  [[nodiscard]] std::int64_t mesh(std::string_view name, const std::optional<std::int64_t>& option) const {
    return file_.whole(mesh_key(name)).value_or(option.value_or(1));
  }

  [[nodiscard]] std::int64_t ranks() const { return file_.whole("num_processes").value_or(0); }

  void read_training() {
    Training& t = run_.plan.training;
    t.sequence = given_.sequence.value_or(run_.inputs.default_sequence());
    if (!given_.sequence)
      run_.warn(fmt::format("the sequence length is not in it: {} is assumed, --sequence sets another",
                            t.sequence));
    const std::string word = file_.text("mixed_precision").value_or("no");
    if (word == "bf16" || word == "fp16" || word == "fp8") {
      t.precision = word == "bf16" ? Precision::bf16 : word == "fp16" ? Precision::fp16 : Precision::fp8;
    } else if (given_.precision) {
      t.precision = *given_.precision;
    } else {
      throw InputError(question_.file, "mixed_precision", "it is not on: a plan has no training in 32 bits",
                       "--precision sets one");
    }
  }

  void read_degrees(const std::string& kind) {
    Strategy& s = run_.plan.parallelism.strategy;
    s.tensor = mesh("tp_size", given_.tensor);
    const std::int64_t context = mesh("cp_size", given_.context);
    const std::int64_t sequence = mesh("sp_size", std::nullopt);
    if (context > 1 && sequence > 1)
      file_.fail(mesh_key("sp_size"), "context and sequence ranks exclude each other");
    s.context = std::max(context, sequence);
    s.context_method = sequence > 1 ? ContextMethod::all_to_all : ContextMethod::ring;
    s.expert_tensor = s.tensor;
    run_.ranks = kind == "NO" ? 1 : ranks();
    const auto replicate = file_.whole(mesh_key("dp_replicate_size"));
    const auto shard = file_.whole(mesh_key("dp_shard_size"), -1);
    if (replicate && shard && *shard > 0) run_.data = *replicate * *shard;  // each at most 1e9
  }

  void read_batch() {
    Training& t = run_.plan.training;
    t.micro_batch = given_.micro_batch.value_or(1);
    if (!given_.micro_batch)
      run_.warn("the micro-batch is not in it: 1 is assumed, --micro-batch sets another");
    run_.global_batch = given_.global_batch;
    run_.settle_ranks();
    constexpr std::int64_t kMost = 1'000'000;
    const std::int64_t steps = std::min(kMost, file_.whole("gradient_accumulation_steps").value_or(1));
    if (!run_.global_batch) run_.global_batch = t.micro_batch * run_.plan.parallelism.data * steps;
    run_.settle_batch("--global-batch");
  }

  void read_zero(const std::string& kind) {
    const Parallelism& p = run_.plan.parallelism;
    if (kind != "FSDP") return run_.settle_shards(0);
    if (fsdp_boolean("offload_params").value_or(false))
      file_.warn(fsdp_key("offload_params"), "offloading is not priced: everything stays on the device",
                 warnings_);
    std::int64_t copies = file_.whole(mesh_key("dp_replicate_size")).value_or(1);
    bool keeps = false;
    bool shards = true;
    if (file_.whole(fsdp_key("version")).value_or(1) == 1 &&
        file_.find(fsdp_key("sharding_strategy")) != nullptr) {
      const std::string word = file_.text(fsdp_key("sharding_strategy")).value_or("FULL_SHARD");
      const auto is = [&](std::string_view name, std::string_view number) {
        return word == name || word == number;
      };
      const bool hybrid = is("HYBRID_SHARD", "4") || is("HYBRID_SHARD_ZERO2", "5");
      keeps = is("SHARD_GRAD_OP", "2") || is("HYBRID_SHARD_ZERO2", "5");
      shards = !is("NO_SHARD", "3");
      if (!hybrid && !keeps && shards && !is("FULL_SHARD", "1"))
        file_.fail(fsdp_key("sharding_strategy"), fmt::format("there is no sharding strategy '{}'", word));
      if (hybrid) copies = file_.whole("num_machines").value_or(1);
    }
    const std::string reshard = fsdp_key("reshard_after_forward");
    if (const Value* value = file_.find(reshard); value != nullptr && value->as_int() == nullptr) {
      const std::string word = file_.text(reshard).value_or("true");  // FSDP1's words are read as well
      keeps = word == "SHARD_GRAD_OP" || word == "HYBRID_SHARD_ZERO2" || word == "false" || word == "False";
    }
    const std::int64_t group = p.data * p.strategy.context;
    if (p.data % copies != 0)
      file_.fail(mesh_key("dp_replicate_size"), fmt::format("{} copies of {} data ranks", copies, p.data));
    const bool alone = group / copies == 1;
    run_.settle_shards(fsdp_zero(shards && !alone, keeps), group / copies);
  }

  void read_recipe() {
    const std::string backend =
        file_.text("dynamo_config.dynamo_backend").value_or(file_.text("dynamo_backend").value_or("NO"));
    run_.inputs.recipe.compiled = backend != "NO" && backend != "no" && backend != "false";
  }

  // Either a file of DeepSpeed's own, or the same settings in Accelerate's words.
  OpenPlan by_deepspeed() {
    DeepSpeedLaunch launch{ranks(), std::nullopt};
    ImportQuestion question = question_;
    const std::int64_t sequence = mesh("sp_size", std::nullopt);
    if (sequence > 1) question.given.context = sequence;
    const std::string mixed = file_.text("mixed_precision").value_or("no");
    if (mixed == "bf16" || mixed == "fp16")
      question.given.precision = mixed == "bf16" ? Precision::bf16 : Precision::fp16;
    if (const auto name = file_.text("deepspeed_config.deepspeed_config_file"); name && *name != "none") {
      const auto text = question_.read_beside(*name);
      if (!text)
        file_.fail("deepspeed_config.deepspeed_config_file", fmt::format("'{}' cannot be read", *name));
      question.file = *name;
      return import_deepspeed(parse_document(*name, *text), launch, question, warnings_);
    }
    Value zero = Value::object();
    zero.set("stage", file_.whole("deepspeed_config.zero_stage", 0).value_or(2));
    for (const char* part : {"optimizer", "param"}) {
      const auto device = file_.text(fmt::format("deepspeed_config.offload_{}_device", part));
      if (!device || *device == "none") continue;
      Value offload = Value::object();
      offload.set("device", *device);
      zero.set(fmt::format("offload_{}", part), std::move(offload));
    }
    Value config = Value::object();
    config.set("zero_optimization", std::move(zero));
    config.set("gradient_accumulation_steps",
               file_.whole("deepspeed_config.gradient_accumulation_steps").value_or(1));
    return import_deepspeed({question_.file, to_json(config), config, true}, launch, question, warnings_);
  }

  const ImportQuestion& question_;
  const GivenSizes& given_;
  Settings file_;
  Warnings& warnings_;
  ImportedRun run_;
};

}  // namespace

OpenPlan import_accelerate(const ImportQuestion& question, Warnings& warnings) {
  return Import(question, warnings).run();
}

}  // namespace nest::frameworks
