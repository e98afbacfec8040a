// Why the plan that is taken does not make a choice, or is not a plan that somebody brings along.
//
//   Why not tensor=4?
//   tensor 4 costs 530 ms (6.2 %): the best plan with it takes 9.12 s a step. It loses most time in bubble: +410 ms.
#pragma once

#include <string>

#include "nest/base/document/value.hpp"
#include "nest/report/answer/beside.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/solve/ask/relaxations.hpp"
#include "nest/solve/ask/why_not.hpp"

namespace nest::report {

// Sentences, with their full stops.
[[nodiscard]] std::string why_not_sentence(const WhyNot& answer, const Beside& beside);
// With the choices and the parts of the step that differ.
[[nodiscard]] std::string why_not_text(const WhyNot& answer, const Beside& beside,
                                       const ScreenOptions& options = {});
[[nodiscard]] Value to_value(const WhyNot& answer, const Beside& beside);
// With what would make the other plan the best, where that was tried.
[[nodiscard]] Value why_not_value(const WhyNot& answer, const Relaxations& relaxations, const Beside& beside);

}  // namespace nest::report
