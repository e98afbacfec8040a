#include "nest/question/recompute_choices.hpp"

#include <algorithm>
#include <utility>

namespace nest::question {

RecomputeChoices::RecomputeChoices(const std::vector<Recompute>& listed,
                                   std::shared_ptr<const ModulePoints> points) {
  if (listed.empty()) {
    policy_[0] = policy_[1] = policy_[2] = any_part_ = below_all_ = true;
    points_ = std::move(points);
    return;
  }
  for (const Recompute& r : listed) {
    if (r.policy == RecomputePolicy::modules) {
      if (r.modules.empty()) {
        points_ = points;
      } else {
        modules_.push_back(r.modules);
      }
    } else if (r.policy == RecomputePolicy::full && r.layers > 0) {
      parts_.push_back(r.layers);
    } else {
      policy_[static_cast<std::size_t>(r.policy)] = true;
    }
  }
}

RecomputeChoices::RecomputeChoices(const Recompute& only, const RecomputeChoices& of)
    : RecomputeChoices(std::vector{only}) {
  below_all_ = of.below_all_;
}

void RecomputeChoices::drop_parts() {
  any_part_ = false;
  parts_.clear();
}

std::vector<RecomputeModules> RecomputeChoices::modules() const {
  std::vector<RecomputeModules> all = modules_;
  if (points_ == nullptr) return all;
  for (const RecomputeModules set : points_->sets()) {
    if (std::find(all.begin(), all.end(), set) == all.end()) all.push_back(set);
  }
  return all;
}

bool RecomputeChoices::allows_part(std::int64_t layers) const {
  return any_part_ || std::find(parts_.begin(), parts_.end(), layers) != parts_.end();
}

std::vector<Recompute> RecomputeChoices::plain_of_stage(std::int64_t recomputable) const {
  std::vector<Recompute> all;
  for (const RecomputePolicy policy : {RecomputePolicy::none, RecomputePolicy::selective}) {
    if (allows(policy)) all.push_back({policy, 0});
  }
  const std::int64_t most = below_all_ ? recomputable - 1 : recomputable;
  for (std::int64_t n = 1; n <= most; ++n) {
    if (allows_part(n)) all.push_back({RecomputePolicy::full, n});
  }
  if (allows(RecomputePolicy::full)) all.push_back({RecomputePolicy::full, 0});
  // Where no layer can recompute, all are the same.
  if (recomputable == 0 && all.size() > 1) all.resize(1);
  return all;
}

std::vector<Recompute> RecomputeChoices::sets_of_stage(std::int64_t recomputable) const {
  std::vector<Recompute> all;
  if (recomputable == 0 && !plain_of_stage(0).empty()) return all;
  for (const RecomputeModules set : modules()) all.push_back({RecomputePolicy::modules, 0, set});
  if (recomputable == 0 && all.size() > 1) all.resize(1);
  return all;
}

std::vector<Recompute> RecomputeChoices::of_stage(std::int64_t recomputable) const {
  std::vector<Recompute> all = plain_of_stage(recomputable);
  const std::vector<Recompute> sets = sets_of_stage(recomputable);
  const auto full = std::ranges::find(all, RecomputePolicy::full, &Recompute::policy);
  all.insert(full, sets.begin(), sets.end());
  return all;
}

std::vector<Recompute> RecomputeChoices::uniform(std::int64_t most) const {
  return of_stage(std::max<std::int64_t>(1, most));
}

}  // namespace nest::question
