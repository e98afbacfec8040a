#include "nest/report/reproduce/run_experiment.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "nest/base/stopwatch.hpp"
#include "nest/base/workers.hpp"
#include "nest/question/make_question.hpp"

namespace nest::report {
namespace {

constexpr std::string_view kGiven = "given ";  // before whose degrees they are

std::string reference_method(const Experiment& experiment, const ExperimentOptions& options) {
  if (!options.relative_to.empty()) return options.relative_to;
  return experiment.reference == Reference::nest_here ? "nest" : "manual";
}

bool same_series(const ExperimentPoint& a, const ExperimentPoint& b) {
  return a.sweep == b.sweep && a.model == b.model;
}

bool same_point(const ExperimentPoint& a, const ExperimentPoint& b) {
  return same_series(a, b) && a.devices == b.devices && a.micro_batch == b.micro_batch;
}

bool feasible(const BaselineResult& result) {
  return result.plan && result.plan->predicted &&
         (result.status == PlanStatus::feasible || result.status == PlanStatus::optimal);
}

ExperimentRow row_of(const ExperimentPoint& point, std::string method, const BaselineResult& result) {
  ExperimentRow row;
  row.point = point;
  row.method = std::move(method);
  row.status = name_of(result.status);
  row.search_time = result.search_time;
  if (feasible(result)) {
    row.plan = result.plan;
    for (Stage& stage : row.plan->stages) stage.devices.clear();  // a thousand ids each, which nobody reads
  } else {
    row.reason = result.reason;
  }
  return row;
}

// What one point gives, method by method.
struct PointAnswer {
  std::vector<ExperimentRow> rows;
  std::vector<std::string> bugs;
};

PointAnswer skip(const ExperimentPoint& point, const std::vector<std::string>& methods,
                 const std::string& reason) {
  PointAnswer answer;
  for (const std::string& method : methods) {
    ExperimentRow& row = answer.rows.emplace_back();
    row.point = point;
    row.method = method;
    row.status = "skipped";
    row.reason = reason;
  }
  return answer;
}

// The artifact writes the micro-batch behind the setup, "tpuv4_fatTree_mbs2", where it is not 1. A file in
// which nothing is written so has degrees for every micro-batch.
std::vector<DegreesRow> rows_of_batch(std::vector<DegreesRow> rows, std::int64_t micro_batch) {
  constexpr std::string_view kMark = "_mbs";
  const auto marked = [&](const DegreesRow& row) { return row.setup.find(kMark) != std::string::npos; };
  if (std::none_of(rows.begin(), rows.end(), marked)) return rows;
  const std::string wanted = std::string(kMark) + std::to_string(micro_batch);
  std::erase_if(rows, [&](const DegreesRow& row) {
    return marked(row) ? !row.setup.ends_with(wanted) : micro_batch != 1;
  });
  for (DegreesRow& row : rows) row.setup = row.setup.substr(0, row.setup.find(kMark));
  return rows;
}

PointAnswer answer_point(const ExperimentPoint& point, const ExperimentOptions& options) {
  const std::vector<std::string> methods = methods_of(*point.experiment, options);
  if (!options.profiles.empty()) {
    const std::string file = profile_of(point, options.profiles);
    if (!std::filesystem::is_regular_file(file)) return skip(point, methods, "there is no '" + file + "'");
  }
  const PlanQuestion question = question_of(point, options);
  std::vector<std::string> asked;
  for (const std::string& method : methods)
    if (method != "nest" && find_variant(method) == nullptr) asked.push_back(method);
  CompareOptions compare_options;
  compare_options.baseline = options.baseline;
  if (!options.degrees.empty()) {
    const std::vector<DegreesRow> rows = rows_of_batch(options.degrees, point.micro_batch);
    compare_options.degrees = matching_degrees(rows, degrees_key(question));
    for (auto& [name, degrees] : compare_options.degrees) name.insert(0, kGiven);
  }
  const Comparison all = options.compare(question, asked, compare_options);

  PointAnswer answer;
  const auto note_bug = [&](const Comparison& found) {
    if (found.found.status == PlanStatus::disagreement) answer.bugs.push_back(found.found.reason);
  };
  note_bug(all);
  for (const std::string& method : methods) {
    if (const Variant* variant = find_variant(method)) {
      PlanQuestion other = question;
      variant->change(other.space);
      const Comparison changed = options.compare(other, {}, {});
      note_bug(changed);
      answer.rows.push_back(row_of(point, method, changed.plans.front().result));
    } else if (const ComparedPlan* found = all.find(method)) {
      answer.rows.push_back(row_of(point, method, found->result));
    }
  }
  for (const auto& [name, degrees] : compare_options.degrees)
    if (const ComparedPlan* found = all.find(name)) answer.rows.push_back(row_of(point, name, found->result));
  return answer;
}

std::string spell(const ExperimentPoint& point) {
  std::string text = std::string(point.model->name) + " on " + format_digits(point.devices) + " devices";
  if (point.experiment->by_micro_batch) text += ", micro-batch " + std::to_string(point.micro_batch);
  return text;
}

}  // namespace

std::optional<double> ExperimentRow::samples_per_s() const {
  if (!plan) return std::nullopt;
  return plan->predicted->samples_per_s;
}

std::vector<std::string> methods_of(const Experiment& experiment, const ExperimentOptions& options) {
  if (options.methods.empty()) return {experiment.methods.begin(), experiment.methods.end()};
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  const std::string reference = reference_method(experiment, options);
  if (!reference.starts_with(kGiven) && (reference != "nest" || experiment.methods.front() == "nest"))
    add(reference);
  for (const std::string& name : options.methods) add(name);
  add("nest");
  return names;
}

std::string profile_of(const ExperimentPoint& point, const std::string& folder) {
  const std::string name = std::string(point.sweep->published) + "_" + std::string(point.model->published) +
                           "_mbs" + std::to_string(point.micro_batch) + ".json";
  return (std::filesystem::path(folder) / name).string();
}

PlanQuestion question_of(const ExperimentPoint& point, const ExperimentOptions& options) {
  Warnings warnings;
  const bool zoo = options.profiles.empty();
  PlanInputs inputs = load_inputs(zoo ? std::string(point.model->name) : profile_of(point, options.profiles),
                                  std::string(point.sweep->cluster), options.recipe, warnings);
  if (options.calibration) set_calibration(inputs, *options.calibration, warnings);
  ClusterParts parts = inputs.cluster.parts();
  for (Level& level : parts.levels) {
    level.bandwidth.value *= options.network_speed;
    level.latency.value /= options.network_speed;
  }
  inputs.cluster = Cluster(std::move(parts));
  Asked asked;
  asked.devices = point.devices;
  asked.global_batch = kExperimentBatch;
  if (zoo) asked.sequence = point.model->sequence;
  asked.choices = paper_space(point.micro_batch);
  asked.pipeline_model = options.pipeline_model;
  asked.threads = 1;
  return make_question(std::move(inputs), asked);
}

const ExperimentRow* reference_row(const std::vector<ExperimentRow>& rows, const ExperimentPoint& point,
                                   std::string_view reference,
                                   const std::function<bool(const ExperimentRow&)>& usable) {
  const bool anywhere = point.experiment->reference == Reference::first_manual;
  const ExperimentRow* best = nullptr;
  for (const ExperimentRow& row : rows) {
    if (row.method != reference || !row.plan) continue;
    const bool here = anywhere ? same_series(row.point, point) : same_point(row.point, point);
    if (!here || (usable && !usable(row))) continue;
    if (best == nullptr || std::pair(row.point.devices, row.point.micro_batch) <
                               std::pair(best->point.devices, best->point.micro_batch))
      best = &row;
  }
  return best;
}

std::string spell_reference(const Experiment& experiment, std::string_view reference) {
  if (experiment.reference != Reference::first_manual) return std::string(reference) + " on the same devices";
  return std::string(reference) + " at the smallest " +
         (experiment.by_micro_batch ? "micro-batch" : "scale") + " where it fits";
}

ExperimentResult run_experiment(const std::vector<ExperimentPoint>& points,
                                const ExperimentOptions& options) {
  const Stopwatch watch;
  std::vector<PointAnswer> answers(points.size());
  std::mutex mutex;
  std::size_t done = 0;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  Workers workers(
      std::max<std::size_t>(1, std::min(options.threads == 0 ? cores : options.threads, points.size())));
  workers.run(points.size(), [&](std::size_t, std::size_t job) {
    answers[job] = answer_point(points[job], options);
    const std::lock_guard lock(mutex);
    ++done;
    if (options.progress) options.progress({done, points.size(), watch.elapsed(), spell(points[job])});
  });

  ExperimentResult result;
  for (PointAnswer& answer : answers) {
    result.bugs.insert(result.bugs.end(), answer.bugs.begin(), answer.bugs.end());
    std::move(answer.rows.begin(), answer.rows.end(), std::back_inserter(result.rows));
  }
  result.reference = points.empty() ? "" : reference_method(*points.front().experiment, options);
  for (ExperimentRow& row : result.rows) {
    const ExperimentRow* reference = reference_row(result.rows, row.point, result.reference);
    if (row.plan && reference != nullptr) row.relative = *row.samples_per_s() / *reference->samples_per_s();
  }
  result.elapsed = watch.elapsed();
  return result;
}

}  // namespace nest::report
