// How far measured runs lie from what is predicted for them: intervals around a step, and how sure a plan is to fit in
// memory. The spreads come from our own errors on published runs (data/uncertainty.yaml, made by
// tools/fit_uncertainty.py), by what a run is like.
//
//   const RunTraits traits = traits_of(inputs, plan);
//   time_spread(traits).ratio(0.9)             -> 1.09: nine of ten measured steps take less than 1.09 times as long
//   memory_spread(traits).share_below(1.05)    -> 0.95: of 20 runs, 19 need less than 1.05 times what is predicted
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/base/embedded.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::price {

// The share of measured runs that lies inside the intervals that are shown.
inline constexpr double kCoverage = 0.8;

struct RunTraits {
  bool experts = false;
  bool several_nodes = false;
  bool compared = false;  // the recipe with measured runs, and products with measurements of the accelerator
  std::string framework;
};

// Measured over predicted.
struct Spread {
  std::string name;  // of the runs it comes from
  std::int64_t rows = 0;
  std::vector<double> shares;  // ascending, as the ratios
  std::vector<double> ratios;

  // So large a share of the runs is below this multiple of the prediction.
  [[nodiscard]] double ratio(double share) const;
  [[nodiscard]] double share_below(double ratio) const;
  // The ends of the interval that is shown.
  [[nodiscard]] double low() const { return ratio((1 - kCoverage) / 2); }
  [[nodiscard]] double high() const { return ratio((1 + kCoverage) / 2); }
};

// None for layer profiles: their times are the user's own.
[[nodiscard]] std::optional<RunTraits> traits_of(const PlanInputs& inputs, std::int64_t devices);

[[nodiscard]] const Spread& time_spread(const RunTraits& traits);
[[nodiscard]] const Spread& memory_spread(const RunTraits& traits);

// data/uncertainty.yaml, compiled in.
[[nodiscard]] std::span<const EmbeddedFile> uncertainty_files();

}  // namespace nest::price
