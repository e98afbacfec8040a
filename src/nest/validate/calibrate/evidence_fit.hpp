// What measurements say of a few constants, given what is believed of them before: Bayesian regression of logarithms,
// which moves few constants and not far. Predictions come from asking the model again with a constant moved, so that
// whatever the model does with it counts. Both the noise and the belief have heavy tails (Student's distribution): one
// measurement that is far off may be an odd one, and moves a constant half the way; two that agree move it.
//
//   fit_constants({.predict = .., .measured = {log(9.9), log(4.9)}, .noise = {0.04, 0.04}, .prior = {0.05}}).values -> {0.06}
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
  std::vector<double> noise;     // widths of the measured, one each
  std::vector<double> prior;     // widths of the constants around 0, one each
};

struct Fit {
  std::vector<double> values;  // logarithms of the multiples; 0: not moved
  std::vector<double> spread;  // standard deviations of those that were moved
  // Of each constant: by how much the measured change with it, a root mean square over all.
  std::vector<double> sensitivity;
};

// One constant is moved by one or two measurements, up to two by three or four, and so on: the one for which there is
// most evidence, by its mean over all values that it may have, 0 among them.
[[nodiscard]] Fit fit_constants(const FitProblem& problem);

// One constant with its interval of 80 %; 1 where it was not moved.
[[nodiscard]] Multiple multiple_of(const Fit& fit, std::size_t constant);

}  // namespace nest::validate
