#include "nest/solve/ask/sizing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/cluster/slices.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::solve {
namespace {

constexpr std::int64_t kMostDevices = 131'072;
// Clusters beside the answer, in shares of its devices.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> kOthers{{{1, 4}, {1, 2}, {2, 1}, {4, 1}}};
// Targets whose fewest devices are worth a sentence: shares of what is asked for.
constexpr std::array kNearTargets{0.75, 0.9, 0.98};
constexpr double kReached = 1 - 1e-12;  // but for rounding

// A cluster that is one grid is rented in slices of it.
bool one_slice(const Cluster& cluster) {
  return cluster.levels().front().is_grid() && cluster.tree().domains(LevelId{0}) == 1;
}

class Sizer {
 public:
  Sizer(const PlanQuestion& question, const SizingTask& task, const std::function<void(std::int64_t)>& asking)
      : question_(question),
        task_(task),
        costs_(question.asked.run, question.inputs, question.training),
        asking_(asking) {
    question_.options.top = 1;
    question_.options.runners_up = 0;
  }

  [[nodiscard]] Sizing find() {
    Sizing sizing;
    sizing.target_tokens_per_s = task_.target_tokens_per_s();
    // Failures take more of the time the more devices there are. From no failures on, each search is asked
    // for what the devices of the one before would lose, until a plan makes up for its own: no smaller one
    // does, as a smaller one would have made up for less.
    double progress = 1;
    for (std::int64_t devices = question_.inputs.cluster.devices(); devices <= kMostDevices;) {
      PlanQuestion larger = question_;
      if (!resize(larger, devices, sizing.reason)) break;
      const SearchResult found = fewest(larger, sizing.target_tokens_per_s / progress);
      sizing.status = found.status;
      sizing.reason = found.reason;
      if (found.plans.empty() && found.status == PlanStatus::infeasible) {
        devices *= 2;
        continue;
      }
      if (found.plans.empty()) break;
      SizedPlan one = sized(found, larger.inputs);
      if (one.reach < kReached) {
        progress = one.goodput.share;
        if (progress > 0) continue;
        sizing.status = PlanStatus::infeasible;
        sizing.reason = "no plan reaches the target";
        break;
      }
      sizing.answer = std::move(one);
      break;
    }
    if (!sizing.answer) {
      if (progress < 1 && sizing.status == PlanStatus::infeasible)
        sizing.reason +=
            fmt::format("; failures leave {} of the time for progress", format_percent(progress));
      return sizing;
    }
    if (one_slice(sizing.answer->inputs.cluster)) take_smaller_slice(sizing);
    if (sizing.answer->rented > sizing.answer->devices) use_all_rented(sizing);
    add_near_misses(sizing);
    add_others(sizing);
    return sizing;
  }

 private:
  [[nodiscard]] static bool resize(PlanQuestion& question, std::int64_t devices, std::string& why) {
    Cluster& cluster = question.inputs.cluster;
    if (devices == cluster.devices()) return true;
    if (one_slice(cluster)) {
      for (Cluster& slice : smaller_slices(cluster, devices)) {
        if (slice.devices() != devices) break;
        cluster = std::move(slice);
        return true;
      }
    }
    try {
      cluster = with_devices(cluster, devices);
    } catch (const InputError& error) {
      why += fmt::format("; {}", error.what());
      return false;
    }
    return true;
  }

  [[nodiscard]] SearchResult ask_for(const PlanQuestion& question) const {
    if (asking_) asking_(question.inputs.cluster.devices());
    return ask(question);
  }

  [[nodiscard]] SearchResult fewest(PlanQuestion question, double tokens_per_s) const {
    question.options.objective = Objective::devices;
    question.options.target_tokens_per_s = tokens_per_s;
    return ask_for(question);
  }

  [[nodiscard]] SizedPlan sized(const SearchResult& found, const PlanInputs& inputs) const {
    return sized_plan(
        found, inputs, costs_, task_,
        one_slice(inputs.cluster) ? std::optional<std::int64_t>(inputs.cluster.devices()) : std::nullopt);
  }

