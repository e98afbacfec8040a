// What one more unit of each resource would buy: more bandwidth at each level, more memory, one more node. Each is
// a search of its own with one thing changed, so that the plan may change with it, and is compared with the
// best plan of the question as it is.
//
//   shadow_prices(question)
//     -> "25 % more bandwidth at level 'spine'": nothing; "8 GiB more memory": -4.1 %; ...
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/solve/ask/search.hpp"

namespace nest::solve {

enum class ShadowKind { bandwidth, memory, devices };
[[nodiscard]] std::string_view name_of(ShadowKind kind);

struct ShadowPrice {
  std::string change;  // "8 GiB more memory"
  ShadowKind kind = ShadowKind::bandwidth;
  std::string level;  // of more bandwidth
  double amount = 0;  // bytes per second, bytes or devices in addition
  // optimal: the step is the best there is, before and after; feasible: the best that was found; infeasible:
  // nothing fits even so; limit: no plan was found in time, and the step is what the plan from before takes then.
  PlanStatus status = PlanStatus::limit;
  Seconds step;      // of the best plan then; never above that of the question as it is
  double share = 0;  // by which that differs from the step of the question as it is: 0 or below
  std::optional<Plan> plan;
};

struct ShadowPrices {
  SearchResult unchanged;         // the question as it is
  std::vector<ShadowPrice> rows;  // each level's bandwidth from the innermost on, memory, devices
  bool stopped = false;           // a limit came before all searches were done
};

// The question's own deadline holds besides.
struct ShadowOptions {
  Seconds limit{10};                               // of all searches together
  std::function<void(const std::string&)> asking;  // told what is searched, before each search
};

// Where nothing fits as it is, there is no step to compare with: shares are 0 and steps those of the plans that
// fit then.
[[nodiscard]] ShadowPrices shadow_prices(const PlanQuestion& question, const ShadowOptions& options = {},
                                         const SearchFunction& searching = ask);

}  // namespace nest::solve
