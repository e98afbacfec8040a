#include "nest/solve/baselines/mcmc/mcmc_cuts.hpp"

#include <algorithm>

namespace nest::solve {
namespace {

constexpr std::int64_t kFarthestShift = 3;

// Lowest ids first.
std::vector<std::int32_t> topological(const std::vector<std::vector<std::int32_t>>& before,
                                      const std::vector<std::vector<std::int32_t>>& after) {
  std::vector<std::size_t> waits(before.size());
  std::vector<std::int32_t> ready;  // a heap
  for (std::size_t i = 0; i < before.size(); ++i) {
    waits[i] = before[i].size();
    if (waits[i] == 0) ready.push_back(static_cast<std::int32_t>(i));
  }
  const auto later = [](std::int32_t a, std::int32_t b) { return a > b; };
  std::make_heap(ready.begin(), ready.end(), later);
  std::vector<std::int32_t> order;
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const std::int32_t layer = ready.back();
    ready.pop_back();
    order.push_back(layer);
    for (const std::int32_t next : after[static_cast<std::size_t>(layer)]) {
      if (--waits[static_cast<std::size_t>(next)] > 0) continue;
      ready.push_back(next);
      std::push_heap(ready.begin(), ready.end(), later);
    }
  }
  return order;
}

}  // namespace

McmcCuts::McmcCuts(const LayerGraph& graph, bool contiguous)
    : graph_(&graph), before_(graph.layers()), after_(graph.layers()) {
  for (const Edge& edge : graph.edges()) {
    before_[edge.to.index()].push_back(edge.from.value);
    after_[edge.from.index()].push_back(edge.to.value);
  }
  const auto layers = static_cast<std::int32_t>(graph.layers());
  if (contiguous) {
    for (std::int32_t i = 0; i < layers; ++i) order_.push_back(i);
  } else {
    order_ = topological(before_, after_);
  }
  // An edge against the order, which ids may have, keeps its layers in one stage.
  std::vector<std::int32_t> at(order_.size());
  for (std::int32_t i = 0; i < layers; ++i)
    at[static_cast<std::size_t>(order_[static_cast<std::size_t>(i)])] = i;
  std::vector<bool> barred(order_.size() + 1);
  for (const Edge& edge : graph.edges()) {
    for (std::int32_t i = at[edge.to.index()] + 1; i <= at[edge.from.index()]; ++i)
      barred[static_cast<std::size_t>(i)] = true;
  }
  for (std::int32_t i = 1; i < layers; ++i) {
    if (graph.is_joined(LayerId(i))) barred[static_cast<std::size_t>(at[static_cast<std::size_t>(i)])] = true;
  }
  for (std::int32_t i = 1; i < layers; ++i) {
    if (!barred[static_cast<std::size_t>(i)]) places_.push_back(i);
    const auto& from = before_[static_cast<std::size_t>(order_[static_cast<std::size_t>(i)])];
    const std::int32_t last = order_[static_cast<std::size_t>(i) - 1];
    if (std::find(from.begin(), from.end(), last) == from.end()) chain_ = false;
  }
  if (contiguous) chain_ = true;
}

StageCut McmcCuts::even(std::int64_t stages) const {
  StageCut cut{order_, {}};
  make_even(cut, stages);
  return cut;
}

void McmcCuts::make_even(StageCut& cut, std::int64_t stages) const {
  // Blocks before each place; all layers where there are too few blocks.
  std::vector<std::int64_t> weight(places_.size());
  std::int64_t total = 0;
  const auto weigh = [&](bool blocks_only) {
    std::size_t next = 0;
    total = 0;
    for (std::size_t i = 0; i < cut.order.size(); ++i) {
      if (next < places_.size() && places_[next] == static_cast<std::int32_t>(i)) weight[next++] = total;
      if (!blocks_only || graph_->is_block(LayerId(cut.order[i]))) ++total;
    }
  };
  weigh(true);
  if (total < stages) weigh(false);
  cut.cuts.clear();
  std::int64_t least = 0;
  for (std::int64_t i = 1; i < stages; ++i) {
    const std::int64_t most = static_cast<std::int64_t>(places_.size()) - (stages - i);
    const std::int64_t wanted = (i * total + stages / 2) / stages;
    const auto at = std::lower_bound(weight.begin(), weight.end(), wanted) - weight.begin();
    const std::int64_t place = std::clamp<std::int64_t>(at, least, most);
    cut.cuts.push_back(static_cast<std::int32_t>(place));
    least = place + 1;
  }
}

