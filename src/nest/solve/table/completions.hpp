// What the first stages of a pipeline bring at least, however the layers are divided among them: for every
// number of stages and every set of layers that is left for them. With these, a label of the last stages shows
// early that nothing good can come of it. Each number is the least over all divisions, one by one, so that no
// division may have them all.
//
//   const Completions completions(options, question, threshold, counts);
//   completions.of(k, state).reduce
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "nest/solve/table/fill.hpp"

namespace nest::solve {

struct Completion {
  double pass = 0;     // the longest f + b
  double longest = 0;  // the longest f, or b
  // What sticks out of the step behind the least that the stages before take, and what the stage's own passes
  // take beyond their least: the pipeline is longer by that.
  double reduce = 0;
  double finish = 0;
  double hidden = 0;
  double optimizer = 0;
  double slow_down = 0;
  double norm = 0;

  [[nodiscard]] bool possible() const { return pass < std::numeric_limits<double>::infinity(); }
};

class Completions {
 public:
  // Stages that alone take longer than `threshold` are left out. Throws Stopped.
  Completions(StageOptions& options, const FillQuestion& question, const Prunings& prunings,
              Seconds threshold, FillCounts& counts);

  // k stages that hold all layers outside the state.
  [[nodiscard]] const Completion& of(std::int64_t k, std::int32_t state) const {
    return known_[static_cast<std::size_t>(k) * states_ + static_cast<std::size_t>(state)];
  }

 private:
  std::size_t states_;
  std::vector<Completion> known_;  // [k * states + state]
};

}  // namespace nest::solve
