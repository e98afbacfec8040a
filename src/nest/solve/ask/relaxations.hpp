// Which single constraint, loosened least, would make another choice or another plan the best: a smaller margin of
// memory, more memory, or more or less bandwidth at one level. The place is found by bisection on the prices of the plans that rival each
// other, and each answer is then searched anew: with the change, no plan is faster.
//
//   relaxations(question, why_not(question, "tensor=8", best), best)
//     -> "2.4 times the bandwidth at level 'node' (1.08 TB/s in place of 450 GB/s)"
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nest/solve/ask/why_not.hpp"

namespace nest::solve {

enum class RelaxationKind { bandwidth, memory, margin };
[[nodiscard]] std::string_view name_of(RelaxationKind kind);

struct Relaxation {
  RelaxationKind kind = RelaxationKind::bandwidth;
  std::string change;   // a phrase: "2.4 times the bandwidth at level 'node' (..)"
  std::string level;    // of the bandwidth
  double factor = 1;    // of what there is: bandwidth (below 1 for less), memory, or memory that may be used
  double margin = 0;    // the share of memory that is then kept free, of a smaller margin
  Seconds step;         // of the choice or plan then
  bool proved = false;  // the search for something faster was finished
};

struct Relaxations {
  std::vector<Relaxation> all;  // the one that changes least first
  // What was tried; neither where no change of these kinds could help, because the choice is forbidden.
  bool bandwidth = false;
  bool memory = false;
  bool margin = false;
  Objective objective = Objective::step_time;  // what would be best
  bool stopped = false;                        // a limit came before all were tried

  [[nodiscard]] bool tried() const { return bandwidth || memory || margin; }
};

inline constexpr double kMostBandwidth = 64;  // times as much, or as little
inline constexpr double kMostMemory = 2;      // times as much, or as is needed

// The question's own deadline holds besides.
struct RelaxOptions {
  Seconds limit{10};                               // of all searches together
  std::function<void(const std::string&)> asking;  // told what is tried
};

// `answer` as why_not or why_not_plan gives it, `best` the strict optimum. Nothing where it is as good already, and
// nothing where the fewest devices are asked for: their number does not follow the resources step by step.
[[nodiscard]] Relaxations relaxations(const PlanQuestion& question, const WhyNot& answer, const Plan& best,
                                      const RelaxOptions& options = {},
                                      const SearchFunction& searching = ask);

}  // namespace nest::solve
