// What all baselines have in common: other ways to find a plan, asked the same question as the search, their
// plans checked and priced like ours. A baseline is one file and one row in baselines.cpp.
//
//   const BaselineResult manual = find_baseline("manual")->find(question, {});
//   manual.status == PlanStatus::feasible, manual.plan->predicted->step
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/question.hpp"

namespace nest::solve {

// Degrees that somebody else chose.
struct GivenDegrees {
  std::int64_t pipeline = 1;
  std::int64_t data = 1;  // copies of the pipeline, as the file says it
  std::int64_t tensor = 1;

  bool operator==(const GivenDegrees&) const = default;
};

struct BaselineOptions {
  std::uint64_t seed = 1;                        // mcmc
  std::int64_t evaluations = 20'000;             // mcmc: plans priced at most
  std::optional<Seconds> time_limit;             // mcmc: of the wall clock at most
  std::optional<GivenDegrees> degrees;           // manual: these, with the best stage boundaries for them
  std::optional<BytesPerSecond> flat_bandwidth;  // flat, phaze: of the one level; none: the innermost level's
};

// A better plan was found after so many evaluations.
struct BestSoFar {
  std::int64_t evaluations = 0;
  Seconds elapsed;
  Seconds step;
};

struct BaselineResult {
  // feasible: `plan` fits. infeasible: it found none that fits; limit: a limit of the question came first.
  PlanStatus status = PlanStatus::infeasible;
  // Complete, placed and with its results on the real cluster. Where infeasible: its first choice, which does
  // not fit, or none where it has none at all.
  std::optional<Plan> plan;
  std::string reason;               // why infeasible, a sentence without a full stop
  std::optional<Seconds> believed;  // the step as the baseline's own model sees it
  Seconds search_time;
  std::int64_t evaluations = 0;    // plans priced, or transitions of its dynamic program
  std::vector<BestSoFar> curve;    // mcmc
  std::vector<std::string> notes;  // what a reader should know, a sentence each without a full stop
};

// A note, and a reason.
inline constexpr std::string_view kEndedEarly = "a time limit ended it before it had tried everything";
inline constexpr std::string_view kNotFinished = "not finished within the time limit";

// Looks at the question's deadline, and may throw Stopped there: see ask_baseline.
using BaselineFunction = BaselineResult (*)(const PlanQuestion&, const BaselineOptions&);

struct Baseline {
  std::string_view name;  // "alpa"
  std::string_view title;
  std::string_view does;
  std::string_view knows;
  std::string_view ignores;
  std::string_view simplified;  // against the published system; empty where it is our own
  BaselineFunction find;
};

}  // namespace nest::solve
