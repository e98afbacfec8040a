// The end of the step (docs/design.md, section 5) as numbers that grow stage by stage, from the last
// stage to the first: the price adds up all stages, and the search keeps the labels of all partial pipelines.
// All are monotone: if no number is larger, the step takes no longer, whatever comes before.
//
// Later stages finish their backward passes earlier, and begin the next step later. What their reductions
// take beyond the backward passes of the stages before them sticks out of the step, and what their gathers
// take beyond those stages' forward passes.
#pragma once

#include <algorithm>
#include <cstddef>

#include "nest/base/rooms.hpp"

namespace nest::price {

// What one stage brings, in seconds.
struct StageEnd {
  double hidden = 0;  // sends that passes hide: they hold up the first and the last micro-batch all the same
  double reduce = 0;  // see shared_reduce
  double gather = 0;
  double optimizer = 0;
  double slow_down = 0;
  double norm = 0;
  double hides_gathers = 0;  // its first forward pass
  double hides_reduces = 0;  // its last backward pass; nothing where weight gradients wait
};

// All stages share the links equally: when stage i begins, those before it (it ends first) have not begun, so
// that by the end the links have to carry the share of stages 0 to i. A stage alone takes its own time.
[[nodiscard]] inline double shared_reduce(double alone, double together, std::size_t stage,
                                          std::size_t stages) {
  const double share = static_cast<double>(stage + 1) / static_cast<double>(stages);
  return std::max(alone, together * share);
}

// In seconds: plain numbers, since tables keep millions of labels.
struct StepLabel {
  double hidden = 0;
  double reduce = 0;     // what sticks out so far
  double optimizer = 0;  // the longest
  double finish = 0;     // optimizer and gather, what sticks out so far
  double slow_down = 0;
  double norm = 0;

  // With one more stage in front.
  [[nodiscard]] StepLabel with(const StageEnd& s) const {
    return {hidden + s.hidden,
            std::max(s.reduce, reduce - s.hides_reduces),
            std::max(optimizer, s.optimizer),
            std::max(s.optimizer + s.gather, finish - s.hides_gathers),
            std::max(slow_down, s.slow_down),
            std::max(norm, s.norm)};
  }
  [[nodiscard]] bool covers(const StepLabel& o) const {
    return hidden <= o.hidden && reduce <= o.reduce && optimizer <= o.optimizer && finish <= o.finish &&
           slow_down <= o.slow_down && norm <= o.norm;
  }
  // Nowhere above either.
  void melt(const StepLabel& o) {
    for (double StepLabel::* part : {&StepLabel::hidden, &StepLabel::reduce, &StepLabel::optimizer,
                                     &StepLabel::finish, &StepLabel::slow_down, &StepLabel::norm})
      this->*part = std::min(this->*part, o.*part);
  }
  [[nodiscard]] double update() const { return std::max(finish, optimizer); }
  // Beside the pipeline.
  [[nodiscard]] double total() const { return hidden + std::max(reduce, 0.0) + slow_down + norm + update(); }
};

}  // namespace nest::price
