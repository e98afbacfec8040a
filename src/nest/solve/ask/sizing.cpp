#include "nest/solve/ask/sizing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/fewer_nodes.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/cluster/slices.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::solve {
namespace {

constexpr std::int64_t kMostDevices = 131'072;
// Clusters beside the answer, in shares of its devices.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> kOthers{{{1, 4}, {1, 2}, {2, 1}, {4, 1}}};
// Numbers of devices, as shares of the answer's, below which the next near misses are looked for.
constexpr std::array kNearMisses{1.0, 0.9, 0.75};
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
        node_(question.inputs.cluster.tree().devices_in(LevelId{0}, 0)),
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
        too_few_.push_back(devices);
        devices *= 2;
        continue;
      }
      if (found.plans.empty()) break;
      SizedPlan one = sized(found, larger.inputs);
      if (one.reach < kReached) {
        progress = one.goodput.share;
        if (progress > 0) continue;
        too_few_.push_back(devices);
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
      if (sizing.status == PlanStatus::infeasible) come_nearest(sizing);
      return sizing;
    }
    sizing.fewest = sizing.answer->devices;
    if (one_slice(sizing.answer->inputs.cluster)) {
      take_smaller_slice(sizing);
    } else {
      take_fewer_nodes(sizing);
    }
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
      sizing.fewest = sizing.answer->devices;
      return;
    }
  }

  // The fastest plan of the first nodes of a cluster with so many devices.
  std::optional<SizedPlan> fastest_of_first(const Cluster& whole, std::int64_t devices,
                                            Sizing& sizing) const {
    PlanQuestion fewer = question_;
    try {
      fewer.inputs.cluster = first_devices(whole, devices);
    } catch (const InputError&) {  // its levels cannot be cut so
      return std::nullopt;
    }
    return fastest(fewer, sizing);
  }

  // A plan may use a part of each of many nodes, because that is faster: as many devices in fewer nodes may do. The
  // fewest nodes are found by halves, for a plan of some of them is a plan of more.
  void take_fewer_nodes(Sizing& sizing) const {
    const Cluster whole = sizing.answer->inputs.cluster;
    std::int64_t low = (sizing.fewest + node_ - 1) / node_;
    std::int64_t high = sizing.answer->rented / node_;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      auto one = fastest_of_first(whole, middle * node_, sizing);
      if (one && one->reach >= kReached) {
        high = one->rented / node_;
        sizing.answer = std::move(one);
      } else {
        low = middle + 1;
      }
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

  // The fastest plan with what it costs; none where there is none, or no time.
  std::optional<SizedPlan> fastest(const PlanQuestion& question, Sizing& sizing) const {
    sizing.stopped = sizing.stopped || question.options.deadline.over();
    if (question.options.deadline.over()) return std::nullopt;
    const SearchResult found = ask_for(question);
    sizing.stopped = sizing.stopped || found.status == PlanStatus::limit;
    if (found.plans.empty()) return std::nullopt;
    return sized(found, question.inputs);
  }
  // On a cluster of so many devices, if there can be one.
  std::optional<SizedPlan> fastest_of(std::int64_t devices, Sizing& sizing) const {
    PlanQuestion question = question_;
    std::string refused;
    if (devices < 1 || devices > kMostDevices || !resize(question, devices, refused)) return std::nullopt;
    return fastest(question, sizing);
  }

  // The fastest plans of fewer whole nodes, the first of the same cluster; slices below a grid are among the others.
  void add_near_misses(Sizing& sizing) const {
    if (one_slice(sizing.answer->inputs.cluster)) return;
    const std::int64_t enough = sizing.answer->rented;
    const Cluster whole = sizing.answer->inputs.cluster;
    std::int64_t below = enough;
    for (const double share : kNearMisses) {
      const auto most = static_cast<std::int64_t>(share * static_cast<double>(enough));
      const std::int64_t devices = std::min(most, below - 1) / node_ * node_;
      if (devices < node_) return;
      auto one = fastest_of_first(whole, devices, sizing);
      if (!one) continue;
      below = std::min(below, one->rented);
      if (one->reach >= kReached) {  // the search for the fewest was stopped before it came here
        sizing.status = PlanStatus::feasible;
        sizing.fewest = one->devices;
        sizing.answer = std::move(one);
        sizing.near_misses.clear();
      } else if (one->reach >= kNearly) {
        sizing.near_misses.insert(sizing.near_misses.begin(), std::move(*one));
      }
    }
  }

  // What comes nearest to a target that nothing reaches. The more devices the faster, but for failures.
  void come_nearest(Sizing& sizing) const {
    std::optional<SizedPlan> best;
    for (auto devices = too_few_.rbegin(); devices != too_few_.rend(); ++devices) {
      auto one = fastest_of(*devices, sizing);
      const bool nearer = one && (!best || one->reach > best->reach);
      if (nearer) best = std::move(one);
      if (!costs_.fails() && best) break;
    }
    if (best) sizing.near_misses.push_back(std::move(*best));
  }

  void add_others(Sizing& sizing) const {
    for (const auto& [times, parts] : kOthers) {
      const std::int64_t devices = sizing.answer->rented * times / parts;
      // Parts of nodes are not rented.
      if (!one_slice(sizing.answer->inputs.cluster) && devices < node_) continue;
      auto one = fastest_of(devices, sizing);
      if (!one) continue;
      const auto same = [&](const SizedPlan& p) { return p.rented == one->rented; };
      // More devices than the batch can use.
      if (same(*sizing.answer) || std::any_of(sizing.others.begin(), sizing.others.end(), same)) continue;
      sizing.others.push_back(std::move(*one));
    }
  }

  PlanQuestion question_;
  SizingTask task_;
  RunCosts costs_;
  std::int64_t node_;                    // devices
  std::vector<std::int64_t> too_few_{};  // numbers of devices that do not reach the target
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
