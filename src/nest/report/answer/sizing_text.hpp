// What `nest size` says: for people, and as JSON.
//
//   Devices  1,024 x h100-sxm
//   Plan     tensor 8, pipeline 4, data 32, ...
//   Time     29.6 days (80 %: 27.1 to 31.8); step 9.12 s (80 %: 8.36 s to 9.8 s); MFU 43.1 %
//   Memory   70.2 GiB used and 2 GiB reserved of 79.6 GiB (90.7 %; 80 %: 69.5 GiB to 75.4 GiB; fits with 97 % or more)
//   Goodput  95.6 %: a failure every 2.03 days, a checkpoint of 988 GB (7.72 s) every 30.4 min, ...
//   Cost     728,000 device-hours; 1.82 M at 2.5 an hour; 1.82 M for a trillion tokens
//   Nearly   1,008 devices reach 98.4 % of the target
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/solve/ask/portfolio.hpp"
#include "nest/solve/ask/sizing.hpp"

namespace nest::report {

[[nodiscard]] std::string sizing_text(const Sizing& sizing, const SizingTask& task, const RunCosts& costs,
                                      const PlanInputs& inputs);
[[nodiscard]] Value sizing_value(const Sizing& sizing, const SizingTask& task, const RunCosts& costs);

[[nodiscard]] std::string portfolio_text(const Portfolio& portfolio);
[[nodiscard]] Value portfolio_value(const Portfolio& portfolio);

// "728,000 device-hours; 1.82 M at 2.5 an hour; 1.82 M for a trillion tokens; 510 MWh at 700 W a device"
[[nodiscard]] std::string run_cost_sentence(const RunCosts& costs, const RunRate& rate, double tokens);
// Of one plan: the devices that it rents, and what a trillion tokens cost.
[[nodiscard]] std::string plan_cost_sentence(const Plan& plan, const PlanInputs& inputs,
                                             const RunCosts& costs);
// {"rented_devices", "tokens": 1e12, "days", ..} with add_cost's keys
[[nodiscard]] Value plan_cost_value(const Plan& plan, const PlanInputs& inputs, const RunCosts& costs);
[[nodiscard]] std::string goodput_sentence(const Goodput& goodput, Bytes checkpoint);
// Every digit below a million: "728,000", "1.82 M".
[[nodiscard]] std::string format_money(double amount);

}  // namespace nest::report
