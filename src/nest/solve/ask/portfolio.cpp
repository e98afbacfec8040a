#include "nest/solve/ask/portfolio.hpp"

#include "nest/cluster/fewer_nodes.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::solve {
namespace {

// The nodes that the run rents, and no others: those that it does not rent could not help.
Cluster rented_cluster(const SizedPlan& answer) {
  const Cluster& all = answer.inputs.cluster;
  const DeviceTree& tree = all.tree();
  std::int64_t nodes = 0;
  for (std::int64_t devices = 0; nodes < tree.domains(LevelId{0}) && devices < answer.rented; ++nodes)
    devices += tree.devices_in(LevelId{0}, static_cast<std::int32_t>(nodes));
  return without_nodes(all, tree.domains(LevelId{0}) - nodes);
}

// A plan may leave nodes between its own ones idle.
bool lies_in(const Plan& plan, const Cluster& cluster) {
  for (const Stage& stage : plan.stages) {
    for (const Cell& cell : stage.devices) {
      for (const DeviceId device : cell) {
        if (device.value >= cluster.devices()) return false;
      }
    }
  }
  return true;
}

void expect_month(Portfolio& out, const RunCosts& costs, std::int64_t node) {
  const std::int64_t nodes = out.steps.front().nodes;
  const Seconds between = costs.terms().mtbf->between(nodes * node, node) * static_cast<double>(nodes);
  const std::vector<double> shares = down_shares({nodes, between, costs.terms().repair.value_or(kRepair)},
                                                 static_cast<std::int64_t>(out.steps.size()) - 1);
  double rate = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    PortfolioStep& step = out.steps[i];
    step.share = shares[i];
    const double own = step.sized ? step.sized->plan.predicted->tokens_per_s * step.sized->goodput.share : 0;
    rate += shares[i] * own;
    if (i == 0) out.waiting_tokens_per_s = shares[i] * own;
  }
  out.tokens_per_s = rate;
}

}  // namespace

Portfolio find_portfolio(const PlanQuestion& question, const SizedPlan& answer, const SizingTask& task,
                         std::int64_t spares, const std::function<void(std::int64_t)>& asking) {
  Portfolio out;
  const RunCosts costs(question.asked.run, answer.inputs, question.training);
  const Cluster all = rented_cluster(answer);
  const Plan* before = nullptr;
  out.steps.reserve(static_cast<std::size_t>(spares) + 1);
  for (std::int64_t gone = 0; gone <= spares; ++gone) {
    PlanQuestion fewer = question;
    fewer.inputs.cluster = without_nodes(all, gone);
    fewer.options.top = 1;
    fewer.options.runners_up = 0;
    PortfolioStep& step = out.steps.emplace_back();
    step.nodes = fewer.inputs.cluster.tree().domains(LevelId{0});
    if (gone == 0 && lies_in(answer.plan, all)) {
      step.sized = answer;
    } else if (fewer.options.deadline.over()) {
      step.reason = "there was no time left";
      out.stopped = true;
      continue;
    } else {
      if (asking) asking(fewer.inputs.cluster.devices());
      const SearchResult found = ask(fewer);
      out.stopped = out.stopped || found.status == PlanStatus::limit;
      if (found.plans.empty()) {
        step.reason = found.reason;
        continue;
      }
      step.sized = sized_plan(found, fewer.inputs, costs, task);
      if (before != nullptr) step.moved = reshard(fewer.inputs, *before, step.sized->plan);
    }
    before = &step.sized->plan;
  }
  if (costs.fails()) expect_month(out, costs, all.tree().devices_in(LevelId{0}, 0));
  return out;
}

}  // namespace nest::solve
