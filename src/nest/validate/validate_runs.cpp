#include "nest/validate/validate_runs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "nest/plan/text/plan_keys.hpp"
#include "nest/plan/zero.hpp"
#include "nest/validate/runs/run_flops.hpp"
#include "nest/validate/validation_value.hpp"

namespace nest::validate {
namespace {

// What a run that is said not to fit may have had in truth, from the least change to the greatest.
struct Change {
  const char* what;
  void (*apply)(PreparedRun& run);
};
constexpr std::array<Change, 6> kChanges{{
    {"an allocator that loses nothing", [](PreparedRun& run) { run.inputs.recipe.fragmentation = 0; }},
    {"gradients in bf16",
     [](PreparedRun& run) {
       run.inputs.recipe.gradient_dtype = run.inputs.recipe.reduce_dtype = StateDType::bf16;
       run.inputs.recipe.gradient_copy = false;
     }},
    {"a fused loss", [](PreparedRun& run) { run.inputs.recipe.fused_loss = true; }},
    {"optimizer states in bf16",
     [](PreparedRun& run) { run.inputs.recipe.optimizer_dtype = StateDType::bf16; }},
    {"selective recomputation",
     [](PreparedRun& run) { run.plan.default_recompute = Recompute{RecomputePolicy::selective}; }},
    {"full recomputation",
     [](PreparedRun& run) { run.plan.default_recompute = Recompute{RecomputePolicy::full}; }},
}};

std::string nearest_fit(const PreparedRun& run, const RunPredictor& predict) {
  for (const Change& change : kChanges) {
    PreparedRun changed = run;
    change.apply(changed);
    const RunPrediction again = predict(changed);
    if (again.why_not.empty() && again.fits) return change.what;
  }
  return "none of the changes that were tried";
}

RunResult check(const RunRow& row, const RunPredictor& predict, const ValidationOptions& options,
                bool without_own = false) {
  RunResult out{.row = row, .usable = options.all || row.is_usable()};
  if (!out.usable) return out;
  const RunCase prepared = prepared_case(row, options, without_own);
  if (!prepared.run) {
    out.why_skipped = prepared.why_not;
    return out;
  }
  const MeasuredStep measured = measured_step(row, prepared.run->model());
  if (!measured.time) {
    out.why_skipped = measured.why_not;
    return out;
  }
  out.measured = *measured.time;
  out.flops = step_flops(prepared.run->model(), row, FlopCount::model_causal);
  out.prediction = predict(*prepared.run);
  out.why_skipped = out.prediction.why_not;
  if (out.why_skipped.empty() && !(out.prediction.step.value > 0))
    out.why_skipped = "no step time was predicted";
  if (out.why_skipped.empty() && !out.prediction.fits && !without_own)
    out.would_fit = nearest_fit(*prepared.run, predict);
  if (out.why_skipped.empty()) out.predicted_metric = in_metric_of(row, out.measured, out.prediction.step);
  return out;
}

using Choice = std::function<bool(const RunResult&)>;

ErrorSummary summary_of(const std::string& name, const std::vector<RunResult>& rows, const Choice& choice) {
  std::vector<double> errors;
  for (const RunResult& r : rows) {
    if (r.scored() && choice(r)) errors.push_back(r.error());
  }
  return summarize_errors(name, errors);
}

struct Feature {
  const char* name;
  bool (*holds)(const RunRow& row);
};
// Of the rows that the headline is made of.
constexpr std::array<Feature, 6> kFeatures{{
    {"pipeline > 1", [](const RunRow& r) { return r.pipeline.value_or(1) > 1; }},
    {"expert > 1", [](const RunRow& r) { return r.expert.value_or(1) > 1; }},
    {"context > 1", [](const RunRow& r) { return r.context.value_or(1) > 1; }},
    {"interleaved", [](const RunRow& r) { return r.interleave.value_or(1) > 1; }},
    {"ZeRO 3", [](const RunRow& r) { return Zero(r.zero.value_or(0)).shards_parameters(); }},
    {"several nodes", [](const RunRow& r) { return r.devices.value_or(1) > r.devices_per_node.value_or(8); }},
}};

// Of GPU rows: with experts or without, by what products are computed in.
struct Kind {
  const char* name;
  bool experts;
  const char* precision;
};
constexpr std::array<Kind, 4> kKinds{{{"moe 16bit", true, "16bit"},
                                      {"moe fp8", true, "fp8"},
                                      {"dense 16bit", false, "16bit"},
                                      {"dense fp8", false, "fp8"}}};

std::vector<ErrorSummary> strata_of(const std::vector<RunResult>& rows) {
  std::vector<ErrorSummary> out;
  out.reserve(kKinds.size() + kFeatures.size() + 2);
  for (const Kind& k : kKinds) {
    out.push_back(summary_of(k.name, rows, [&](const RunResult& r) {
      return !r.is_tpu() && r.row.experts.has_value() == k.experts && r.row.precision_class == k.precision;
    }));
  }
  for (const Feature& f : kFeatures) {
    out.push_back(
        summary_of(f.name, rows, [&](const RunResult& r) { return r.headline() && f.holds(r.row); }));
  }
  for (const char* kind : {"SFT", "LoRA"}) {
    const Choice of_kind = [kind](const RunResult& r) { return r.row.tuning_kind == kind; };
    if (std::ranges::any_of(rows, of_kind)) out.push_back(summary_of(kind, rows, of_kind));
  }
  out.push_back(summary_of("fp8", rows, [](const RunResult& r) { return r.is_fp8() && !r.is_tpu(); }));
  out.push_back(summary_of("TPU", rows, [](const RunResult& r) { return r.is_tpu(); }));
  const auto group = [&](const std::string& what, const std::function<std::string(const RunResult&)>& key) {
    std::map<std::string, std::vector<double>> groups;
    for (const RunResult& r : rows) {
      if (r.scored()) groups[key(r)].push_back(r.error());
    }
    for (const auto& [name, errors] : groups) {
      std::string title = what;
      title.append(" ").append(name);
      out.push_back(summarize_errors(title, errors));
    }
  };
  group("accelerator", [](const RunResult& r) { return r.row.accelerator; });
  group("framework", [](const RunResult& r) { return r.row.framework; });
  group("source", [](const RunResult& r) { return r.row.project(); });
  return out;
}

// The model to beat: every run of one project on one accelerator reaches the same share of its FLOP rate, the
// median one. (FLOPs are the model's: no recomputation, causal.)
ErrorSummary constant_model(const std::vector<RunResult>& rows, const Choice& choice) {
  const auto rate = [](const RunResult& r) {
    return r.flops.value / (r.measured.value * static_cast<double>(r.row.devices.value_or(1)));
  };
  std::map<std::string, std::vector<double>> rates;
  const auto key = [](const RunResult& r) { return r.row.project() + " " + r.row.accelerator; };
  for (const RunResult& r : rows) {
    if (r.scored() && choice(r)) rates[key(r)].push_back(rate(r));
  }
  std::vector<double> errors;
  for (const RunResult& r : rows) {
    if (r.scored() && choice(r)) errors.push_back(rate(r) / median_of(rates[key(r)]) - 1);
  }
  return summarize_errors("constant", errors);
}

// A sweep: one source, machine and model. Seconds per token are compared, for batches differ.
OrderSummary order_of_runs(const std::vector<RunResult>& rows) {
  std::vector<OrderedItem> items;
  for (const RunResult& r : rows) {
    if (!r.scored()) continue;
    const double tokens =
        static_cast<double>(r.row.global_batch.value_or(1)) * static_cast<double>(r.row.sequence.value_or(1));
    items.push_back({r.row.source + "|" + r.row.accelerator + "|" +
                         std::to_string(r.row.devices.value_or(0)) + "|" + r.row.model,
                     r.measured.value / tokens, r.prediction.step.value / tokens});
  }
  return order_of(items);
}

Value row_value(const RunResult& r) {
  Value out = Value::object();
  out.set("id", r.row.id).set("source", r.row.project()).set("accelerator", r.row.accelerator);
  out.set("framework", r.row.framework).set("usable", r.usable);
  if (!r.why_skipped.empty()) return std::move(out.set("skipped", r.why_skipped));
  if (!r.usable) return out;
  out.set("metric", r.row.metric).set("measured", *r.row.measured).set("predicted", r.predicted_metric);
  out.set("measured_s", r.measured.value).set("predicted_s", r.prediction.step.value).set("error", r.error());
  out.set("unseen_error", r.unseen_error);
  out.set("low_s", r.prediction.interval.low.value).set("high_s", r.prediction.interval.high.value);
  if (!r.prediction.like.empty()) out.set("like", r.prediction.like);
  out.set("fits", r.prediction.fits);
  if (!r.would_fit.empty()) out.set("would_fit_with", r.would_fit);
  if (const StageMemory* fullest = r.prediction.fullest()) {
    out.set("memory_bytes", fullest->total().value).set("capacity_bytes", fullest->capacity.value);
    Value held = Value::object();
    held.set("weights", fullest->weights.value).set("gradients", fullest->gradients.value);
    held.set("optimizer", fullest->optimizer.value).set("activations", fullest->activations.value);
    held.set("workspace", fullest->workspace.value).set("fragmentation", fullest->fragmentation.value);
    held.set("reserve", fullest->reserve.value);
    out.set("memory", std::move(held));
  }
  Value parts = Value::object();
  for (const auto& key : kBreakdownKeys) {
    if (is_written(key, r.prediction.breakdown))
      parts.set(key.key, (r.prediction.breakdown.*key.member).value);
  }
  return std::move(out.set("breakdown", std::move(parts)));
}

}  // namespace

std::int64_t RunValidation::scored() const {
  return std::count_if(rows.begin(), rows.end(), [](const RunResult& r) { return r.scored(); });
}

std::int64_t RunValidation::said_to_fit() const {
  return std::count_if(rows.begin(), rows.end(),
                       [](const RunResult& r) { return r.scored() && r.prediction.fits; });
}

RunCase prepared_case(const RunRow& row, const ValidationOptions& options, bool without_own) {
  RunCase out = run_case(row, without_own);
  if (out.run && options.calibration)
    apply_calibration(*options.calibration, out.run->inputs.recipe, out.run->inputs.cluster);
  return out;
}

RunValidation validate_runs(std::span<const RunRow> rows, const RunPredictor& predict,
                            const ValidationOptions& options) {
  RunValidation out;
  for (const RunRow& row : rows) out.rows.push_back(check(row, predict, options));
  const bool any =
      std::any_of(out.rows.begin(), out.rows.end(), [](const RunResult& r) { return r.headline(); });
  const Choice choice = [any](const RunResult& r) { return !any || r.headline(); };
  const bool tuned = std::ranges::any_of(rows, [](const RunRow& r) { return !r.tuning_kind.empty(); });
  out.headline = summary_of(tuned ? "fine-tuning rows"
                            : any ? "16-bit GPU rows"
                                  : "all scored rows",
                            out.rows, choice);
  std::vector<RunResult> unseen;
  for (const RunRow& row : rows) unseen.push_back(check(row, predict, options, true));
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    if (out.rows[i].scored() && unseen[i].scored()) out.rows[i].unseen_error = unseen[i].error();
    if (out.rows[i].scored())
      out.coverage.add(out.rows[i].inside(), time_sources().has(out.rows[i].row.project()));
  }
  out.unseen = summary_of("constants of its own source left out", unseen, choice);
  out.constant = constant_model(out.rows, choice);
  out.strata = strata_of(out.rows);
  out.order = order_of_runs(out.rows);
  return out;
}

Value to_value(const RunValidation& validation) {
  Value out = head_value(head_of(validation.rows), validation.headline,
                         "one efficiency per source and accelerator", validation.constant);
  out.set("leave_one_source_out",
          model_value("constants fitted to a row's own source left out", validation.unseen));
  out.set("strata", strata_value(validation.strata)).set("order", to_value(validation.order));
  out.set("coverage", to_value(validation.coverage, time_sources()));
  Value fit = Value::object();
  fit.set("ran", validation.scored()).set("said_to_fit", validation.said_to_fit());
  out.set("fit", std::move(fit));
  Value details = Value::array();
  for (const RunResult& r : validation.rows) details.push(row_value(r));
  out.set("details", std::move(details));
  return out;
}

}  // namespace nest::validate
