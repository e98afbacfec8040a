// A plan's step, run event by event: how long it takes with sends that wait for each other, what each stage
// holds at most, which links are busiest, and why that differs from the price. A sample of `cause`:
//
//   1.3 % above the price: sends and reductions wait for each other on the spine (1.1 %)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/base/units.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"
#include "nest/simulate/engine/listener.hpp"
#include "nest/simulate/listeners/link_bytes.hpp"

namespace nest::simulate {

struct SimulationOptions {
  bool all_devices = false;  // every copy, also those that are alike
  bool contention = true;    // off: everybody has the network to itself
  std::size_t links = 5;     // of the busiest
};

struct PassOptions {
  bool all_devices = false;
  bool drawn = false;  // its passes are kept for a drawing or a trace
};
inline constexpr double kMostPasses = 5e7;  // about a minute and a few GB
inline constexpr double kMostDrawn = 2e6;
// Of the step of a placed plan. More than can be simulated, or drawn, are an InputError that names `file`.
double count_passes(const Plan& plan, const PassOptions& options, const std::string& file);

struct SimulatedStage {
  Bytes peak;
  Seconds work;       // passes of one worker
  Seconds receiving;  // its compute stream held by receives
};

// Where a part of the difference from the price comes from.
struct Difference {
  enum class Part {
    order,        // gaps in the order of tasks that the closed formula does not see
    sends,        // that take longer or shorter than priced
    end,          // how much of the last collectives hides behind passes
    collectives,  // that take longer or shorter than priced
  };
  Part part = Part::order;
  Seconds time;
};

struct LevelUse {
  std::string name;
  Bytes bytes;
};

struct SimulationResult {
  Seconds step;
  Seconds priced;
  Seconds pipeline;            // from the first pass to the end of the last
  double bubble_fraction = 0;  // of the step: idle time of the stage that works longest while passes run
  std::vector<SimulatedStage> stages;
  std::vector<LevelUse> levels;    // innermost first
  std::vector<BusyLink> links;     // the fullest first
  std::vector<Difference> causes;  // adding up to step - priced
  std::string cause;               // in words
  std::int64_t tasks = 0;
  std::int64_t workers = 0;  // stages of copies that were simulated
};

// The plan must be placed and its price valid; where it is not an InputError says so.
[[nodiscard]] SimulationResult run_simulation(const Plan& placed_plan, const PricedPlan& priced,
                                              const PlanInputs& inputs, const SimulationOptions& options,
                                              std::span<Listener* const> listeners = {});

// {"step_s", "priced_s", "bubble_fraction", "stages": [{"peak_bytes"}], ...}
[[nodiscard]] Value to_value(const SimulationResult& result);

}  // namespace nest::simulate
