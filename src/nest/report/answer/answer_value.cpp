#include "nest/report/answer/answer_value.hpp"

#include <utility>

#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/report/answer/plans_beside.hpp"

namespace nest::report {
namespace {

Value texts(const Warnings& list) {
  Value v = Value::array();
  for (const std::string& text : list) v.push(text);
  return v;
}

Value in_short(const Plan& plan) {
  Value v = Value::object();
  v.set("step_s", plan.predicted->step.value).set("micro_batch", plan.training.micro_batch);
  v.set("devices", plan.parallelism.devices());
  v.set("parallelism", to_value(plan.parallelism, plan.stages));
  return v;
}

Value runner_up_value(const Plan& best, const Plan& other) {
  Value v = in_short(other);
  v.set("share", other.predicted->step / best.predicted->step - 1);
  if (const auto loss = largest_loss(best, other)) v.set("loses_most_by", loss_value(*loss));
  return v;
}

const char* amount_key(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::knob:
      return "degree";
    case AdviceKind::memory:
      return "memory_bytes";
    case AdviceKind::devices:
      return "devices";
    case AdviceKind::batch:
      return "global_batch";
    case AdviceKind::sequence:
      return "sequence";
    case AdviceKind::throughput:
      return "tokens_per_s";
  }
  return "";
}

}  // namespace

Value loss_value(const TermDifference& loss) {
  Value v = Value::object();
  v.set("name", loss.name).set("change_s", loss.change().value);
  return v;
}

Value answer_value(const SearchResult& found, const PlanInputs& inputs, const SearchOptions& asked,
                   const Warnings& warnings) {
  const Plan& best = found.plans.front();
  const Plan& taken = found.plan();
  Value v = plan_value(taken, inputs);
  if (found.simpler) {
    Value strict = in_short(best);
    strict.set("avoids", texts(found.avoids)).set("why", simpler_sentence(found));
    if (const auto loss = largest_loss(best, taken)) strict.set("taken_loses_most_by", loss_value(*loss));
    v.set("strict", std::move(strict));
  }
  if (const std::string why = safety_sentence(found, asked); !why.empty()) {
    Value safety = Value::object();
    safety.set("memory_margin", asked.memory_margin).set("why", why);
    safety.set("objective", name_of(asked.objective)).set("share", found.safety.costs);
    if (found.risky) {
      safety.set("risky_step_s", found.risky->predicted->step.value);
      safety.set("risky_fits_probability", *found.risky->predicted->fits_probability);
      safety.set("proved", found.safety.known);
    }
    v.set("safety", std::move(safety));
  }
  if (found.better_batch) {
    const Plan& other = *found.better_batch;
    Value batch = Value::object();
    batch.set("global_batch", other.training.global_batch);
    batch.set("tokens_per_s", other.predicted->tokens_per_s).set("step_s", other.predicted->step.value);
    v.set("better_batch", std::move(batch.set("why", batch_sentence(found))));
  }
  if (found.further_stopped) v.set("further_stopped", true);
  if (found.batches) {
    const double tokens = found.batches->most_per_s * static_cast<double>(taken.training.sequence);
    Value batches = Value::object();
    batches.set("asked", static_cast<std::int64_t>(found.batches->asked));
    batches.set("bounded", static_cast<std::int64_t>(found.batches->bounded));
    if (tokens > 0) batches.set("upper_bound_tokens_per_s", tokens);
    v.set("batches", std::move(batches));
  }
  if (asked.objective == Objective::step_time) {
    Value near = Value::array();
    for (const Plan* one : near_ties(found)) near.push(runner_up_value(best, *one));
    if (!near.as_array()->empty()) v.set("near_ties", std::move(near));
  }
  if (found.plans.size() > 1) {
    Value others = Value::array();
    for (const Plan* one : runners_up(found)) others.push(runner_up_value(best, *one));
    v.set("runners_up", std::move(others));
  }
  const std::string idle = idle_sentence(found, inputs, asked);
  if (!idle.empty()) {
    Value devices = Value::object();
    devices.set("devices", inputs.cluster.devices() - taken.parallelism.devices()).set("why", idle);
    v.set("idle", std::move(devices));
  }
  Warnings all = plan_warnings(found, inputs);
  all.insert(all.end(), warnings.begin(), warnings.end());
  if (!all.empty()) v.set("warnings", texts(all));
  return v;
}

Value alternatives_value(const SearchResult& found, const PlanInputs& inputs) {
  Value list = Value::array();
  for (const Plan* other : plans_beside(found)) list.push(plan_value(*other, inputs));
  return list;
}

Value unfit_value(const SearchResult& found, const AdviceList& advice) {
  Value v = Value::object();
  v.set("status", name_of(found.status)).set("reason", found.reason);
  if (found.least_memory.value > 0) v.set("least_memory_bytes", found.least_memory.value);
  Value list = Value::array();
  for (const Advice& a : advice.all) {
    Value one = Value::object();
    one.set("kind", name_of(a.kind)).set("sentence", a.sentence);
    if (a.amount > 0) one.set(amount_key(a.kind), a.amount);
    if (!a.field.empty()) one.set("field", a.field).set("value", a.value);
    if (a.plan) {
      one.set("step_s", a.plan->predicted->step.value).set("degrees", spell_degrees(*a.plan));
      one.set("parallelism", to_value(a.plan->parallelism, a.plan->stages));
    }
    list.push(std::move(one));
  }
  v.set("advice", std::move(list));
  if (advice.stopped) v.set("advice_stopped", true);
  return v;
}

Value to_value(const SearchStats& stats) {
  Value v = Value::object();
  v.set("strategies", stats.strategies).set("configurations", stats.configurations);
  v.set("networks", stats.networks).set("fills", stats.fills).set("labels", stats.labels);
  v.set("work", stats.work);
  Value pruned = Value::object();
  for (const auto& [name, count] : stats.pruned) pruned.set(name, count);
  Value seconds = Value::object();
  for (const auto& [name, time] : stats.times) seconds.set(name, time.value);
  v.set("pruned", std::move(pruned)).set("seconds", std::move(seconds));
  return v;
}

Value priced_value(const PricedPlan& priced) {
  Value v = Value::object();
  v.set("status", name_of(priced.status)).set("reason", priced.reason);
  if (priced.status == PriceStatus::invalid) return v;
  v.set("predicted", to_value(priced.predicted));
  Value stages = Value::array();
  for (const StageCost& cost : priced.stages) {
    Value stage = Value::object();
    stage.set("time", to_value(cost.time())).set("memory", to_value(cost.memory));
    stages.push(std::move(stage));
  }
  v.set("stages", std::move(stages));
  return v;
}

}  // namespace nest::report
