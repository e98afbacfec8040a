#include "all_placements.hpp"

#include <algorithm>
#include <utility>

namespace nest::tools::study {

AllPlacements::AllPlacements(Pricer& pricer, std::vector<Plan> plans)
    : pricer_(&pricer), plans_(std::move(plans)) {
  const Parallelism& p = plans_.front().parallelism;
  stages_ = static_cast<std::size_t>(p.pipeline);
  copies_ = static_cast<std::size_t>(p.copies());
  cell_ = static_cast<std::size_t>(p.strategy.cell());
  lanes_alike_ = p.strategy.context == 1 && p.strategy.cell() == p.strategy.tensor;
  keep_whole_ = pricer.inputs().profile() != nullptr;
  used_.assign(static_cast<std::size_t>(pricer.inputs().cluster.devices()), false);
  devices_.assign(stages_, std::vector<Cell>(copies_, Cell(cell_)));
}

Degrees AllPlacements::degrees() const {
  return {static_cast<std::int64_t>(cell_), static_cast<std::int64_t>(stages_),
          static_cast<std::int64_t>(copies_)};
}

std::optional<Plan> AllPlacements::best() {
  best_.reset();
  assign(0);
  return best_;
}

std::optional<Plan> AllPlacements::best_of(const Family& family) {
  best_.reset();
  for (const std::vector<std::int32_t>& starts :
       cell_starts(pricer_->inputs().cluster.tree(), degrees(), family)) {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      for (std::size_t j = 0; j < cell_; ++j)
        devices_[i / copies_][i % copies_][j] = DeviceId(starts[i] + static_cast<std::int32_t>(j));
    }
    price();
  }
  return best_;
}

void AllPlacements::assign(std::size_t at) {
  if (at == stages_ * copies_ * cell_) return price();
  const std::size_t stage = at / (copies_ * cell_);
  const std::size_t copy = at / cell_ % copies_;
  const std::size_t lane = at % cell_;
  Cell& cell = devices_[stage][copy];
  std::size_t from = 0;
  // Copies can change places, and so can tensor ranks.
  if (stage == 0 && lane == 0 && copy > 0) from = devices_[0][copy - 1][0].index() + 1;
  if (stage == 0 && copy == 0 && lane > 0 && lanes_alike_) from = cell[lane - 1].index() + 1;
  std::size_t end = used_.size();
  if (keep_whole_ && lane > 0) {
    from = cell[lane - 1].index() + 1;
    end = std::min(end, from + 1);
  }
  for (std::size_t d = from; d < end; ++d) {
    if (used_[d]) continue;
    cell[lane] = DeviceId(static_cast<std::int32_t>(d));
    if (keep_whole_ && lane + 1 == cell_ && !whole(cell)) continue;
    used_[d] = true;
    assign(at + 1);
    used_[d] = false;
  }
}

// Whether it lies in one domain wherever its first device's domain is large enough.
bool AllPlacements::whole(const Cell& cell) const {
  const DeviceTree& tree = pricer_->inputs().cluster.tree();
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const std::int32_t domain = tree.domain_of(cell.front(), LevelId(l));
    const bool fits = static_cast<std::size_t>(tree.devices_in(LevelId(l), domain)) >= cell.size();
    if (fits && tree.domain_of(cell.back(), LevelId(l)) != domain) return false;
  }
  return true;
}

void AllPlacements::price() {
  for (Plan& plan : plans_) {
    for (std::size_t i = 0; i < stages_; ++i) plan.stages[i].devices = devices_[i];
    pricer_->price(plan, priced_);
    if (priced_.status != PriceStatus::feasible) continue;
    if (!best_ || priced_.predicted.step < best_->predicted->step) best_ = with_results(plan, priced_);
  }
}

}  // namespace nest::tools::study
