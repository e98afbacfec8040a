#include "nest/report/answer/plans_beside.hpp"

#include <cmath>
#include <cstddef>

#include "nest/solve/tree/best_plans.hpp"

namespace nest::report {
namespace {

// As far as a table tells: the same degrees, and as long a step.
bool same_row(const Plan& a, const Plan& b) {
  const double step = a.predicted->step.value;
  return a.parallelism == b.parallelism && a.training.micro_batch == b.training.micro_batch &&
         std::abs(b.predicted->step.value - step) <= solve::kTie * step;
}

}  // namespace

std::vector<const Plan*> plans_beside(const SearchResult& found) {
  std::vector<const Plan*> beside;
  for (std::size_t i = found.simpler ? 0 : 1; i < found.plans.size(); ++i) {
    if (!found.simpler || !same_row(found.plans[i], *found.simpler)) beside.push_back(&found.plans[i]);
  }
  return beside;
}

}  // namespace nest::report