bool McmcCuts::shift(StageCut& cut, SeededRandom& random) const {
  if (cut.cuts.empty()) return false;
  const auto i = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(cut.cuts.size())));
  const auto steps = static_cast<std::int32_t>(random.once_in(2) ? 1 : 1 + random.below(kFarthestShift));
  const std::int32_t to = cut.cuts[i] + (random.once_in(2) ? steps : -steps);
  const std::int32_t least = i == 0 ? 0 : cut.cuts[i - 1] + 1;
  const std::int32_t most =
      (i + 1 == cut.cuts.size() ? static_cast<std::int32_t>(places_.size()) : cut.cuts[i + 1]) - 1;
  if (to < least || to > most) return false;
  cut.cuts[i] = to;
  return true;
}

bool McmcCuts::transfer(StageCut& cut, std::int64_t from, std::int64_t to) const {
  if (from == to) return false;
  const std::int32_t step = from < to ? -1 : 1;
  const auto [first, last] = std::minmax(from, to);
  for (std::int64_t i = first; i < last; ++i) cut.cuts[static_cast<std::size_t>(i)] += step;
  // Only the giver gets shorter.
  const std::int32_t start = from == 0 ? -1 : cut.cuts[static_cast<std::size_t>(from) - 1];
  const std::int32_t end = from + 1 == stages(cut) ? static_cast<std::int32_t>(places_.size())
                                                   : cut.cuts[static_cast<std::size_t>(from)];
  return end > start;
}

bool McmcCuts::split(StageCut& cut, SeededRandom& random) const {
  if (stages(cut) >= most_stages()) return false;
  // Any place that is free.
  std::int64_t left = random.below(most_stages() - stages(cut));
  for (std::int32_t place = 0;; ++place) {
    const auto at = std::lower_bound(cut.cuts.begin(), cut.cuts.end(), place);
    if (at != cut.cuts.end() && *at == place) continue;
    if (left-- > 0) continue;
    cut.cuts.insert(at, place);
    return true;
  }
}

bool McmcCuts::merge(StageCut& cut, SeededRandom& random) const {
  if (cut.cuts.empty()) return false;
  cut.cuts.erase(cut.cuts.begin() + random.below(static_cast<std::int64_t>(cut.cuts.size())));
  return true;
}

bool McmcCuts::reorder(StageCut& cut, SeededRandom& random) const {
  if (chain_) return false;
  const auto from = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(cut.order.size())));
  const std::int32_t layer = cut.order[from];
  const auto holds = [&](const std::vector<std::int32_t>& list, std::size_t i) {
    return std::find(list.begin(), list.end(), cut.order[i]) != list.end();
  };
  const auto id = static_cast<std::size_t>(layer);
  std::size_t least = from;
  while (least > 0 && !holds(before_[id], least - 1)) --least;
  std::size_t most = from;
  while (most + 1 < cut.order.size() && !holds(after_[id], most + 1)) ++most;
  if (least == most) return false;
  const std::size_t to =
      least + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(most - least + 1)));
  if (to == from) return false;
  cut.order.erase(cut.order.begin() + static_cast<std::ptrdiff_t>(from));
  cut.order.insert(cut.order.begin() + static_cast<std::ptrdiff_t>(to), layer);
  return true;
}

McmcCuts::Range McmcCuts::range_of(const StageCut& cut, std::int64_t stage) const {
  const auto i = static_cast<std::size_t>(stage);
  const auto place = [&](std::size_t c) {
    return static_cast<std::size_t>(places_[static_cast<std::size_t>(cut.cuts[c])]);
  };
  return {i == 0 ? 0 : place(i - 1), i == cut.cuts.size() ? cut.order.size() : place(i)};
}

void McmcCuts::layers_of(const StageCut& cut, std::int64_t stage, std::vector<LayerId>& layers) const {
  const Range range = range_of(cut, stage);
  layers.clear();
  for (std::size_t i = range.begin; i < range.end; ++i) layers.emplace_back(cut.order[i]);
  if (!chain_ || !graph_->ascending()) std::sort(layers.begin(), layers.end());
}

std::int64_t McmcCuts::least_recomputable(const StageCut& cut) const {
  std::int64_t least = static_cast<std::int64_t>(cut.order.size());
  for (std::int64_t s = 0; s < stages(cut); ++s) {
    const Range range = range_of(cut, s);
    std::int64_t able = 0;
    for (std::size_t i = range.begin; i < range.end; ++i)
      able += graph_->recomputes(LayerId(cut.order[i])) ? 1 : 0;
    least = std::min(least, able);
  }
  return least;
}

}  // namespace nest::solve
