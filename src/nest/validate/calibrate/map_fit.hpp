// The most likely multiples of a few constants, given measurements and what is believed before any: regression in
// logarithms, regularised towards 1. Sensitivities come from asking the model again with a constant moved, so that
// whatever the model does with it counts. Both beliefs have heavy tails (Student's): rows that contradict each other
// count less than they claim, and a constant that is far off is let go.
//
//   map_fit({.predict = .., .measured = {log(9.9)}, .noise = {0.05}, .prior = {0.1}}).values   -> {0.06}
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "nest/plan/calibration.hpp"

namespace nest::validate {

struct FitProblem {
  // The logarithms of what is measured, where the constants' multiples have these logarithms.
  std::function<std::vector<double>(std::span<const double>)> predict;
  std::vector<double> measured;  // logarithms
  std::vector<double> noise;     // standard deviations of the measured, one each
  std::vector<double> prior;     // standard deviations of the constants around 0, one each
};

struct Fit {
  std::vector<double> values;  // logarithms of the multiples; 0: not moved
  std::vector<double> spread;  // their standard deviations; of those not moved what the prior says
  // Of each constant: by how much the measured change with it, a root mean square over all.
  std::vector<double> sensitivity;
};

// Few rows move few constants: one up to two rows, two up to four, and so on; those that explain most, and none where
// the measurements lie within their noise.
[[nodiscard]] Fit map_fit(const FitProblem& problem);

// One constant with its interval; 1 where it was not moved.
[[nodiscard]] Multiple multiple_of(const Fit& fit, std::size_t constant);

}  // namespace nest::validate
