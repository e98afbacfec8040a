// Runs the points of an experiment: every method is asked the same question, and throughputs are set in
// relation to the experiment's reference. Points run side by side; rows come in the order of points and
// methods.
//
//   ExperimentOptions options;
//   const ExperimentResult result = run_experiment(points, options);
//   result.rows[0].method == "manual", result.rows[0].relative == 1
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/report/reproduce/experiment.hpp"
#include "nest/solve/baselines/common/degrees_file.hpp"
#include "nest/solve/baselines/compare.hpp"

namespace nest::report {

using CompareFunction =
    std::function<Comparison(const PlanQuestion&, const std::vector<std::string>&, const CompareOptions&)>;

struct ExperimentProgress {
  std::size_t done = 0;  // points
  std::size_t all = 0;
  Seconds elapsed;
  std::string what;  // the point that was done last: "gpt3-175b on 64 devices"
};

struct ExperimentOptions {
  std::string recipe = "plain";  // the paper counts neither optimizer states nor overlap
  // A folder of layer profiles {setup}_{model}_mbs{b}.json; points without one are skipped. Empty: the models
  // of the zoo with our estimates.
  std::string profiles;
  double network_speed =
      1;  // all bandwidths times this, all latencies by this; 1,000 is the artifact's slip of units
  PipelineModel pipeline_model = PipelineModel::one_f_one_b;
  BaselineOptions baseline;
  std::vector<std::string> methods;  // empty: the experiment's; nest and its reference are always among them
  std::vector<DegreesRow> degrees;   // further rows "given manual", ..: those that match the point
  std::string relative_to;           // a method to divide by; empty: the experiment's, manual or nest
  std::size_t threads = 0;           // 0: one for each core
  std::optional<Calibration> calibration;
  std::function<void(const ExperimentProgress&)> progress;  // after each point, one call at a time
  CompareFunction compare = nest::solve::compare;
};

struct ExperimentRow {
  ExperimentPoint point;
  std::string method;
  std::string status;        // of PlanStatus, or "skipped"
  std::optional<Plan> plan;  // that fits; without the devices of its stages
  std::optional<double> relative;
  std::optional<double> published;          // the figure as published
  std::optional<double> against_published;  // 1: our relation to manual is theirs; see published.hpp
  Seconds search_time;
  std::string reason;  // why there is no plan

  [[nodiscard]] std::optional<double> samples_per_s() const;
};

struct ExperimentResult {
  std::vector<ExperimentRow> rows;
  std::string reference;          // the method to which throughputs are related
  Seconds elapsed;                // of the wall clock
  std::vector<std::string> bugs;  // search and price disagree
};

// The methods that are asked, in the order in which they are shown, without those of given degrees.
[[nodiscard]] std::vector<std::string> methods_of(const Experiment& experiment,
                                                  const ExperimentOptions& options);

// Throws an InputError where the recipe or a profile cannot be read.
[[nodiscard]] PlanQuestion question_of(const ExperimentPoint& point, const ExperimentOptions& options);
// Where the point's layer profile is looked for.
[[nodiscard]] std::string profile_of(const ExperimentPoint& point, const std::string& folder);

// Points of one experiment.
[[nodiscard]] ExperimentResult run_experiment(const std::vector<ExperimentPoint>& points,
                                              const ExperimentOptions& options);

// The row of the method `reference` to which `point`'s throughputs are related: at the experiment's place,
// where it is feasible; null where there is none. `usable` may refuse rows.
[[nodiscard]] const ExperimentRow* reference_row(
    const std::vector<ExperimentRow>& rows, const ExperimentPoint& point, std::string_view reference,
    const std::function<bool(const ExperimentRow&)>& usable = {});
// "manual at the smallest scale where it fits"
[[nodiscard]] std::string spell_reference(const Experiment& experiment, std::string_view reference);

}  // namespace nest::report
