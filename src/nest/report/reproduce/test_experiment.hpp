// For tests of experiments: methods whose throughputs are made up. manual makes 1 sequence a second for each
// 64 devices and fits from 128 devices on, nest makes 2, every other method 1.5.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nest/report/reproduce/run_experiment.hpp"

namespace nest::test {
using namespace report;

inline ComparedPlan made_up_plan(const std::string& name, std::int64_t devices, std::int64_t micro_batch) {
  ComparedPlan plan{name, {}, {}, {}};
  if (name == "manual" && devices < 128) {
    plan.result.reason = "stage 0 needs 70 GiB, and a device has 64";
    return plan;
  }
  const double share = name == "manual" ? 1 : name == "nest" ? 2 : 1.5;
  Plan made;
  made.training.micro_batch = micro_batch;
  made.parallelism.strategy.tensor = 4;
  made.parallelism.data = devices / 4;
  made.stages.emplace_back().devices.push_back({DeviceId(0)});
  made.predicted.emplace();
  made.predicted->samples_per_s = share * static_cast<double>(devices) / 64;
  made.predicted->step = Seconds{static_cast<double>(kExperimentBatch) / made.predicted->samples_per_s};
  plan.result.status = name == "nest" ? PlanStatus::optimal : PlanStatus::feasible;
  plan.result.plan = std::move(made);
  plan.result.search_time = Seconds{0.25};
  return plan;
}

inline Comparison made_up(const PlanQuestion& question, const std::vector<std::string>& names,
                          const CompareOptions& options) {
  const std::int64_t devices = question.inputs.cluster.devices();
  const std::int64_t b = question.space.micro_batch.open() ? 4 : question.space.micro_batch.ranges()[0].first;
  Comparison all;
  all.plans.push_back(made_up_plan("nest", devices, b));
  for (const std::string& name : names) all.plans.push_back(made_up_plan(name, devices, b));
  for (const auto& [name, degrees] : options.degrees) all.plans.push_back(made_up_plan(name, devices, b));
  return all;
}

[[nodiscard]] inline ExperimentOptions made_up_options() {
  ExperimentOptions options;
  options.compare = made_up;
  return options;
}

[[nodiscard]] inline std::vector<ExperimentPoint> some_points(const std::string& experiment,
                                                              const std::string& model) {
  return points_of(*find_experiment(experiment), {{model}, {}});
}

}  // namespace nest::test
