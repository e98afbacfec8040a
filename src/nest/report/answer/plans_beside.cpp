#include "nest/report/answer/plans_beside.hpp"

#include <cstddef>

#include "nest/solve/ask/why_not.hpp"

namespace nest::report {
namespace {

bool taken(const SearchResult& found, const Plan& plan) {
  return found.simpler && solve::same_plan(plan, *found.simpler);
}

}  // namespace

std::vector<const Plan*> plans_beside(const SearchResult& found) {
  std::vector<const Plan*> beside;
  for (std::size_t i = found.simpler ? 0 : 1; i < found.plans.size(); ++i) {
    if (!taken(found, found.plans[i])) beside.push_back(&found.plans[i]);
  }
  return beside;
}

std::vector<const Plan*> runners_up(const SearchResult& found) {
  std::vector<const Plan*> out = plans_beside(found);
  std::erase(out, &found.plans.front());
  return out;
}

std::vector<const Plan*> near_ties(const SearchResult& found) {
  std::vector<const Plan*> out = runners_up(found);
  for (const Plan& one : found.near_ties) {
    if (!taken(found, one)) out.push_back(&one);
  }
  const Seconds near = found.plans.front().predicted->step * (1 + kNoise);
  std::erase_if(out, [&](const Plan* one) { return one->predicted->step > near; });
  return out;
}

}  // namespace nest::report
