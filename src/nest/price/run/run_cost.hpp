// What a run on a cluster costs: device-hours, money, energy, and what failures leave of its time.
//
//   const RunCosts costs(terms, inputs, training);
//   costs.goodput(1024).share                       -> 0.957
//   costs.of({.devices = 1024, .tokens_per_s = 1e6}, 15e12).money
#pragma once

#include <cstdint>
#include <optional>

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/run/goodput.hpp"
#include "nest/price/run/run_terms.hpp"

namespace nest::price {

inline constexpr double kTrillion = 1e12;
inline constexpr double kSecondsPerHour = 3600;
inline constexpr double kSecondsPerDay = 86'400;

struct Goodput {
  Failures failures;
  Seconds interval = Seconds::most();  // between two checkpoints
  double share = 1;                    // of the time: progress
};

// Devices that are rented, and how fast they train while nothing fails.
struct RunRate {
  std::int64_t devices = 0;
  double tokens_per_s = 0;
  double uptime = 1;  // of the time, besides failures
};

struct RunCost {
  double days = 0;
  double device_hours = 0;
  std::optional<double> energy_kwh;
  std::optional<double> money;  // rent and electricity, as far as their prices are known
};

class RunCosts {
 public:
  // Throws an InputError where prices are given for other accelerators only.
  RunCosts(const RunTerms& terms, const PlanInputs& inputs, const Training& training);

  [[nodiscard]] const std::optional<double>& price() const { return price_; }  // a device-hour
  [[nodiscard]] const std::optional<Watts>& power() const { return power_; }   // of a device
  [[nodiscard]] bool fails() const { return terms_.mtbf.has_value(); }
  [[nodiscard]] bool costs_money() const { return price_ || (terms_.electricity && power_); }
  [[nodiscard]] Bytes checkpoint() const { return checkpoint_; }
  [[nodiscard]] const RunTerms& terms() const { return terms_; }

  // With checkpoints at the best interval.
  [[nodiscard]] Goodput goodput(std::int64_t devices) const;
  [[nodiscard]] RunCost of(const RunRate& rate, double tokens) const;

 private:
  RunTerms terms_;
  std::int64_t node_ = 1;  // devices
  std::optional<double> price_;
  std::optional<Watts> power_;
  Bytes checkpoint_;
};

// Weights and optimizer states of the whole model, as the recipe holds them.
[[nodiscard]] Bytes state_bytes(const PlanInputs& inputs, const Training& training);

// {"device_hours", "cost", "energy_kwh", "per_trillion_tokens": {..}, "goodput": {..}} as far as it is known.
void add_cost(Value& out, const RunCosts& costs, const RunRate& rate, double tokens);
// {"share", "mtbf_s", "checkpoint_bytes", "checkpoint_s", "interval_s", "restart_s"}
[[nodiscard]] Value to_value(const Goodput& goodput, Bytes checkpoint);

}  // namespace nest::price