  // The plan may reach the target on a smaller slice, whose network is another.
  void take_smaller_slice(Sizing& sizing) const {
    for (Cluster& slice : smaller_slices(sizing.answer->inputs.cluster, sizing.answer->devices)) {
      PlanQuestion smaller = question_;
      smaller.inputs.cluster = std::move(slice);
      const double share = costs_.goodput(smaller.inputs.cluster.devices()).share;
      const SearchResult found = fewest(smaller, sizing.target_tokens_per_s / share);
      sizing.stopped = sizing.stopped || found.status == PlanStatus::limit;
      if (found.plans.empty()) continue;
      sizing.status = found.status;
      sizing.answer = sized(found, smaller.inputs);
      return;
    }
  }

  // What is paid for may as well be used: the fastest plan of as many devices as are rented.
  void use_all_rented(Sizing& sizing) const {
    PlanQuestion same = question_;
    same.inputs.cluster = sizing.answer->inputs.cluster;
    std::string refused;
    if (!resize(same, sizing.answer->rented, refused)) return;
    const SearchResult found = ask_for(same);
    sizing.stopped = sizing.stopped || found.status == PlanStatus::limit;
    if (found.plans.empty()) return;
    SizedPlan one = sized(found, same.inputs);
    if (one.rented <= sizing.answer->rented && one.reach > sizing.answer->reach)
      sizing.answer = std::move(one);
  }

  void add_near_misses(Sizing& sizing) const {
    if (one_slice(sizing.answer->inputs.cluster)) return;  // the slices below are among the others
    for (const double share : kNearTargets) {
      PlanQuestion fewer = question_;
      fewer.inputs.cluster = sizing.answer->inputs.cluster;
      if (fewer.options.deadline.over()) {
        sizing.stopped = true;
        return;
      }
      const SearchResult found =
          fewest(fewer, share * sizing.target_tokens_per_s / sizing.answer->goodput.share);
      sizing.stopped = sizing.stopped || found.status == PlanStatus::limit;
      if (found.plans.empty()) continue;
      SizedPlan one = sized(found, fewer.inputs);
      const std::int64_t above = sizing.near_misses.empty() ? 0 : sizing.near_misses.back().rented;
      if (one.rented > above && one.rented < sizing.answer->rented)
        sizing.near_misses.push_back(std::move(one));
    }
  }

  void add_others(Sizing& sizing) const {
    for (const auto& [times, parts] : kOthers) {
      const std::int64_t devices = sizing.answer->rented * times / parts;
      PlanQuestion other = question_;
      std::string refused;
      if (devices < 1 || devices > kMostDevices || !resize(other, devices, refused)) continue;
      if (other.options.deadline.over()) {
        sizing.stopped = true;
        return;
      }
      const SearchResult found = ask_for(other);
      sizing.stopped = sizing.stopped || found.status == PlanStatus::limit;
      if (found.plans.empty()) continue;
      SizedPlan one = sized(found, other.inputs);
      const auto same = [&](const SizedPlan& p) { return p.rented == one.rented; };
      // More devices than the batch can use.
      if (same(*sizing.answer) || std::any_of(sizing.others.begin(), sizing.others.end(), same)) continue;
      sizing.others.push_back(std::move(one));
    }
  }

  PlanQuestion question_;
  SizingTask task_;
  RunCosts costs_;
  const std::function<void(std::int64_t)>& asking_;
};

}  // namespace

SizedPlan sized_plan(const SearchResult& found, const PlanInputs& inputs, const RunCosts& costs,
                     const SizingTask& task, std::optional<std::int64_t> rented) {
  SizedPlan one{found.plans.front(), inputs, 0, 0, {}, {}, 0};
  one.plan.status = found.status;
  one.plan.lower_bound = found.lower_bound;
  one.devices = one.plan.parallelism.devices();
  one.rented = rented.value_or(rented_devices(one.plan, inputs.cluster));
  one.goodput = costs.goodput(one.rented);
  const double rate = one.plan.predicted->tokens_per_s;
  one.cost = costs.of({one.rented, rate, task.uptime}, task.tokens);
  one.reach = rate * one.goodput.share / task.target_tokens_per_s();
  return one;
}

Sizing size_cluster(const PlanQuestion& question, const SizingTask& task,
                    const std::function<void(std::int64_t)>& asking) {
  return Sizer(question, task, asking).find();
}

}  // namespace nest::solve
