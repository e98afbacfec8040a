// What one more unit of each resource would buy, as a table and as JSON.
//
//   What more would buy (a search each)
//   change                                best step
//   25 % more bandwidth at level 'spine'     6.91 s  nothing
//   8 GiB more memory                        6.63 s   -4.1 %
#pragma once

#include <string>

#include "nest/base/document/value.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/solve/ask/shadow_prices.hpp"

namespace nest::report {

// `explained` is the plan, with results, that is compared with the best one.
[[nodiscard]] std::string shadow_text(const ShadowPrices& prices, const Plan& explained,
                                      const ScreenOptions& options = {});

// What has no row, and why: devices where a mesh, a torus or a ring would have to grow; else empty.
[[nodiscard]] std::string left_out_sentence(const ShadowPrices& prices);

// [{"change", "kind", "level", "added_bytes_per_s" | "added_bytes" | "added_devices", "status", "step_s",
// "share"}]; without a step where no plan is known.
[[nodiscard]] Value to_value(const ShadowPrices& prices);
// "shadow_prices", "shadow_prices_stopped", and where something was left out "shadow_prices_left_out".
void put_shadow_prices(Value& out, const ShadowPrices& prices);

}  // namespace nest::report
