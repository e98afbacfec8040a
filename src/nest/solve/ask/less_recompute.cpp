#include "nest/solve/ask/less_recompute.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nest/solve/ask/verify.hpp"

namespace nest::solve {
namespace {

std::int64_t recomputable(const LayerGraph& graph, const Stage& stage) {
  return std::count_if(stage.layers.begin(), stage.layers.end(),
                       [&](LayerId id) { return graph.recomputes(id); });
}

class Attempts {
 public:
  Attempts(Pricer& pricer, Plan plan) : pricer_(&pricer), plan_(std::move(plan)) {
    pricer.price(plan_, priced_);
    feasible_ = priced_.status == PriceStatus::feasible;
    longest_ = priced_.predicted.step * (1 + kPriceTolerance);
  }

  [[nodiscard]] bool feasible() const { return feasible_; }
  [[nodiscard]] Plan& plan() { return plan_; }
  // Whether the plan as it stands fits and takes no longer than it did.
  [[nodiscard]] bool as_good() {
    pricer_->price(plan_, priced_);
    return priced_.status == PriceStatus::feasible && priced_.predicted.step <= longest_;
  }

 private:
  Pricer* pricer_;
  Plan plan_;
  PricedPlan priced_;
  bool feasible_ = false;
  Seconds longest_;
};

// Gives some stages the first of these, less first, with which the plan is as good as with their own.
void reduce(Attempts& attempts, const std::vector<Stage*>& stages, const std::vector<Recompute>& less_first) {
  const Recompute own = stages.front()->recompute;
  const auto set = [&](const Recompute& r) {
    for (Stage* stage : stages) stage->recompute = r;
  };
  const auto mine = std::find(less_first.begin(), less_first.end(), own);
  if (mine == less_first.end()) return;
  const auto first_part =
      std::find_if(less_first.begin(), mine, [](const Recompute& r) { return r.layers > 0; });
  for (auto r = less_first.begin(); r != first_part; ++r) {
    set(*r);
    if (attempts.as_good()) return;
  }
  // With more layers a stage needs less memory and has more to do: the fewest that do are found by halves.
  auto low = first_part;
  auto high = mine;
  while (low != high) {
    const auto middle = low + (high - low) / 2;
    set(*middle);
    if (attempts.as_good()) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  set(*high);
}

}  // namespace

Plan less_recompute(Pricer& pricer, const LayerGraph& graph, const LessRecompute& space, Plan plan) {
  const bool any = std::any_of(plan.stages.begin(), plan.stages.end(), [](const Stage& stage) {
    return stage.recompute.policy != RecomputePolicy::none;
  });
  if (!any) return plan;
  Attempts attempts(pricer, plan);
  if (!attempts.feasible()) return plan;
  std::vector<Stage>& stages = attempts.plan().stages;
  if (space.same) {
    std::vector<Stage*> all;
    std::int64_t fewest = recomputable(graph, stages.front());
    for (Stage& stage : stages) {
      all.push_back(&stage);
      fewest = std::min(fewest, recomputable(graph, stage));
    }
    // What the stage with the fewest layers may do, all may.
    std::vector<Recompute> less_first = space.choices.uniform(fewest);
    std::erase_if(less_first, [&](const Recompute& r) { return r.layers > fewest; });
    reduce(attempts, all, less_first);
  } else {
    for (Stage& stage : stages) {
      if (stage.recompute.policy == RecomputePolicy::none) continue;
      reduce(attempts, {&stage}, space.choices.of_stage(recomputable(graph, stage)));
    }
  }
  return std::move(attempts.plan());
}

}  // namespace nest::solve
