#include "nest/report/page/domain_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/simulate/engine/scenario.hpp"

namespace nest::report {
namespace {

constexpr std::size_t kMostChildren = 16'384;  // of a level: more are smaller than a pixel
constexpr double kShareSteps = 1e4;            // shares are told in hundredths of a percent

// How often a job runs is known without a simulation: receives once for each micro-batch, the rest once.
void count_jobs(DomainTraffic& domains, const Scenario& scenario, double micro_batches) {
  const LinkTable& links = scenario.traffic->links();
  for (const Job& job : scenario.receives) domains.add(links, job, micro_batches);
  for (const auto* lists : {&scenario.reduces, &scenario.gathers}) {
    for (const std::vector<Job>& jobs : *lists) {
      for (const Job& job : jobs) domains.add(links, job, 1);
    }
  }
}

}  // namespace

DomainTraffic::DomainTraffic(const Cluster& cluster) : cluster_(&cluster) {
  auto children = static_cast<std::size_t>(cluster.devices());
  for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
    levels_.emplace_back(children);
    children = static_cast<std::size_t>(cluster.tree().domains(LevelId{static_cast<std::int32_t>(l)}));
  }
}

void DomainTraffic::add(const LinkTable& links, const Job& job, double runs) {
  for (const JobPhase& phase : job.phases) {
    for (const LinkUse& use : phase.uses) add(links, use.link, runs * use.bytes);
  }
}

void DomainTraffic::add(const LinkTable& links, LinkId link, double bytes) {
  const auto sender = links.sender(link);
  if (!sender) return;
  const LevelId id = links.level(link);
  const Level& level = cluster_->level(id);
  double capacity = links.capacity(link).value;
  if (level.kind != LevelKind::switched) {
    const DeviceTree& tree = cluster_->tree();
    capacity *= static_cast<double>(level.links(tree.children(id, tree.parent_of(id, *sender))));
  }
  Child& child = levels_[id.index()][static_cast<std::size_t>(*sender)];
  child.bytes += bytes;
  child.busy_s += bytes / capacity;
}

Value DomainTraffic::value(Seconds step) const {
  Value list = Value::array();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const std::vector<Child>& children = levels_[l];
    const bool any =
        std::any_of(children.begin(), children.end(), [](const Child& c) { return c.bytes > 0; });
    if (!any || children.size() > kMostChildren) continue;
    Value bytes = Value::array();
    Value busy = Value::array();
    for (const Child& c : children) {
      bytes.push(round_up_bytes(c.bytes).value);
      busy.push(step.value > 0 ? std::round(c.busy_s / step.value * kShareSteps) / kShareSteps : 0.0);
    }
    Value one = Value::object();
    one.set("level", l).set("of", l == 0 ? "device" : cluster_->levels()[l - 1].name);
    one.set("bytes", std::move(bytes)).set("busy", std::move(busy));
    list.push(std::move(one));
  }
  return list;
}

void count_step(DomainTraffic& domains, const Plan& placed, const PricedPlan& priced,
                const PlanInputs& inputs) {
  const Scenario scenario = make_scenario(placed, priced, inputs, {.all_copies = true, .contention = false});
  count_jobs(domains, scenario, static_cast<double>(placed.training.micro_batches));
}

}  // namespace nest::report
