#include "nest/question/recompute_choices.hpp"

#include <algorithm>

namespace nest::question {

RecomputeChoices::RecomputeChoices(const std::vector<Recompute>& listed) {
  if (listed.empty()) {
    policy_[0] = policy_[1] = policy_[2] = any_part_ = below_all_ = true;
    return;
  }
  for (const Recompute& r : listed) {
    if (r.policy == RecomputePolicy::full && r.layers > 0) {
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

bool RecomputeChoices::allows_part(std::int64_t layers) const {
  return any_part_ || std::find(parts_.begin(), parts_.end(), layers) != parts_.end();
}

std::vector<Recompute> RecomputeChoices::of_stage(std::int64_t recomputable) const {
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

std::vector<Recompute> RecomputeChoices::uniform(std::int64_t most) const {
  return of_stage(std::max<std::int64_t>(1, most));
}

}  // namespace nest::question
