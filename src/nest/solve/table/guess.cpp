// Stages of about equal times, for a first plan.
#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/solve/table/fill.hpp"

namespace nest::solve {

std::optional<Filled> Filler::guess(StageOptions& options, const FillQuestion& question, FillCounts& counts) {
  const StageSetting& setting = options.setting();
  const LayerSets& sets = *setting.sets;
  const std::int64_t p = question.pipeline.stages;
  const auto layers = static_cast<std::int64_t>(sets.layers());
  if (p > layers) return std::nullopt;
  floors_ = layer_floors(options);
  const bool delayed = schedule_of(setting.schedule).splits_backward;
  const auto left_of = [&](std::int32_t state) {
    const Floor& floor = floors_[static_cast<std::size_t>(state)];
    return floor.f + floor.b;
  };
  const auto fitting = [&](std::vector<StageOption>& choices, std::int64_t held) {
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const StageOption& option) {
      return option.total(held) <= question.capacity;
    });
    return found == choices.end() ? nullptr : &*found;
  };
  std::vector<std::pair<double, std::size_t>> nearest;
  Filled filled;
  PipelineLabel pipeline{};
  StepLabel end;
  std::int32_t state = 0;
  for (std::int64_t s = 1; s <= p; ++s) {
    const auto stage = static_cast<std::size_t>(p - s);
    const std::size_t place = question.places[stage].front();
    const Seconds share = left_of(state) / static_cast<double>(p - s + 1);
    const std::int64_t held = in_flight(setting.schedule, setting.shape, p - s);
    const auto moves = sets.moves(state);
    nearest.clear();
    for (std::size_t at = s == p ? moves.size() - 1 : 0; at < moves.size(); ++at) {
      const Move& move = moves[at];
      ++counts.work;
      if (layers - sets.placed(move.to) < p - s || (s < p && move.to == sets.all())) continue;
      if (!ties_allow(question, stage,
                      sets.classes()[static_cast<std::size_t>(move.stage_class)].splits_tied))
        continue;
      nearest.emplace_back(std::abs((left_of(state) - left_of(move.to) - share).value), at);
    }
    std::sort(nearest.begin(), nearest.end());
    const Move* best = nullptr;
    StageOption* chosen = nullptr;
    for (const auto& [apart, at] : nearest) {
      best = &moves[at];
      chosen = fitting(options.first_of(place, best->stage_class), held);
      if (chosen == nullptr && options.least_total(place, best->stage_class, held) <= question.capacity)
        chosen = fitting(options.of(place, best->stage_class), held);
      if (chosen != nullptr) break;
    }
    if (chosen == nullptr) return std::nullopt;
    if (!chosen->priced)
      options.price(place, sets.classes()[static_cast<std::size_t>(best->stage_class)], *chosen);
    pipeline =
        extended(question.pipeline, pipeline, {chosen->f.value, chosen->b.value, chosen->weight.value}, s);
    end = end.with(end_of(*chosen, stage, p, delayed));
    filled.stages.push_back({state, best->to, place, chosen->recompute,
                             sets.classes()[static_cast<std::size_t>(best->stage_class)].splits_tied});
    state = best->to;
  }
  std::reverse(filled.stages.begin(), filled.stages.end());
  filled.step = pipeline_total(question.pipeline, pipeline) + Seconds{end.total()};
  return filled;
}

}  // namespace nest::solve
