#include "nest/simulate/listeners/link_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace nest::simulate {

void LinkBytes::begin(const Scenario& scenario) {
  scenario_ = &scenario;
  runs_.assign(static_cast<std::size_t>(scenario.jobs), 0);
  bytes_.assign(scenario.traffic->links().size(), 0);
  by_level_.clear();
}

void LinkBytes::on(const Event& event) {
  if (event.job != nullptr && event.kind != EventKind::task_begin) {
    runs_[static_cast<std::size_t>(event.job->id)] += event.share;
  }
}

void LinkBytes::end(Seconds step, Seconds) {
  step_ = step;
  const auto add = [&](const Job& job) {
    const double runs = runs_[static_cast<std::size_t>(job.id)];
    for (const JobPhase& phase : job.phases) {
      for (const LinkUse& use : phase.uses) bytes_[use.link.index()] += runs * use.bytes;
    }
    for (const LevelBytes& level : job.by_level) {
      if (by_level_.size() <= level.level.index()) by_level_.resize(level.level.index() + 1);
      by_level_[level.level.index()] += runs * level.bytes;
    }
  };
  for (const Job& job : scenario_->receives) add(job);
  for (const auto* lists : {&scenario_->reduces, &scenario_->gathers}) {
    for (const std::vector<Job>& jobs : *lists) {
      for (const Job& job : jobs) add(job);
    }
  }
}

std::vector<BusyLink> LinkBytes::busiest(std::size_t most, const std::vector<double>& waited_s) const {
  const LinkTable& links = scenario_->traffic->links();
  const auto share = [&](std::size_t l) {
    return bytes_[l] / (links.capacity(LinkId{static_cast<std::int32_t>(l)}).value * step_.value);
  };
  std::vector<std::size_t> order(bytes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t l) { return bytes_[l] <= 0; });
  // A little rounding must not decide between links that are alike.
  const auto rank = [&](std::size_t l) { return std::llround(share(l) * 1e9); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(-rank(a), a) < std::pair(-rank(b), b); });
  std::vector<BusyLink> out;
  for (const std::size_t l : order) {
    if (out.size() == most) break;
    const LinkId id{static_cast<std::int32_t>(l)};
    out.push_back(
        {links.name(id), links.level(id), round_up_bytes(bytes_[l]), share(l), Seconds{waited_s[l]}});
  }
  return out;
}

}  // namespace nest::simulate
