// Reading of plans; writing is in plan_json.cpp.
#include <algorithm>
#include <array>

#include "nest/base/numbers.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/plan/text/contents_text.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/plan_keys.hpp"
#include "nest/plan/text/read_recompute.hpp"

namespace nest::plan {
namespace {

constexpr WholeRange kDegree{1, 1 << 24};
constexpr WholeRange kCount{1, 1'000'000'000};
constexpr std::int32_t kMostId = (1 << 24) - 1;

template <class Enum, class Find>
void read_word(Reader& r, const char* key, const std::vector<std::string>& words, Find find, Enum& out) {
  if (!r.has(key)) return;
  out = *find(r.choice(key, words));
}

// Tokens: 131072, or the text "128K".
std::int64_t read_sequence(Reader& r) {
  constexpr WholeRange kRange{0, kCount.most};
  const Value* value = r.find("sequence");
  const std::string* text = value != nullptr ? value->as_string() : nullptr;
  const auto tokens = text != nullptr ? parse_length(*text) : std::nullopt;
  return tokens && *tokens >= kRange.least && *tokens <= kRange.most ? *tokens
                                                                     : r.whole_or("sequence", 0, kRange);
}

States read_states(Reader& r) {
  States states;
  for (const StateKey& key : state_keys()) {
    const std::string name(key.key);
    if (r.has(name)) states.*key.member = find_state_dtype(r.choice(name, dtype_names(key)));
  }
  const std::string master(kMasterWeights);
  if (r.has(master)) states.master_weights = r.boolean_or(master, true);
  return states;
}

Training read_training(Reader* r, const Recipe& recipe, Warnings& warnings) {
  Training t;
  t.sequence = 0;  // the model's default
  t.micro_batch = t.micro_batches = 0;
  t.precision = recipe.precision;
  t.optimizer = recipe.optimizer;
  if (r == nullptr) return t;
  t.global_batch = r->whole_or("global_batch", t.global_batch, kCount);
  t.sequence = read_sequence(*r);
  t.contents = read_contents(*r);
  t.micro_batch = r->whole_or("micro_batch", 0, {0, kCount.most});
  t.micro_batches = r->whole_or("micro_batches", 0, {0, kCount.most});
  read_word(*r, "precision", precision_names(), find_precision, t.precision);
  read_word(*r, "optimizer", optimizer_names(), find_optimizer, t.optimizer);
  t.states = read_states(*r);
  t.tuning = read_tuning(*r, warnings);
  t.mtp = r->boolean_or("mtp", false);
  return t;
}

// Whole numbers of a list without a path for each: lists of devices are long.
template <class IdType>
std::vector<IdType> read_ids(const Reader& r, const char* key, const Value& list) {
  const Value::Array* items = list.as_array();
  if (items == nullptr) r.fail_at(key, "a list of ids is expected, not " + std::string(list.kind_name()));
  std::vector<IdType> ids;
  ids.reserve(items->size());
  for (const Value& item : *items) {
    const std::int64_t* id = item.as_int();
    if (id == nullptr || *id < 0 || *id > kMostId)
      r.fail_at(key, "an id is a whole number from 0 to " + std::to_string(kMostId));
    ids.emplace_back(static_cast<std::int32_t>(*id));
  }
  return ids;
}

template <class Group, class Number, std::size_t N>
void read_numbers(Reader& r, const std::array<NumberKey<Group, Number>, N>& keys, Group& group) {
  for (const auto& k : keys) {
    if constexpr (std::is_same_v<Number, Bytes>) {
      (group.*k.member).value = r.whole_or(k.key, 0, {0, std::int64_t{1} << 62});
    } else {
      (group.*k.member).value = r.number_or(k.key, 0);
    }
  }
}

Stage read_stage(Reader& r, const Plan& plan, const Recompute& recompute, Warnings& warnings) {
  Stage stage;
  if (const Value* layers = r.find("layers")) stage.layers = read_ids<LayerId>(r, "layers", *layers);
  if (const Value* chunks = r.find("chunks")) {
    if (chunks->as_array() == nullptr) r.fail_at("chunks", "a list of lists of layer ids is expected");
    for (const Value& chunk : *chunks->as_array()) {
      stage.chunks.push_back(read_ids<LayerId>(r, "chunks", chunk));
      std::sort(stage.chunks.back().begin(), stage.chunks.back().end());
    }
    if (stage.layers.empty()) {
      for (const auto& chunk : stage.chunks)
        stage.layers.insert(stage.layers.end(), chunk.begin(), chunk.end());
    }
  }
  std::sort(stage.layers.begin(), stage.layers.end());
  std::optional<Reader> strategy = r.object_if("strategy");
  const Strategy& whole = plan.parallelism.strategy;
  stage.strategy =
      strategy
          ? read_strategy(*strategy, {.dispatcher = whole.dispatcher, .expert_overlap = whole.expert_overlap})
          : whole;
  if (strategy) strategy->warn_unknown(warnings);
  if (recompute.policy == RecomputePolicy::modules && recompute.modules.empty() && !r.has("recompute"))
    r.fail("it is not said which modules run again");
  stage.recompute = read_recompute(r, recompute, warnings);
  if (const Value* devices = r.find("devices")) {
    if (devices->as_array() == nullptr)
      r.fail_at("devices", "a list with one list of ids a copy is expected");
    for (const Value& cell : *devices->as_array()) {
      stage.devices.push_back(read_ids<DeviceId>(r, "devices", cell));
    }
  }
  if (std::optional<Reader> time = r.object_if("time")) {
    read_numbers(*time, kTimeKeys, stage.time.emplace());
    static_cast<void>(time->find("total_s"));
    time->warn_unknown(warnings);
  }
  if (std::optional<Reader> memory = r.object_if("memory")) {
    read_numbers(*memory, kMemoryKeys, stage.memory.emplace());
    stage.memory->capacity.value = memory->whole_or("capacity_bytes", 0, {0, std::int64_t{1} << 62});
    stage.memory->margin.value = memory->whole_or("margin_bytes", 0, {0, std::int64_t{1} << 62});
    stage.memory->host.value = memory->whole_or("host_bytes", 0, {0, std::int64_t{1} << 62});
    stage.memory->host_capacity.value =
        memory->whole_or("host_capacity_bytes", 0, {0, std::int64_t{1} << 62});
    static_cast<void>(memory->find("total_bytes"));
    memory->warn_unknown(warnings);
  }
  return stage;
}

void read_interval(Reader& r, Prediction& p) {
  const auto ends = [&](const char* key) {
    if (!r.has(key)) return std::vector<double>();
    std::vector<double> out = r.numbers(key);
    if (out.size() != 2) r.fail_at(key, "a list of two numbers is expected, low and high");
    return out;
  };
  p.interval.coverage = r.number_or("level", 0);
  if (const std::vector<double> step = ends("step_s"); !step.empty())
    p.interval = {p.interval.coverage, Seconds{step.front()}, Seconds{step.back()}};
  if (const std::vector<double> memory = ends("memory_bytes"); !memory.empty())
    p.memory = MemoryInterval{round_up_bytes(memory.front()), round_up_bytes(memory.back())};
}

Prediction read_prediction(Reader& r, Warnings& warnings) {
  Prediction p;
  p.step.value = r.number_or("step_s", 0);
  if (std::optional<Reader> interval = r.object_if("interval")) {
    read_interval(*interval, p);
    interval->warn_unknown(warnings);
  }
  if (r.has("fits_probability")) p.fits_probability = r.number("fits_probability");
  p.fits_at_least = r.boolean_or("fits_at_least", false);
  p.tokens_per_s = r.number_or("tokens_per_s", 0);
  p.samples_per_s = r.number_or("samples_per_s", 0);
  p.flops_per_device.value = r.number_or("flops_per_device_per_s", 0);
  p.mfu = r.number_or("mfu", 0);
  p.bubble_fraction = r.number_or("bubble_fraction", 0);
  p.stragglers.value = r.number_or("stragglers_s", 0);
  if (std::optional<Reader> breakdown = r.object_if("breakdown")) {
    read_numbers(*breakdown, kBreakdownKeys, p.breakdown);
    breakdown->warn_unknown(warnings);
  }
  r.warn_unknown(warnings);
  return p;
}

Zero read_zero(Reader& r) {
  const Zero zero = r.whole_or("zero", 0, {0, Zero::kMost});
  if (!r.has("reshard")) return zero;
  const std::string text = r.text("reshard");
  const std::optional<Resharding> resharding = read_resharding(text);
  if (!resharding) r.fail_at("reshard", "always, never, first:N or group:N is expected, not '" + text + "'");
  return {zero.number(), *resharding};
}

// ["activations", "optimizer"], or one of them, or none; or a word as after --offload.
void read_offload(Reader& r, Plan& plan) {
  const Value* list = r.find("offload");
  if (list == nullptr || list->is_null()) return;
  if (list->as_array() == nullptr) {
    plan.training.states.offload = *find_offload(r.choice("offload", offload_names()));
    return;
  }
  for (const Value& item : *list->as_array()) {
    const std::string* word = item.as_string();
    const bool optimizer = word != nullptr && *word == kOffloadOptimizer;
    if (word == nullptr || (!optimizer && *word != kOffloadActivations))
      r.fail_at("offload", "what is offloaded is \"activations\" and \"optimizer\"");
    (optimizer ? plan.training.states.offload.optimizer : plan.training.states.offload.activations) = true;
  }
}

// Degrees that the file leaves out stay 0 where they follow from others.
void read_parallelism(Reader& r, const Recipe& recipe, Parallelism& p, Recompute& recompute,
                      SplitOptions& split, bool has_stages, Warnings& warnings) {
  static_cast<void>(r.find("cell"));
  p.pipeline = r.whole_or("pipeline", 0, {0, kDegree.most});
  p.data = r.whole_or("data", 0, {0, kDegree.most});
  p.data_inner = r.whole_or("data_inner", 0, {0, kDegree.most});
  p.block_devices = r.whole_or("block_devices", 0, {0, kDegree.most});
  p.zero = read_zero(r);
  p.zero_shards = r.whole_or("zero_shards", 0, {0, kDegree.most});
  p.interleave = r.whole_or("interleave", 1, {1, 1024});
  p.schedule = p.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  std::vector<std::string> words;
  words.reserve(kSchedules.size());
  for (const PipelineSchedule* s : kSchedules) words.emplace_back(s->name);
  read_word(r, "schedule", words, find_schedule, p.schedule);
  // A schedule that has one number of chunks need not say it.
  const PipelineSchedule& schedule = schedule_of(p.schedule);
  if (!r.has("interleave") && schedule.least_chunks == schedule.most_chunks)
    p.interleave = schedule.least_chunks;
  p.strategy = read_strategy(
      r, {.dispatcher = recipe.dispatcher, .expert_overlap = usual_expert_overlap(p.schedule, recipe)});
  p.first_stage_first = r.boolean_or("first_stage_first", false);
  if (std::optional<Reader> slots = r.object_if("split")) {
    split.embedding_slot = slots->boolean_or("embedding", false);
    split.loss_slot = slots->boolean_or("loss", false);
    slots->done();
  }
  // These words leave it to the stages.
  const Value* word = r.find("recompute");
  const std::string* text = word == nullptr ? nullptr : word->as_string();
  if (text != nullptr && *text == "mixed") return;
  if (text != nullptr && *text == name_of(RecomputePolicy::modules) && has_stages) {
    recompute.policy = RecomputePolicy::modules;
    return;
  }
  recompute = read_recompute(r, recompute, warnings);
}

}  // namespace

Plan read_plan(Reader& r, const Recipe& recipe, Warnings& warnings) {
  // Groups of a plan file that others read, or that follow from the rest.
  for (const char* key : {"inputs", "nest", "model", "cluster", "search"}) static_cast<void>(r.find(key));
  Plan plan;
  std::optional<Reader> training = r.object_if("training");
  plan.training = read_training(training ? &*training : nullptr, recipe, warnings);
  Recompute recompute;
  plan.parallelism.pipeline = plan.parallelism.data = plan.parallelism.data_inner = 0;
  std::optional<Reader> parallelism = r.object_if("parallelism");
  if (parallelism) {
    read_parallelism(*parallelism, recipe, plan.parallelism, recompute, plan.split, r.has("stages"),
                     warnings);
    read_offload(*parallelism, plan);
  }
  if (r.has("stages")) {
    for (Reader& stage : r.objects("stages")) {
      plan.stages.push_back(read_stage(stage, plan, recompute, warnings));
      stage.warn_unknown(warnings);
    }
    // Where `parallelism` names no degree, the first stage's stand for all.
    const bool named = parallelism && (parallelism->has("tensor") || parallelism->has("context") ||
                                       parallelism->has("expert"));
    if (!named && !plan.stages.empty()) plan.parallelism.strategy = plan.stages.front().strategy;
  }
  const bool said_by_stages = recompute.policy == RecomputePolicy::modules && recompute.modules.empty();
  plan.default_recompute = said_by_stages ? Recompute{} : recompute;
  if (r.has("status")) {
    PlanStatus status = PlanStatus::feasible;
    read_word(r, "status", {"optimal", "feasible", "infeasible", "limit"}, find_plan_status, status);
    plan.status = status;
  }
  if (r.has("lower_bound_s")) plan.lower_bound = Seconds{r.number("lower_bound_s")};
  if (std::optional<Reader> predicted = r.object_if("predicted"))
    plan.predicted = read_prediction(*predicted, warnings);
  if (training) training->warn_unknown(warnings);
  if (parallelism) parallelism->warn_unknown(warnings);
  r.warn_unknown(warnings);
  return plan;
}

}  // namespace nest::plan
