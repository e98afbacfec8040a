#include "nest/solve/placements/placements.hpp"

#include <algorithm>

#include "nest/question/choice_values.hpp"

namespace nest::solve {
namespace {

bool alike(const PlanNetwork& a, const PlanNetwork& b) {
  if (a.stages.size() != b.stages.size() || !(a.wrap == b.wrap) || !(a.tied == b.tied)) return false;
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    const StageNetwork& x = a.stages[i];
    const StageNetwork& y = b.stages[i];
    if (!(x.from_previous == y.from_previous && x.from_next == y.from_next && x.dense == y.dense &&
          x.expert == y.expert) ||
        !(x.cell == y.cell || same_groups(*x.cell, *y.cell)))
      return false;
  }
  return true;
}

}  // namespace

Placements::SlotGroup& Placements::slots(const PlacementQuestion& question) {
  SlotGroup* group = nullptr;
  {
    const std::lock_guard lock(mutex_);
    group = &slots_[{question.strategy, question.pipeline, question.copies}];
  }
  const std::lock_guard lock(group->mutex);
  if (group->made) return *group;
  const Strategy& strategy = (*strategies_)[question.strategy];
  group->slots.clear();  // of a try that was stopped
  for (const std::int64_t inner : inner_values(*space_, question.copies)) {
    PlacementShape shape{strategy.cell(), question.pipeline, inner, question.copies / inner, 0, false};
    std::vector<std::int64_t> blocks;
    if (!space_->block_devices.open()) {
      blocks = space_->block_devices.values(cluster_->devices());
    } else if (shape.outer == 1) {
      blocks = {0};
    } else {
      blocks = block_sizes(cluster_->sorted().tree(), shape);
    }
    for (const std::int64_t block : blocks) {
      deadline_.look();
      shape.block_devices = block;
      if (auto made = SlotNetwork::make(*cluster_, *constants_, strategy, shape))
        group->slots.push_back(std::move(made));
    }
  }
  group->made = true;
  return *group;
}

std::vector<std::int64_t> Placements::shard_sizes(const PlacementQuestion& question,
                                                  const SlotNetwork& slot) const {
  const Strategy& strategy = (*strategies_)[question.strategy];
  const std::int64_t ranks = question.copies * strategy.cell();
  const std::int64_t group = ranks / strategy.tensor;
  if (question.shards == ShardKind::any) return {0};
  std::vector<std::int64_t> sizes;
  if (question.shards == ShardKind::whole) {
    sizes = {group};
  } else if (space_->zero_shards.open()) {
    sizes = slot.zero_shards();
  } else {
    sizes = divisors(group);
    std::erase_if(sizes, [&](std::int64_t size) { return size == group || !space_->zero_shards.has(size); });
  }
  if (question.near > 0)
    std::erase_if(sizes, [&](std::int64_t size) { return !resharding_group_fits(question.near, size); });
  return sizes;
}

std::vector<Placement> Placements::make(const PlacementQuestion& question) {
  SlotGroup& group = slots(question);
  const std::lock_guard lock(group.mutex);
  std::vector<bool> directions = space_->first_stage_first;
  if (directions.empty()) directions = question.pipeline == 1 ? std::vector{false} : std::vector{false, true};
  std::vector<Placement> all;
  std::int64_t made = 0;
  for (const auto& slot : group.slots) {
    const std::int64_t rented = bills_ ? rented_by(*cluster_, slot->slots(false)) : 0;
    for (const std::int64_t shards : shard_sizes(question, *slot)) {
      for (const bool first : directions) {
        deadline_.look();
        const NetworkOptions options{shards, question.wrap, question.tied_first, question.tied_last,
                                     question.near};
        auto network = std::make_shared<const PlanNetwork>(slot->network(options, first));
        ++made;
        const auto known = std::find_if(all.begin(), all.end(), [&](const Placement& other) {
          return other.zero_shards == shards && other.rented == rented && alike(*other.network, *network);
        });
        if (merge_ && known != all.end()) continue;
        all.push_back(
            {slot->shape().inner, slot->shape().block_devices, first, shards, std::move(network), rented});
      }
    }
  }
  const std::lock_guard count(mutex_);
  networks_ += made;
  return all;
}

RelaxedNetwork Placements::relaxed(const CollectiveModel& collectives, std::size_t strategy,
                                   std::int64_t copies, ShardKind kind, Zero zero) const {
  return relaxed_network(
      even_ ? *even_ : *cluster_, *constants_, collectives,
      {(*strategies_)[strategy], copies, kind, zero, !space_->zero_shards.open(), even_.has_value()});
}

std::optional<Placement> Placements::usual(const PlacementQuestion& question) const {
  const Strategy& strategy = (*strategies_)[question.strategy];
  const std::vector<std::int64_t> inner = inner_values(*space_, question.copies);
  const bool first = !space_->first_stage_first.empty() && space_->first_stage_first.front();
  if (inner.empty() || !space_->block_devices.open()) return std::nullopt;
  PlacementShape shape{
      strategy.cell(), question.pipeline, inner.back(), question.copies / inner.back(), 0, false};
  if (shape.outer > 1) {
    const std::vector<std::int64_t> blocks = block_sizes(cluster_->sorted().tree(), shape);
    if (blocks.empty()) return std::nullopt;
    shape.block_devices = blocks.front();
  }
  const auto slot = SlotNetwork::make(*cluster_, *constants_, strategy, shape);
  if (!slot) return std::nullopt;
  const std::vector<std::int64_t> shards = shard_sizes(question, *slot);
  if (shards.empty()) return std::nullopt;
  const NetworkOptions options{shards.front(), question.wrap, question.tied_first, question.tied_last,
                               question.near};
  return Placement{shape.inner,
                   shape.block_devices,
                   first,
                   shards.front(),
                   std::make_shared<const PlanNetwork>(slot->network(options, first)),
                   bills_ ? rented_by(*cluster_, slot->slots(first)) : 0};
}

std::shared_ptr<const std::vector<Placement>> Placements::of(const PlacementQuestion& question) {
  Answer* answer = nullptr;
  {
    const std::lock_guard lock(mutex_);
    answer = &answers_[question];
  }
  const std::lock_guard lock(answer->mutex);
  if (!answer->placements)
    answer->placements = std::make_shared<const std::vector<Placement>>(make(question));
  return answer->placements;
}

}  // namespace nest::solve
