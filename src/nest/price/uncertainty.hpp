// How far measured runs lie from what is predicted for them: intervals around a step, and how sure a plan is to fit in
// memory. The spreads come from our own errors on published runs (data/uncertainty.yaml, made by
// tools/fit_uncertainty.py), by what a run is like.
//
//   const RunTraits traits = traits_of(inputs, plan.training, plan.parallelism.devices());
//   time_spread(traits).ratio(0.9)             -> 1.09: nine of ten measured steps take less than 1.09 times as long
//   memory_spread(traits)->share_below(1.05)   -> 0.95: of 20 runs, 19 need less than 1.05 times what is predicted
//   margin_for(inputs, 0.95)                   -> 0.048: with so much memory kept free a plan fits with 95 %
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  bool whole_memory = true;  // the recipe counts what libraries take, as measured memory does
  bool tuned = false;        // trains a part of the model, or on documents that share a sequence
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
  // Whether as many of the runs are below it as can be told: more would need more runs.
  [[nodiscard]] bool beyond(double ratio) const;
  // The largest share that so many runs can tell: of n runs, the next one is the largest once in n + 1 times.
  [[nodiscard]] double most_share() const {
    return static_cast<double>(rows) / static_cast<double>(rows + 1);
  }
  // The ends of the interval that is shown.
  [[nodiscard]] double low() const { return ratio((1 - kCoverage) / 2); }
  [[nodiscard]] double high() const { return ratio((1 + kCoverage) / 2); }
};

// None for layer profiles: their times are the user's own.
[[nodiscard]] std::optional<RunTraits> traits_of(const PlanInputs& inputs, const Training& training,
                                                 std::int64_t devices);

[[nodiscard]] const Spread& time_spread(const RunTraits& traits);
// None where the recipe leaves out what every measured run has.
[[nodiscard]] const Spread* memory_spread(const RunTraits& traits);
// The same of every plan of the inputs.
[[nodiscard]] const Spread* memory_spread(const PlanInputs& inputs);

// The share of a device's memory that has to stay free so that a plan fits with this probability; 0 where
// nothing is known. It is the same for every plan of the inputs.
[[nodiscard]] double margin_for(const PlanInputs& inputs, double probability);

// Whose runs the spreads were made from, and how many of them intervals contain that were made without the run's own
// source.
struct SpreadSources {
  std::vector<std::string> names;
  std::int64_t rows = 0;
  std::int64_t inside = 0;

  [[nodiscard]] bool has(std::string_view source) const;
  [[nodiscard]] double share() const { return static_cast<double>(inside) / static_cast<double>(rows); }
};
[[nodiscard]] const SpreadSources& time_sources();
[[nodiscard]] const SpreadSources& memory_sources();

// data/uncertainty.yaml, compiled in.
[[nodiscard]] std::span<const EmbeddedFile> uncertainty_files();

}  // namespace nest::price
