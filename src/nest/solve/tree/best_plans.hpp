// Keeps the best plan found so far for each combination of degrees.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_options.hpp"

namespace nest::solve {

// Steps that differ by a smaller share are equal: of plans that take as long, the one with fewer devices wins.
inline constexpr double kTie = 1e-9;

class BestPlans {
 public:
  // With Objective::devices, plans above `slowest` do not count.
  BestPlans(Objective objective, int top, Seconds slowest)
      : objective_(objective), top_(top), slowest_(slowest) {}

  // `weight`: what one second of its step counts, which is 1 but for Objective::cost (SearchNode::weight).
  void add(Seconds step, Plan plan, double weight = 1);

  struct Entry {
    Seconds step;
    double weight = 1;
    std::int64_t devices = 0;
    std::vector<std::int64_t> tie;
    Plan plan;

    // What is made as small as can be.
    [[nodiscard]] Seconds value() const { return step * weight; }
  };
  [[nodiscard]] const Entry* best() const;
  // Best first.
  [[nodiscard]] std::vector<const Entry*> all() const;
  // Whether a plan of so many devices could still count if it took `bound` or more.
  [[nodiscard]] bool open(std::int64_t devices, Seconds bound, double weight = 1) const;
  // The step above which a plan of so many devices does not count.
  [[nodiscard]] Seconds threshold(std::int64_t devices, double weight = 1) const;

 private:
  [[nodiscard]] bool before(const Entry& a, const Entry& b) const;
  void update();

  Objective objective_;
  int top_;
  Seconds slowest_;
  std::map<std::vector<std::int64_t>, Entry> entries_;  // by degrees
  const Entry* best_ = nullptr;
  const Entry* last_ = nullptr;  // of the top
};

}  // namespace nest::solve
