#include "nest/solve/ask/sizing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::solve {
namespace {

constexpr double kSecondsPerDay = 86'400;
constexpr std::int64_t kMostDevices = 131'072;
// Clusters beside the answer, in shares of its devices.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> kOthers{{{1, 4}, {1, 2}, {2, 1}, {4, 1}}};

class Sizer {
 public:
  Sizer(const PlanQuestion& question, const SizingTask& task, const std::function<void(std::int64_t)>& asking)
      : question_(question), task_(task), asking_(asking) {
    question_.options.top = 1;
    question_.options.runners_up = 0;
  }

  [[nodiscard]] Sizing find() {
    Sizing sizing;
    sizing.target_tokens_per_s = task_.tokens / (task_.days * kSecondsPerDay * task_.uptime);
    for (std::int64_t devices = question_.inputs.cluster.devices(); devices <= kMostDevices; devices *= 2) {
      PlanQuestion larger = question_;
      if (!resize(larger, devices, sizing.reason)) break;
      larger.options.objective = Objective::devices;
      larger.options.target_tokens_per_s = sizing.target_tokens_per_s;
      const SearchResult found = ask_for(larger);
      sizing.status = found.status;
      sizing.reason = found.reason;
      if (found.plans.empty() && found.status == PlanStatus::infeasible) continue;
      if (!found.plans.empty()) sizing.answer = sized(found, larger.inputs);
      break;
    }
    if (sizing.answer) add_others(sizing);
    return sizing;
  }

 private:
  [[nodiscard]] static bool resize(PlanQuestion& question, std::int64_t devices, std::string& why) {
    if (devices == question.inputs.cluster.devices()) return true;
    try {
      question.inputs.cluster = with_devices(question.inputs.cluster, devices);
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

  [[nodiscard]] SizedPlan sized(const SearchResult& found, const PlanInputs& inputs) const {
    SizedPlan one{found.plans.front(), inputs};
    one.plan.status = found.status;
    one.plan.lower_bound = found.lower_bound;
    one.devices = one.plan.parallelism.devices();
    one.rented = rented_devices(one.plan, inputs.cluster);
    one.days = task_.tokens / (one.plan.predicted->tokens_per_s * task_.uptime) / kSecondsPerDay;
    return one;
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
  const std::function<void(std::int64_t)>& asking_;
};

}  // namespace

Sizing size_cluster(const PlanQuestion& question, const SizingTask& task,
                    const std::function<void(std::int64_t)>& asking) {
  return Sizer(question, task, asking).find();
}

}  // namespace nest::solve
