// Says why the best plan does not make a certain choice: either the best plan with that choice and its
// cost, or the constraint that forbids it.
//
//   why_not(question, "tensor=4", best)   -> 9.12 s, 6.2 % longer
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nest/question/space_options.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::solve {

// Reads "tensor=4", or several with blanks between ("tensor=4 zero=3"), into a space; says what is wrong.
[[nodiscard]] std::optional<SpaceProblem> pin_choices(std::string_view text, SearchSpace& space);

struct WhyNot {
  std::string choice;
  SearchResult found;           // under that choice
  bool chosen = false;          // the best plan has it already
  std::optional<Seconds> cost;  // of the step, beyond the best plan's
};

// `choice` as pin_choices takes it: what it names replaces what was asked. A choice that make_question
// refuses is infeasible, with the reason.
[[nodiscard]] WhyNot why_not(const PlanQuestion& question, const std::string& choice, const Plan& best,
                             const SearchFunction& searching = ask);

}  // namespace nest::solve
