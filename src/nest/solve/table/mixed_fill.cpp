#include "nest/solve/table/mixed_fill.hpp"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

namespace nest::solve {
namespace {

constexpr std::int64_t kMostFills = 20'000;

using Allowed = std::vector<std::vector<std::size_t>>;  // members of `mixable`, for each stage

struct Open {
  Seconds bound;
  std::int64_t number = 0;
  Allowed allowed;
  std::vector<std::size_t> chosen;  // by the table of bounds
};
struct Later {
  bool operator()(const Open& a, const Open& b) const {
    return a.bound != b.bound ? a.bound > b.bound : a.number > b.number;
  }
};

}  // namespace

std::optional<MixedFilled> MixedFiller::fill(const MixedQuestion& question, Seconds threshold,
                                             FillCounts& counts) {
  const auto& [batch, mixable, setting, fill, placement, copies, options] = question;
  const Cluster& cluster = costs_->inputs().cluster;
  const auto p = static_cast<std::size_t>(fill.pipeline.stages);
  const auto slots =
      place_cells(cluster.sorted().tree(),
                  {mixable.front().cell(), fill.pipeline.stages, placement.inner, copies / placement.inner,
                   placement.block_devices, placement.first_stage_first});
  if (!slots) return std::nullopt;
  std::vector<std::vector<Cell>> cells;
  cells.reserve(p);
  for (std::size_t i = 0; i < p; ++i) cells.push_back(own_cells(cluster, *slots, i));
  // Every stage with every strategy, alone in the cluster.
  std::vector<StageNetwork> alone;
  alone.reserve(p * mixable.size());
  std::vector<Place> places;
  for (std::size_t i = 0; i < p; ++i) {
    for (const Strategy& strategy : mixable) {
      PlanNetwork own = plan_network(cluster, costs_->constants(), std::span(&strategy, 1),
                                     std::span(&cells[i], 1), {options.zero_shards});
      alone.push_back(std::move(own.stages.front()));
      alone.back().from_previous = placement.network->stages[i].from_previous;
      alone.back().from_next = placement.network->stages[i].from_next;
      places.push_back(costs_->place(batch, strategy, alone.back()));
    }
  }
  StageOptions bounds(setting, std::move(places));
  const auto bounded = [&](Allowed allowed, Seconds limit) -> std::optional<Open> {
    FillQuestion own = fill;
    own.bound = true;
    own.places.clear();
    for (std::size_t i = 0; i < p; ++i) {
      std::vector<std::size_t>& list = own.places.emplace_back();
      for (const std::size_t k : allowed[i]) list.push_back(i * mixable.size() + k);
    }
    const auto filled = filler_->fill(bounds, own, limit, counts);
    if (!filled) return std::nullopt;
    Open open{filled->step, 0, std::move(allowed), {}};
    for (const FilledStage& stage : filled->stages) open.chosen.push_back(stage.place % mixable.size());
    return open;
  };
  std::vector<std::size_t> every(mixable.size());
  for (std::size_t k = 0; k < every.size(); ++k) every[k] = k;
  Allowed first(p, every);
  first.front() = {0};
  std::priority_queue<Open, std::vector<Open>, Later> queue;
  std::int64_t number = 0;
  if (auto open = bounded(std::move(first), threshold)) queue.push(std::move(*open));
  std::optional<MixedFilled> best;
  while (!queue.empty()) {
    const Open open = queue.top();
    queue.pop();
    const Seconds limit = best ? std::min(threshold, best->filled.step) : threshold;
    if (open.bound * kRounding > limit || (best && open.bound >= best->filled.step)) break;
    if (number > kMostFills) {
      ++counts.cut_short;
      break;
    }
    // As it really is.
    std::vector<Strategy> strategies;
    strategies.reserve(p);
    for (const std::size_t k : open.chosen) strategies.push_back(mixable[k]);
    const PlanNetwork network = plan_network(cluster, costs_->constants(), strategies, cells, options);
    FillQuestion own = fill;
    own.places.clear();
    std::vector<Place> real;
    for (std::size_t i = 0; i < p; ++i) {
      own.places.push_back({real.size()});
      real.push_back(costs_->place(batch, strategies[i], network.stages[i]));
    }
    StageSetting real_setting = setting;
    real_setting.ends = &network.tied;
    StageOptions exact(real_setting, std::move(real));
    auto filled = filler_->fill(exact, own, limit, counts);
    if (filled && (!best || filled->step < best->filled.step))
      best = MixedFilled{std::move(*filled), strategies};
    // All other combinations: the first stage in which they differ is i.
    Allowed rest = open.allowed;
    for (std::size_t i = 0; i < p; ++i) {
      Allowed child = rest;
      std::erase(child[i], open.chosen[i]);
      rest[i] = {open.chosen[i]};
      if (child[i].empty()) continue;
      const Seconds now = best ? std::min(threshold, best->filled.step) : threshold;
      if (auto next = bounded(std::move(child), now)) {
        next->number = ++number;
        queue.push(std::move(*next));
      }
    }
  }
  return best;
}

}  // namespace nest::solve
