#include "nest/question/make_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "nest/base/numbers.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/estimate/kernels/precision_math.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/tuned_model.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"
#include "nest/plan/text/contents_text.hpp"
#include "nest/price/uncertainty.hpp"
#include "nest/question/state_choices.hpp"

namespace nest::question {
namespace {

constexpr std::int64_t kDefaultGlobalBatch = 1024;  // sequences

[[noreturn]] void refuse(std::string_view field, std::string what, const std::string& hint = {}) {
  throw AskedError(field, {std::move(what), true}, hint);
}

// Two fields that exclude each other: the words are wrong, whatever the inputs.
[[noreturn]] void exclude(std::string_view field, std::string what) {
  throw AskedError(field, {std::move(what)});
}

Training training_of(const PlanInputs& inputs, const Asked& asked) {
  Training t;
  t.global_batch = asked.global_batch.value_or(kDefaultGlobalBatch);
  t.sequence = asked.sequence.value_or(inputs.default_sequence());
  t.contents = asked.contents;
  t.precision = asked.precision.value_or(inputs.recipe.precision);
  t.optimizer = asked.optimizer.value_or(inputs.recipe.optimizer);
  t.tuning = asked.tuning;
  t.mtp = asked.mtp;
  return t;
}

SearchOptions options_of(const Asked& asked) {
  SearchOptions out;
  out.pipeline_model = asked.pipeline_model;
  out.objective =
      asked.objective.value_or(asked.target_tokens_per_s ? Objective::devices : Objective::step_time);
  if (out.objective == Objective::devices && !asked.target_tokens_per_s)
    exclude("objective", "devices needs target-tokens-per-s, the throughput to reach");
  if (out.objective != Objective::devices && asked.target_tokens_per_s)
    exclude("target-tokens-per-s", "a target needs the objective 'devices'");
  if (out.objective != Objective::step_time && !asked.batches.empty())
    exclude("global-batch", fmt::format("several batches are compared by their throughput; the objective "
                                        "'{}' takes one",
                                        out.objective == Objective::cost ? "cost" : "devices"));
  out.target_tokens_per_s = asked.target_tokens_per_s.value_or(0);
  out.gap = asked.gap;
  out.deadline = Deadline(asked.time_limit);
  out.work_limit = asked.work_limit;
  out.memory_limit = asked.memory_limit.value_or(kDefaultMemoryLimit);
  out.threads = static_cast<int>(asked.threads);
  out.top = static_cast<int>(asked.top);
  // Who asks for a gap or for the fewest devices does not compare steps.
  const bool compares = out.gap == 0 && out.objective == Objective::step_time;
  out.runners_up = compares ? static_cast<int>(asked.runners_up) : 0;
  out.without = asked.without;
  return out;
}

// The share of memory that plans leave free.
double margin_of(const PlanInputs& inputs, const Asked& asked, Warnings& notes) {
  if (asked.risky) return 0;
  if (asked.memory_margin) return *asked.memory_margin;
  const double fits = asked.fits.value_or(kDefaultFits);
  const Spread* spread = memory_spread(inputs);
  if (asked.fits && spread == nullptr)
    notes.emplace_back(
        "no measured runs are like this one, so that no probability of fitting in memory can be claimed; a "
        "margin of memory can be asked for");
  else if (spread != nullptr && fits > spread->most_share())
    notes.push_back(
        fmt::format("{} measured runs are like this one, by which a plan can be claimed to fit with {} at "
                    "most, not {}; as "
                    "much memory as the largest error among them took is kept free",
                    spread->rows, format_percent(spread->most_share()), format_percent(fits)));
  return margin_for(inputs, fits);
}

void check_training(const PlanInputs& inputs, const Training& t) {
  if (t.global_batch < 1)
    refuse("global-batch", fmt::format("{} is less than 1, the smallest value allowed", t.global_batch));
  if (const LayerProfile* profile = inputs.profile(); profile != nullptr && t.sequence != profile->sequence)
    refuse("sequence", fmt::format("the layer profile holds for sequences of {} tokens", profile->sequence));
  const Accelerator& chip = inputs.cluster.accelerator();
  if (const std::string lacks = lacking_math(inputs.cluster, t.precision); !lacks.empty())
    refuse("precision", chip.name + " " + lacks, "use bf16");
}

// Layer profiles hold what a layer keeps without recomputation and with all of it.
void check_recompute(const PlanInputs& inputs, const SearchSpace& space) {
  if (inputs.profile() == nullptr) return;
  const auto part_of_layer = [](const Recompute& r) {
    return r.policy == RecomputePolicy::selective || r.policy == RecomputePolicy::modules;
  };
  if (std::ranges::any_of(space.recompute,
                          [](const Recompute& r) { return r.policy == RecomputePolicy::modules; }))
    refuse("recompute", "a layer profile does not know which modules its layers have",
           "give none, full or full:N");
  if (!space.recompute.empty() && std::ranges::all_of(space.recompute, part_of_layer))
    refuse("recompute", "a layer profile does not know what selective recomputation keeps",
           "give none, full or full:N");
}

bool holds_in_few_bits(const Model& model) {
  return std::ranges::any_of(model.types, [](const LayerType& type) {
    return std::ranges::any_of(type.tensors, [](const Tensor& t) { return t.packed_bits > 0; });
  });
}

// Sequences that the model does not take, and parts that it does not have, are refused here.
void check_model(const PlanInputs& inputs, const Training& t, Warnings& notes) {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (spec == nullptr) {
    if (!t.contents.usual())
      refuse(t.contents.lengths       ? "lengths"
             : t.contents.images != 1 ? "images"
                                      : "image-tokens",
             "a layer profile holds for the sequences that it was measured with");
    if (!t.tuning.whole()) refuse("train", "the times of a layer profile are those of training all of it");
    if (t.optimizer == Optimizer::muon)
      refuse("optimizer", "a layer profile does not say which parameters are matrices, which Muon asks for");
    if (t.mtp) refuse("mtp", "a layer profile has the layers that were measured, and no other modules");
    return;
  }
  if (t.mtp && spec->mtp_layers == 0)
    refuse("mtp", spec->name + " has no modules for multi-token prediction");
  try {
    const Model model = tuned(
        build_model(*spec, {.micro_batch = 1, .sequence = t.sequence, .contents = t.contents, .mtp = t.mtp}),
        t.tuning);
    if (t.tuning.frozen_bits < 16 && !holds_in_few_bits(model))
      notes.push_back(fmt::format("'frozen-bits' {} has no effect: no product of a block is frozen",
                                  t.tuning.frozen_bits));
  } catch (const InputError& error) {
    for (const std::string_view field :
         {"sequence", "lengths", "images", "image-tokens", "train", "freeze"}) {
      if (error.place() == fmt::format("--{}", field)) refuse(field, error.problem(), error.hint());
    }
    throw;
  }
}

// Choices that the framework does not have, before its rules are applied to those left open.
void check_choices(const FrameworkRules& rules, const SearchSpace& space) {
  if (space.mixed && rules.same_strategy)
    exclude("mixed", fmt::format("{} runs one strategy in all stages", rules.title));
  for (const Schedule s : space.schedules) {
    if (!rules.has(s)) exclude("schedule", fmt::format("{} has no schedule {}", rules.title, name_of(s)));
  }
  for (const Recompute& r : space.recompute) {
    if (!rules.has(r)) exclude("recompute", fmt::format("{} has no recomputation {}", rules.title, spell(r)));
  }
}

bool wants_stages(const SearchSpace& space) {
  return space.pipeline.open() || space.pipeline.ranges() != Choice(1).ranges();
}

// A framework whose experts want sequence parallelism gets no tensor parallelism without it.
void keep_experts_in_sequence(const FrameworkRules& rules, PlanQuestion& question) {
  SearchSpace& space = question.space;
  if (!rules.experts_in_sequence || !has_experts(question.inputs)) return;
  const bool off = space.sequence_parallel == std::vector<bool>{false};
  if (off && !space.tensor.open() && !space.tensor.has(1))
    exclude("sequence-parallel",
            fmt::format("{} trains experts with tensor parallelism only if sequence parallelism is on",
                        rules.title));
  if (off) {
    space.tensor = Choice(1);
  } else {
    space.sequence_parallel = {true};
  }
}

// Puts the first combination of dtypes that the framework can run into the training, for whoever asks for one; else the
// rule that the first breaks.
const InputRule* choose_states(const FrameworkRules* rules, PlanQuestion& question) {
  const InputRule* broken = nullptr;
  for (const States& states : state_values(question.inputs, question.training, question.space)) {
    question.training.states = states;
    const InputRule* rule = rules == nullptr ? nullptr : rules->refusal(question.inputs, question.training);
    if (rule == nullptr) return nullptr;
    if (broken == nullptr) broken = rule;
  }
  return broken;
}

void apply_rules(const FrameworkRules& rules, PlanQuestion& question) {
  SearchSpace& space = question.space;
  if (const InputRule* rule = choose_states(&rules, question)) refuse("for", std::string(rule->sentence));
  check_choices(rules, space);
  apply_framework(rules, space);
  keep_experts_in_sequence(rules, question);
  if (wants_stages(space) && !rules.can_cut(question.inputs)) {
    if (!space.pipeline.has(1))
      refuse("pipeline", fmt::format("{} cannot divide {} into stages, because {}", rules.title,
                                     question.inputs.model_name(), rules.why_uncut(question.inputs)));
    space.pipeline = Choice(1);
    question.notes.push_back(fmt::format("without a pipeline: {} cannot cut {} into stages", rules.title,
                                         question.inputs.model_name()));
  }
  if (const std::string_view recipe = recipe_of(rules.name); question.inputs.recipe.framework != recipe)
    question.notes.push_back(
        fmt::format("priced with the recipe '{}'; the recipe '{}' has what {} overlaps and holds in memory",
                    question.inputs.recipe.name, recipe, rules.title));
}

}  // namespace

PlanQuestion make_question(PlanInputs inputs, const Asked& asked) {
  if (asked.uniform && asked.choices.mixed) exclude("uniform", "uniform and mixed exclude each other");
  PlanQuestion question{std::move(inputs), {}, asked.choices, options_of(asked), asked, {}, {},
                        asked.batches};
  if (asked.devices) {
    question.whole = question.inputs.cluster;
    question.inputs.cluster = with_devices(*question.whole, *asked.devices);
  }
  question.training = training_of(question.inputs, asked);
  check_training(question.inputs, question.training);
  check_model(question.inputs, question.training, question.notes);
  warn_of_sequence(question.inputs, question.training.sequence, question.notes);
  const Accelerator& chip = question.inputs.cluster.accelerator();
  if (question.training.precision == Precision::bf16 && !chip.peak(MathType::bf16))
    question.notes.push_back(chip.name + " has no bf16; its fp16 rate is used");
  if (asked.framework.empty()) {
    choose_states(nullptr, question);
  } else {
    if (auto problem = check_framework(asked.framework)) throw AskedError("for", std::move(*problem));
    apply_rules(*find_framework_rules(asked.framework), question);
  }
  check_recompute(question.inputs, question.space);
  const std::vector<Offload>& offload = question.space.offload;
  if (question.training.optimizer == Optimizer::muon && !offload.empty() &&
      std::all_of(offload.begin(), offload.end(), [](const Offload& o) { return o.optimizer; }))
    refuse("offload", "Muon's matrices are orthogonalized on the device: its states are not offloaded");
  question.options.memory_margin = margin_of(question.inputs, asked, question.notes);
  return question;
}

PlanQuestion ask_otherwise(const PlanQuestion& question, const Asked& asked) {
  PlanInputs inputs = question.inputs;
  if (question.whole) inputs.cluster = *question.whole;
  PlanQuestion other = make_question(std::move(inputs), asked);
  const double margin = other.options.memory_margin;
  other.options = question.options;
  other.options.memory_margin = margin;
  return other;
}

void check_question(const PlanQuestion& question) {
  check_training(question.inputs, question.training);
}

PlanQuestion question_of(const Plan& plan, const PlanInputs& inputs, PipelineModel pipeline_model) {
  Asked asked;
  asked.global_batch = plan.training.global_batch;
  asked.sequence = plan.training.sequence;
  asked.contents = plan.training.contents;
  asked.tuning = plan.training.tuning;
  asked.mtp = plan.training.mtp;
  asked.precision = plan.training.precision;
  asked.optimizer = plan.training.optimizer;
  put_states(plan.training.states, asked.choices);
  asked.pipeline_model = pipeline_model;
  PlanInputs own = inputs;
  const std::int64_t used = plan.parallelism.devices();
  if (!plan.lower_bound && used < inputs.cluster.devices()) {
    try {
      own.cluster = with_devices(inputs.cluster, used);
    } catch (const InputError&) {
      own.cluster = inputs.cluster;  // its levels cannot be cut so
    }
  }
  return make_question(std::move(own), asked);
}

Value to_value(const PlanQuestion& question) {
  const Training& t = question.training;
  Value training = Value::object();
  if (!question.batches.empty()) {
    Value batches = Value::array();
    for (const std::int64_t batch : question.batches) batches.push(batch);
    training.set("global_batches", std::move(batches));
  }
  training.set("global_batch", t.global_batch).set("sequence", t.sequence);
  set_contents(training, t.contents);
  training.set("precision", name_of(t.precision)).set("optimizer", name_of(t.optimizer));
  put_tuning(training, t.tuning);
  if (t.mtp) training.set("mtp", true);
  Value space = Value::object();
  for (const SpaceOption& option : space_options())
    space.set(std::string(option.name), spell(option, question.space));
  space.set("mixed", question.space.mixed).set("same_recompute", question.space.same_recompute);
  space.set("framework", question.space.rules == nullptr ? "" : question.space.rules->name);
  const SearchOptions& o = question.options;
  Value options = Value::object();
  options.set("objective", name_of(o.objective));
  options.set("target_tokens_per_s", o.target_tokens_per_s).set("gap", o.gap).set("top", o.top);
  options.set("memory_margin", o.memory_margin).set("strict", question.asked.strict);
  options.set("runners_up", o.runners_up).set("pipeline_model", name_of(o.pipeline_model));
  if (question.asked.time_limit) options.set("time_limit_s", question.asked.time_limit->value);
  if (question.asked.memory_limit) options.set("memory_limit", question.asked.memory_limit->value);
  if (o.work_limit) options.set("work_limit", *o.work_limit);
  Value notes = Value::array();
  for (const std::string& note : question.notes) notes.push(note);
  Value v = Value::object();
  v.set("inputs", to_value(question.inputs)).set("training", std::move(training));
  v.set("space", std::move(space)).set("search", std::move(options)).set("notes", std::move(notes));
  return v;
}

}  // namespace nest::question
