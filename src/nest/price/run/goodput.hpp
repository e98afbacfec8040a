// What failures leave of a run's time (Young 1974; Daly 2006, "A higher order estimate of the optimum
// checkpoint interval for restart dumps").
//
// Failures come at random, M apart on average. A run works for an interval t, writes a checkpoint for C, and
// goes on; after a failure it restarts for R, and does again what was lost since the last checkpoint. With
// exponential times between failures, one interval takes M exp(R/M) (exp((t+C)/M) - 1) on average, failures
// during checkpoints and restarts included: the share of the time that makes progress is
// t over that. It is greatest where (1 - t/M) exp(t/M) = exp(-C/M), which is solved here to the last digit;
// Young's sqrt(2 C M) and Daly's series are approximations of the same t.
//
//   const Failures failures{.between = Seconds{3 * 3600}, .checkpoint = Seconds{30}, .restart = Seconds{600}};
//   best_interval(failures)   -> 785 s
//   best_goodput(failures)    -> 0.876
#pragma once

#include "nest/base/units.hpp"

namespace nest::price {

// Of a run as a whole.
struct Failures {
  Seconds between = Seconds::most();  // the mean; infinite: there are none
  Seconds checkpoint;                 // writing one, while nothing else runs
  Seconds restart;                    // from a failure until the run goes on from its last checkpoint
};

// The share of the time that makes progress with a checkpoint after every `interval` of work.
[[nodiscard]] double goodput(const Failures& failures, Seconds interval);

// The interval with the greatest goodput; infinite without failures, 0 where checkpoints take no time.
[[nodiscard]] Seconds best_interval(const Failures& failures);
[[nodiscard]] double best_goodput(const Failures& failures);

}  // namespace nest::price
