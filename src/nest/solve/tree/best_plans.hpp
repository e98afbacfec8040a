// Keeps the best plan found so far for each combination of degrees.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/question/search_options.hpp"

namespace nest::solve {

class BestPlans {
 public:
  // With Objective::devices, plans above `slowest` seconds do not count.
  BestPlans(Objective objective, int top, double slowest)
      : objective_(objective), top_(top), slowest_(slowest) {}

  void add(double step, Plan plan);

  struct Entry {
    double step = 0;
    std::int64_t devices = 0;
    std::vector<std::int64_t> tie;
    Plan plan;
  };
  [[nodiscard]] const Entry* best() const;
  // Best first.
  [[nodiscard]] std::vector<const Entry*> all() const;
  // Whether a plan of so many devices could still count if it took `bound` seconds or more.
  [[nodiscard]] bool open(std::int64_t devices, double bound) const;
  // Seconds above which a plan of so many devices does not count.
  [[nodiscard]] double threshold(std::int64_t devices) const;

 private:
  [[nodiscard]] bool before(const Entry& a, const Entry& b) const;
  void update();

  Objective objective_;
  int top_;
  double slowest_;
  std::map<std::vector<std::int64_t>, Entry> entries_;  // by degrees
  const Entry* best_ = nullptr;
  const Entry* last_ = nullptr;  // of the top
};

}  // namespace nest::solve
