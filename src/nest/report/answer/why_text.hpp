// Why the best plan is as it is, in a sentence for each alternative, and what would make another one the best.
//
//   Why this plan?
//   - tensor 2 takes 1.3 % longer: it loses 45 ms to tensor-parallel collectives
//   - ZeRO 0 does not fit: it needs 94.5 GiB or more, most of it optimizer (42 GiB), and a device has 79.6 GiB
#pragma once

#include <string>

#include "nest/base/document/value.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/solve/ask/relaxations.hpp"
#include "nest/solve/ask/why.hpp"

namespace nest::report {

// Without a full stop. `memory` is what a device has.
[[nodiscard]] std::string why_sentence(const Alternative& alternative, const Plan& best, Bytes memory);
[[nodiscard]] std::string why_text(const Why& why, const Plan& best, Bytes memory,
                                   const ScreenOptions& options = {});
// [{"choice", "degree", "value", "status", "sentence", "step_s", "cost_s", "share", "loses_most_by",
// "least_memory_bytes", "reason"}]
[[nodiscard]] Value to_value(const Why& why, const Plan& best, Bytes memory);

[[nodiscard]] std::string relaxations_text(const Relaxations& list, const ScreenOptions& options = {});
// [{"kind", "change", "level", "factor", "step_s", "proved"}]
[[nodiscard]] Value to_value(const Relaxations& list);
// "why_not" of an answer: the choice or plan that was asked for, and what would make it the best.
[[nodiscard]] Value why_not_value(const WhyNot& answer, const Relaxations& relaxations, const Plan& best,
                                  const PlanInputs& inputs);

}  // namespace nest::report
