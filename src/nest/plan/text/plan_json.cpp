#include "nest/plan/text/plan_json.hpp"

#include <utility>

#include "nest/plan/text/contents_text.hpp"
#include "nest/plan/text/model_facts.hpp"
#include "nest/plan/text/plan_keys.hpp"

namespace nest::plan {
namespace {

constexpr int kSchema = 1;

Value ids_value(const std::vector<LayerId>& ids) {
  Value list = Value::array();
  for (const LayerId id : ids) list.push(id.value);
  return list;
}

Value recompute_value(const Recompute& recompute) {
  if (recompute.modules.empty() && recompute.layers == 0) return name_of(recompute.policy);
  Value v = Value::object();
  v.set("policy", name_of(recompute.policy));
  if (!recompute.modules.empty()) {
    Value modules = Value::array();
    for (const std::string& name : names_of(recompute.modules)) modules.push(name);
    v.set("modules", std::move(modules));
  }
  if (recompute.layers > 0) v.set("layers", recompute.layers);
  return v;
}

// One word for all stages.
std::string recompute_word(std::span<const Stage> stages) {
  if (stages.empty()) return "none";
  const Recompute first = stages.front().recompute;
  for (const Stage& s : stages) {
    if (!(s.recompute == first) || s.recompute.layers > 0) return "mixed";
  }
  return std::string(name_of(first.policy));
}

Value stage_value(const Stage& stage) {
  Value v = Value::object();
  v.set("layers", ids_value(stage.layers));
  if (!stage.chunks.empty()) {
    Value chunks = Value::array();
    for (const auto& chunk : stage.chunks) chunks.push(ids_value(chunk));
    v.set("chunks", std::move(chunks));
  }
  v.set("strategy", to_value(stage.strategy)).set("recompute", recompute_value(stage.recompute));
  if (!stage.devices.empty()) {
    Value cells = Value::array();
    for (const Cell& cell : stage.devices) {
      Value ids = Value::array();
      for (const DeviceId id : cell) ids.push(id.value);
      cells.push(std::move(ids));
    }
    v.set("devices", std::move(cells));
  }
  if (stage.time) v.set("time", to_value(*stage.time));
  if (stage.memory) v.set("memory", to_value(*stage.memory));
  return v;
}

Value training_value(const Training& t) {
  Value v = Value::object();
  v.set("global_batch", t.global_batch).set("sequence", t.sequence).set("micro_batch", t.micro_batch);
  v.set("micro_batches", t.micro_batches).set("precision", name_of(t.precision));
  v.set("optimizer", name_of(t.optimizer));
  put_states(v, t.states);
  set_contents(v, t.contents);
  put_tuning(v, t.tuning);
  if (t.mtp) v.set("mtp", true);
  return v;
}

Value cluster_value(const Cluster& cluster) {
  Value levels = Value::array();
  for (const Level& level : cluster.levels()) {
    Value v = Value::object();
    v.set("name", level.name);
    if (level.fan_out.uniform()) {
      v.set("size", level.fan_out.size);
    } else {
      Value sizes = Value::array();
      for (const std::int32_t n : level.fan_out.sizes) sizes.push(n);
      v.set("sizes", std::move(sizes));
    }
    v.set("bandwidth_bytes_per_s", level.bandwidth.value).set("latency_s", level.latency.value);
    levels.push(std::move(v));
  }
  Value v = Value::object();
  v.set("name", cluster.name()).set("devices", cluster.devices()).set("levels", std::move(levels));
  return v;
}

// As they price the plan: with its own dtypes, where it has any.
Value inputs_value(const PlanInputs& inputs, const States& states) {
  if (!states.any()) return to_value(inputs);
  PlanInputs own = inputs;
  own.recipe = with_states(std::move(own.recipe), states);
  return to_value(own);
}

}  // namespace

void put_states(Value& training, const States& states) {
  for (const StateKey& key : state_keys()) {
    if (const auto& own = states.*key.member) training.set(std::string(key.key), name_of(*own));
  }
  if (states.master_weights) training.set(std::string(kMasterWeights), *states.master_weights);
}

void put_certainty(Value& v, const Prediction& p) {
  if (p.interval.coverage > 0) {
    const auto ends = [](auto low, auto high) { return std::move(Value::array().push(low).push(high)); };
    Value interval = Value::object();
    interval.set("level", p.interval.coverage);
    interval.set("step_s", ends(p.interval.low.value, p.interval.high.value));
    if (p.memory) interval.set("memory_bytes", ends(p.memory->low.value, p.memory->high.value));
    v.set("interval", std::move(interval));
  }
  if (p.fits_probability) v.set("fits_probability", *p.fits_probability);
  if (p.fits_at_least) v.set("fits_at_least", true);
}

Value to_value(const Prediction& p) {
  Value breakdown = Value::object();
  for (const auto& k : kBreakdownKeys) {
    if (is_written(k, p.breakdown)) breakdown.set(k.key, (p.breakdown.*k.member).value);
  }
  Value v = Value::object();
  v.set("step_s", p.step.value);
  put_certainty(v, p);
  v.set("tokens_per_s", p.tokens_per_s).set("samples_per_s", p.samples_per_s);
  v.set("flops_per_device_per_s", p.flops_per_device.value).set("mfu", p.mfu);
  v.set("bubble_fraction", p.bubble_fraction);
  v.set("stragglers_s", p.stragglers.value).set("breakdown", std::move(breakdown));
  return v;
}

Value to_value(const StageTime& time) {
  Value v = Value::object();
  for (const auto& k : kTimeKeys) {
    if (is_written(k, time)) v.set(k.key, (time.*k.member).value);
  }
  v.set("total_s", time.total().value);
  return v;
}

Value to_value(const StageMemory& memory) {
  Value v = Value::object();
  for (const auto& k : kMemoryKeys) v.set(k.key, (memory.*k.member).value);
  v.set("total_bytes", memory.total().value).set("margin_bytes", memory.margin.value);
  v.set("capacity_bytes", memory.capacity.value);
  if (memory.host_capacity.value > 0)
    v.set("host_bytes", memory.host.value).set("host_capacity_bytes", memory.host_capacity.value);
  return v;
}

Value to_value(const Parallelism& p, std::span<const Stage> stages) {
  Value v = to_value(p.strategy);
  v.set("cell", p.strategy.cell()).set("pipeline", p.pipeline).set("data", p.data);
  v.set("data_inner", p.data_inner).set("block_devices", p.block_devices).set("zero", p.zero.number());
  v.set("zero_shards", p.zero_shards);
  if (p.zero.resharding() != Resharding{}) v.set("reshard", spell(p.zero.resharding()));
  v.set("recompute", recompute_word(stages));
  v.set("interleave", p.interleave).set("schedule", name_of(p.schedule));
  if (p.first_stage_first) v.set("first_stage_first", true);
  return v;
}

// What lies in host memory; a key only where something does.
void put_offload(Value& parallelism, const Plan& plan) {
  const Offload& offload = plan.training.states.offload;
  if (!offload.any()) return;
  Value list = Value::array();
  if (offload.activations) list.push(kOffloadActivations);
  if (offload.optimizer) list.push(kOffloadOptimizer);
  parallelism.set("offload", std::move(list));
}

Value plan_value(const Plan& plan, const PlanInputs& inputs) {
  Value about = Value::object();
  about.set("version", version_text()).set("schema", kSchema);
  Value v = Value::object();
  v.set("nest", std::move(about));
  if (plan.status) v.set("status", name_of(*plan.status));
  if (plan.lower_bound) v.set("lower_bound_s", plan.lower_bound->value);
  v.set("inputs", inputs_value(inputs, plan.training.states))
      .set("model", model_facts(inputs, plan.training));
  v.set("cluster", cluster_value(inputs.cluster)).set("training", training_value(plan.training));
  Value parallelism = to_value(plan.parallelism, plan.stages);
  put_offload(parallelism, plan);
  v.set("parallelism", std::move(parallelism));
  Value stages = Value::array();
  for (const Stage& stage : plan.stages) stages.push(stage_value(stage));
  v.set("stages", std::move(stages));
  if (plan.predicted) v.set("predicted", to_value(*plan.predicted));
  return v;
}

OpenPlan read_plan_file(const Document& document, Warnings& warnings) {
  Reader r(document);
  std::optional<Reader> given = r.object_if("inputs");
  if (!given) {
    r.fail("'inputs' is missing: a plan file says which model, cluster and recipe it is for",
           "give --model and --cluster; 'nest evaluate FILE --model NAME --cluster NAME -o plan.json' writes "
           "them into a plan file");
  }
  PlanInputs inputs = read_inputs(*given, warnings);
  Plan plan = read_plan(r, inputs.recipe, warnings);
  warn_of_sequence(inputs, plan.training.sequence, warnings);
  return {std::move(plan), std::move(inputs)};
}

OpenPlan open_plan(const std::string& file, Warnings& warnings) {
  return read_plan_file(read_document(file), warnings);
}

}  // namespace nest::plan
