#include "nest/report/page/report_traffic.hpp"

#include <utility>

namespace nest::report {

void TrafficByPurpose::begin(const Scenario& scenario) {
  scenario_ = &scenario;
  runs_.assign(static_cast<std::size_t>(scenario.jobs), 0);
  levels_.clear();
}

void TrafficByPurpose::on(const Event& event) {
  if (event.job != nullptr && event.kind != EventKind::task_begin) {
    runs_[static_cast<std::size_t>(event.job->id)] += event.share;
  }
}

void TrafficByPurpose::end(Seconds, Seconds) {
  const auto add = [&](const Job& job, double LevelTraffic::* purpose) {
    const double runs = runs_[static_cast<std::size_t>(job.id)];
    for (const LevelBytes& level : job.by_level) {
      if (levels_.size() <= level.level.index()) levels_.resize(level.level.index() + 1);
      levels_[level.level.index()].*purpose += runs * level.bytes;
    }
  };
  for (const Job& job : scenario_->receives) add(job, &LevelTraffic::pipeline);
  for (const std::vector<Job>& jobs : scenario_->reduces) {
    for (const Job& job : jobs) add(job, &LevelTraffic::gradients);
  }
  for (const std::vector<Job>& jobs : scenario_->gathers) {
    for (const Job& job : jobs) add(job, &LevelTraffic::parameters);
  }
}

Value traffic_value(const TrafficByPurpose& traffic, const std::vector<PassTraffic>& passes,
                    const SimulationResult& result, const Cluster& cluster) {
  Value levels = Value::array();
  for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
    const TrafficByPurpose::LevelTraffic use =
        l < traffic.levels().size() ? traffic.levels()[l] : TrafficByPurpose::LevelTraffic{};
    const PassTraffic pass = l < passes.size() ? passes[l] : PassTraffic{};
    Value level = Value::object();
    level.set("name", cluster.levels()[l].name);
    for (const auto& [key, bytes] :
         {std::pair("tensor_bytes", pass.tensor), std::pair("context_bytes", pass.context),
          std::pair("expert_bytes", pass.expert), std::pair("pipeline_bytes", use.pipeline),
          std::pair("gradient_bytes", use.gradients + pass.gradients),
          std::pair("parameter_bytes", use.parameters + pass.parameters)}) {
      level.set(key, round_up_bytes(bytes).value);
    }
    levels.push(std::move(level));
  }
  Value links = Value::array();
  for (const BusyLink& l : result.links) {
    Value link = Value::object();
    link.set("name", l.name).set("level", l.level.value).set("bytes", l.bytes.value);
    link.set("utilisation", l.utilisation).set("waited_s", l.waited.value);
    links.push(std::move(link));
  }
  Value v = Value::object();
  v.set("step_s", result.step.value).set("levels", std::move(levels)).set("links", std::move(links));
  return v;
}

}  // namespace nest::report
