#include "nest/frameworks/accelerate/accelerate_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nest/base/document/yaml_text.hpp"
#include "nest/frameworks/common/fsdp.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {
namespace {

constexpr std::int64_t kPort = 29500;

bool recomputes(const ExportFacts& f) {
  return f.plan().stages.front().recompute.policy == RecomputePolicy::full;
}

Value fsdp_config(const ExportFacts& f) {
  Value out = Value::object();
  out.set("fsdp_version", 2).set("fsdp_reshard_after_forward", frees_gathered(f.parallelism().zero));
  out.set("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  out.set("fsdp_activation_checkpointing", recomputes(f)).set("fsdp_offload_params", false);
  // torchao's fp8 refuses weights that only the first rank loads.
  out.set("fsdp_cpu_ram_efficient_loading", mixed_precision(f) != "fp8");
  out.set("fsdp_state_dict_type", "SHARDED_STATE_DICT");
  return out;
}

Value parallelism_config(const AccelerateMesh& mesh, std::string_view prefix) {
  Value out = Value::object();
  const auto put = [&](std::string_view key, Value value) {
    out.set(fmt::format("{}{}", prefix, key), std::move(value));
  };
  put("dp_replicate_size", mesh.replicate);
  put("dp_shard_size", mesh.shard);
  put("tp_size", mesh.tensor);
  put("cp_size", mesh.context);
  put("sp_size", mesh.sequence);
  if (mesh.context > 1) put("cp_backend", "torch");
  if (mesh.sequence > 1) put("sp_backend", "deepspeed");
  return out;
}

// One device and plain copies need none.
bool has_mesh(const AccelerateMesh& mesh) {
  return mesh.way == AccelerateWay::fsdp || mesh.tensor > 1 || mesh.sequence > 1;
}

std::string_view torch_name(StateDType dtype) {
  return dtype == StateDType::fp32 ? "float32" : dtype == StateDType::bf16 ? "bfloat16" : "float16";
}

}  // namespace

std::string_view name_of(AccelerateWay way) {
  switch (way) {
    case AccelerateWay::one_device:
      return "NO";
    case AccelerateWay::copies:
      return "MULTI_GPU";
    case AccelerateWay::fsdp:
      return "FSDP";
    case AccelerateWay::deepspeed:
      return "DEEPSPEED";
  }
  return "";
}

AccelerateMesh mesh_of(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  const Strategy& s = p.strategy;
  AccelerateMesh mesh;
  const bool ulysses = s.context > 1 && s.context_method == ContextMethod::all_to_all;
  const std::int64_t shards = p.zero.shards_anything() ? std::max<std::int64_t>(1, p.zero_shards) : 1;
  mesh.tensor = s.tensor;
  (ulysses ? mesh.sequence : mesh.context) = s.context;
  if (p.devices() == 1) return mesh;
  if (ulysses || (p.zero.scatters_at_step_end() && shards > 1)) {
    mesh.way = AccelerateWay::deepspeed;
    mesh.shard = p.data;
  } else if (shards > 1) {
    mesh.way = AccelerateWay::fsdp;
    mesh.shard = shards / s.context;
    mesh.replicate = p.data / mesh.shard;
  } else {
    mesh.way = AccelerateWay::copies;
    mesh.replicate = p.data;
  }
  return mesh;
}

StateDType held_weights(const ExportFacts& f) {
  const Recipe& r = f.recipe();
  // DeepSpeed makes its own 32-bit copy of 16-bit weights.
  if (mesh_of(f).way == AccelerateWay::deepspeed)
    return f.plan().training.precision == Precision::fp16 ? StateDType::fp16 : StateDType::bf16;
  return r.master_weights ? StateDType::fp32 : r.parameter_dtype;
}

std::string_view mixed_precision(const ExportFacts& f) {
  if (f.plan().training.precision == Precision::fp8) return "fp8";
  // Weights of 16 bits compute as they are.
  if (mesh_of(f).way != AccelerateWay::deepspeed && held_weights(f) != StateDType::fp32) return "no";
  return f.plan().training.precision == Precision::fp16 ? "fp16" : "bf16";
}

bool launchable(const RankMap& map) {
  const HostRow& first = map.hosts.front();
  return map.consecutive && std::all_of(map.hosts.begin(), map.hosts.end(), [&](const HostRow& host) {
           return host.local_devices == first.local_devices;
         });
}

std::string accelerate_yaml(const ExportFacts& f, const RankMap& map) {
  const AccelerateMesh mesh = mesh_of(f);
  const HostRow& first = map.hosts.front();
  Value out = Value::object();
  out.set("compute_environment", "LOCAL_MACHINE").set("debug", false);
  out.set("distributed_type", name_of(mesh.way));
  out.set("mixed_precision", mixed_precision(f));
  if (f.recipe().compiled) {
    Value dynamo = Value::object();
    dynamo.set("dynamo_backend", "INDUCTOR").set("dynamo_mode", "default");
    dynamo.set("dynamo_use_regional_compilation", true);
    out.set("dynamo_config", std::move(dynamo));
  }
  if (mixed_precision(f) == "fp8") {
    Value fp8 = Value::object();
    fp8.set("fp8_backend", "AO");
    out.set("fp8_config", std::move(fp8));
  }
  if (mesh.way == AccelerateWay::fsdp) out.set("fsdp_config", fsdp_config(f));
  if (mesh.way == AccelerateWay::deepspeed) {
    Value deepspeed = Value::object();
    deepspeed.set("deepspeed_config_file", "ds_config.json");
    deepspeed.set("zero3_init_flag", f.parallelism().zero.shards_parameters());
    if (map.hosts.size() > 1) deepspeed.set("deepspeed_multinode_launcher", "standard");
    out.set("deepspeed_config", std::move(deepspeed));
  }
  if (has_mesh(mesh)) out.set("parallelism_config", parallelism_config(mesh, "parallelism_config_"));
  // Devices in their order need no list.
  std::string devices;
  for (std::size_t i = 0; i < first.local_devices.size(); ++i)
    devices += fmt::format("{}{}", i == 0 ? "" : ",", first.local_devices[i]);
  if (mesh.way != AccelerateWay::one_device) out.set("gpu_ids", devices);
  out.set("num_machines", map.hosts.size()).set("num_processes", map.ranks.size());
  out.set("machine_rank", 0);
  if (map.hosts.size() > 1) out.set("main_process_ip", first.name).set("main_process_port", kPort);
  out.set("rdzv_backend", "static").set("same_network", true);
  out.set("main_training_function", "main").set("use_cpu", false);
  return "# accelerate launch --config_file accelerate.yaml --machine_rank N SCRIPT, on host N of "
         "placement/hosts.txt\n" +
         to_yaml(out);
}

Value accelerate_plan(const ExportFacts& f) {
  const Training& t = f.plan().training;
  const Recipe& r = f.recipe();
  const AccelerateMesh mesh = mesh_of(f);
  Value out = Value::object();
  out.set("model", f.question->inputs.model_name()).set("num_processes", f.parallelism().devices());
  out.set("distributed_type", name_of(mesh.way));
  if (has_mesh(mesh)) out.set("parallelism", parallelism_config(mesh, ""));
  out.set("zero", f.parallelism().zero.number());
  out.set("reshard_after_forward", frees_gathered(f.parallelism().zero));
  out.set("global_batch", t.global_batch).set("sequence", t.sequence).set("micro_batch", t.micro_batch);
  out.set("gradient_accumulation_steps", t.micro_batches);
  out.set("recompute", recomputes(f) ? "full" : "none");
  out.set("mixed_precision", mixed_precision(f)).set("parameter_dtype", torch_name(held_weights(f)));
  out.set("optimizer", t.optimizer == Optimizer::adam ? "adamw" : "sgd").set("momentum", r.momentum);
  out.set("dropout", r.dropout).set("compile", r.compiled);
  Value predicted = Value::object();
  if (const auto& p = f.plan().predicted) {
    predicted.set("step_s", p->step.value).set("tokens_per_s", p->tokens_per_s);
  }
  if (const auto& memory = f.plan().stages.front().memory) {
    predicted.set("allocated_bytes", memory->allocated().value);
    predicted.set("memory_bytes", memory->total().value);
  }
  out.set("predicted", std::move(predicted));
  return out;
}

}  // namespace nest::frameworks
