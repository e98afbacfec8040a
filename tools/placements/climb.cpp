#include "climb.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace nest::tools::study {
namespace {

using Spots = std::vector<std::int32_t>;  // first devices: of all cells, then of free places

class Climber {
 public:
  Climber(Pricer& pricer, const Plan& plan) : pricer_(&pricer), plan_(plan) {
    const DeviceTree& tree = pricer.inputs().cluster.tree();
    std::vector<bool> used(static_cast<std::size_t>(tree.devices()));
    for (const Stage& stage : plan.stages) {
      for (const Cell& cell : stage.devices) {
        spots_.push_back(cell.front().value);
        for (const DeviceId id : cell) used[id.index()] = true;
      }
    }
    cells_ = spots_.size();
    const std::size_t width = plan.stages.front().devices.front().size();
    for (std::size_t at = 0; at + width <= used.size();) {
      const DeviceId first(static_cast<std::int32_t>(at));
      const DeviceId last(static_cast<std::int32_t>(at + width - 1));
      const bool free = std::none_of(used.begin() + first.value, used.begin() + last.value + 1,
                                     [](bool taken) { return taken; });
      const bool inside = tree.domain_of(first, LevelId(0)) == tree.domain_of(last, LevelId(0));
      if (free && inside) spots_.push_back(first.value);
      at += free && inside ? width : 1;
    }
  }

  [[nodiscard]] Plan best(unsigned seed) {
    constexpr int kKicks = 12;
    std::mt19937 random(seed);
    Seconds least = climb(spots_);
    for (int kick = 0; kick < kKicks; ++kick) {
      Spots other = spots_;
      const std::size_t swaps = kick < 8 ? 3 : cells_;
      for (std::size_t i = 0; i < swaps; ++i)
        std::swap(other[random() % cells_], other[random() % other.size()]);
      const Seconds found = climb(other);
      if (found < least) {
        least = found;
        spots_ = std::move(other);
      }
    }
    price(spots_);
    return with_results(plan_, priced_);
  }

 private:
  Seconds price(const Spots& spots) {
    std::size_t at = 0;
    for (Stage& stage : plan_.stages) {
      for (Cell& cell : stage.devices) {
        std::int32_t id = spots[at++];
        for (DeviceId& device : cell) device = DeviceId(id++);
      }
    }
    pricer_->price(plan_, priced_);
    return priced_.predicted.step;
  }

  Seconds climb(Spots& spots) {
    Seconds least = price(spots);
    for (bool better = true; better;) {
      better = false;
      for (std::size_t a = 0; a < cells_; ++a) {
        for (std::size_t b = a + 1; b < spots.size(); ++b) {
          std::swap(spots[a], spots[b]);
          const Seconds found = price(spots);
          if (found.value < least.value * (1 - 1e-9)) {
            least = found;
            better = true;
          } else {
            std::swap(spots[a], spots[b]);
          }
        }
      }
    }
    return least;
  }

  Pricer* pricer_;
  Plan plan_;
  Spots spots_;
  std::size_t cells_ = 0;
  PricedPlan priced_;
};

}  // namespace

Plan climb(Pricer& pricer, const Plan& plan, unsigned seed) {
  return Climber(pricer, plan).best(seed);
}

}  // namespace nest::tools::study
