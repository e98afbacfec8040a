// Everything the engine runs, made from a placed plan and its costs: workers (a stage of a copy, its cell in
// step), their task orders and work times, the jobs that bring their inputs, and the collectives at the end
// of the step.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/price.hpp"
#include "nest/simulate/traffic/traffic.hpp"

namespace nest::simulate {

struct Worker {
  std::int32_t stage = 0;
  std::int32_t copy = 0;
  std::int32_t stands_for = 1;  // copies that are alike, itself included
};

struct ScenarioOptions {
  bool all_copies = false;  // in place of one of those that are alike
  bool contention = true;   // whether links are shared
  bool as_priced = false;   // sends and collectives take what price says they take
};

struct Scenario {
  Schedule schedule = Schedule::one_f_one_b;
  ScheduleShape shape;
  Overlap overlap;  // pipeline is 0 where sends take their priced time, which leaves out what is hidden
  const PricedPlan* priced = nullptr;
  double waiting = 1;                     // a step over the same step if all devices were alike
  std::vector<std::vector<Task>> orders;  // by stage
  std::vector<Worker> workers;            // copy by copy, each with its stages in order
  std::vector<Job> receives;              // see receive()
  std::vector<std::vector<Job>> reduces;  // by stage, as in StageCost
  std::vector<std::vector<Job>> gathers;
  std::shared_ptr<Traffic> traffic;  // names the links
  std::size_t narrow_links = 0;      // those that may hold somebody up
  std::int32_t jobs = 0;

  [[nodiscard]] std::size_t stages() const { return orders.size(); }
  [[nodiscard]] std::size_t classes() const { return workers.size() / orders.size(); }
  // What must arrive before a pass of a chunk; empty where nothing must.
  [[nodiscard]] const Job& receive(std::size_t worker, std::size_t chunk, bool backward) const {
    return receives[(worker * static_cast<std::size_t>(shape.chunks) + chunk) * 2 + (backward ? 1 : 0)];
  }
  [[nodiscard]] const StageCost& cost(std::size_t stage) const { return priced->stages[stage]; }
  // Of a task without its receive, and of two that run beside each other.
  [[nodiscard]] double work_s(std::size_t stage, const Task& task) const;
  [[nodiscard]] double pair_s(std::size_t stage, const Task& forward, const Task& backward) const;
  // What a stage holds all the time.
  [[nodiscard]] Bytes static_bytes(std::size_t stage) const;
};

// The plan, its price and the inputs outlive the scenario.
[[nodiscard]] Scenario make_scenario(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs,
                                     const ScenarioOptions& options);

}  // namespace nest::simulate
